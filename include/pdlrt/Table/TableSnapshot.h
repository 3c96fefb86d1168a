//===- TableSnapshot.h - Snapshot of a table --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A snapshot allows to save a table while it is trained. Readers read the rows
// that existed when the snapshot was taken, shard by shard, while other threads
// write and insert rows. Before a thread writes a row whose shard has not been
// read yet, it copies the row. The copies of a shard are freed when the shard
// has been read. If copies would exceed the memory limit, the thread that
// writes waits for readers.
//
// With `SavedRows::Changed`, only rows are read that were dirty when the
// snapshot was taken. With Changed and Base, when a shard has been read, the
// headers of its rows are set to clean, except for rows that were written since
// the snapshot. So a thread that writes a row must record it in the header
// after `preserve`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_TABLESNAPSHOT_H
#define PDLRT_TABLE_TABLESNAPSHOT_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// A snapshot of one table (`EmbeddingTable::beginSnapshot`). Readers and
/// threads that change the table may use it concurrently. Each shard must be
/// read by one thread.
class TableSnapshot {
public:
  explicit TableSnapshot(const EmbeddingTable &table);
  ~TableSnapshot();
  TableSnapshot(const TableSnapshot &) = delete;
  TableSnapshot &operator=(const TableSnapshot &) = delete;

  /// Takes a snapshot of the rows that `saved` selects. The table and its rows
  /// must not change during the call. `maxBytes` is the memory limit for
  /// copies, including bookkeeping and the overhead of the heap; one row may
  /// always be copied. Throws std::bad_alloc.
  void begin(size_t maxBytes, SavedRows saved = SavedRows::All);
  /// Makes this snapshot share the memory limit of `other`, a snapshot that has
  /// begun. The larger of the two limits then applies to the sum of their
  /// copies, and a thread that waits for memory waits for readers of both. Call
  /// after `begin`, before any row is copied.
  void shareRoomOf(const TableSnapshot &other);
  /// Ends the snapshot: frees copies, and wakes threads that wait for memory.
  /// All readers must have finished.
  void end();

  //===--------------------------------------------------------------------===//
  // Called by threads that change the table
  //===--------------------------------------------------------------------===//

  /// Copies those of the rows whose shards have not been read yet. Call before
  /// rows are written; if several threads write a row, each of them must call
  /// it before. Waits for readers if the memory limit is reached, so the caller
  /// must not hold a lock.
  void preserve(int64_t count, const int64_t *keys, void *const *rows) noexcept;
  /// Records that a key is new, so that it is not in the snapshot. The table
  /// calls it with the key's shard locked, before other threads can find the
  /// key. Does not wait, so memory use may exceed the limit until the next
  /// `preserve` waits. Throws std::bad_alloc.
  void noteNew(int64_t key);
  /// Copies a row that is about to be erased. The table calls it with the key's
  /// shard locked, before the row's memory can be reused. Does not wait, so
  /// memory use may exceed the limit.
  void noteErased(int64_t key, const void *row);
  /// Copies a row that is not in the table's memory, before it is written.
  /// Called with a lock held. Does not wait, so memory use may exceed the
  /// limit.
  void noteRewritten(int64_t key, const void *row);
  /// Records that a row of the snapshot was read from disk into memory, so that
  /// its new header is set to clean when its shard has been read. Does nothing
  /// if the shard has already been read. The table calls it with the key's
  /// shard locked, before other threads can find the row. Does not wait. If
  /// memory is exhausted, the row counts as changed.
  void noteBroughtIn(int64_t key, void *row) noexcept;
  /// Returns true if the shard has been read (`pass`).
  bool isPassed(int shard) const;
  /// Returns true if rows that were read are marked as saved in their headers.
  bool notesSaved() const { return saved != SavedRows::All; }

  //===--------------------------------------------------------------------===//
  // Called by readers
  //===--------------------------------------------------------------------===//

  /// Returns the number of all rows that a shard had at the time of the
  /// snapshot, without excluded rows (`EmbeddingTable::withhold`).
  int64_t shardSize(int shard) const;
  /// Sets `rows` to the rows that a shard had at the time of the snapshot, with
  /// keys ascending as signed integers. The shard must not have been read yet.
  /// The content of the rows at that time can only be read by `read`.
  void collectShard(int shard, RowList &rows) const;
  /// `read` calls visit(part) for consecutive parts of `rows`, until all rows
  /// have been visited. It sets `TableRow::row` to the content that the row had
  /// at the time of the snapshot. This address is valid only during
  /// visit(part). `rows` comes from `collectShard` and may have the rows of
  /// several shards.
  using Visit = std::function<void(std::span<const TableRow>)>;
  void read(std::span<TableRow> rows, const Visit &visit) const;
  /// Records that a shard has been read, and frees its copies. `rows` has the
  /// rows of `collectShard` that are now saved. If `notesSaved`, marks them as
  /// saved in their headers.
  void pass(int shard, std::span<const TableRow> rows) {
    pass(shard, rows, /*isSaved=*/true);
  }

  /// Return the memory of the copies of all snapshots that share the memory
  /// limit, in bytes: at this time, and the maximum so far.
  size_t copiedBytes() const;
  size_t maxCopiedBytes() const;

private:
  struct Shard;
  class Room;
  void pass(int shard, std::span<const TableRow> rows, bool isSaved);
  bool growKnown(Shard &shard, bool isLimited);
  bool growImages(Shard &shard, bool isLimited);
  bool preserveRow(Shard &shard, int64_t key, const void *row, bool isLimited);

  bool isUnchanged(const void *row) const;

  const EmbeddingTable &table;
  const size_t rowBytes;
  SavedRows saved = SavedRows::All;
  std::unique_ptr<Shard[]> shards;
  /// Memory of copies, which several snapshots can share. It is replaced only
  /// in `begin`, while no thread uses it.
  std::shared_ptr<Room> room;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLESNAPSHOT_H
