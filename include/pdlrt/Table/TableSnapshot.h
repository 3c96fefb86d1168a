//===- TableSnapshot.h - Snapshot of a table --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A snapshot lets a table be saved while it is trained. Readers go through the
// rows that existed when the snapshot was taken, shard by shard, while other
// threads write rows and insert new ones. A thread that is about to write a row
// of a shard that has not been read yet first copies the row's content. Copies
// are freed when their shard has been read. If copies would exceed the limit,
// the writing thread waits for readers.
//
// If only changed rows are read (`SavedRows::Changed`), headers identify them
// until the row's shard has been read. Then, as well as for a base of all rows,
// the headers of rows that were not written since the snapshot become clean. A
// thread that writes a row records it in the header after `preserve`.
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

/// A snapshot of one table (`EmbeddingTable::beginSnapshot`). Readers, each
/// with its own shards, and threads that change the table may run concurrently.
class TableSnapshot {
public:
  explicit TableSnapshot(const EmbeddingTable &table);
  ~TableSnapshot();
  TableSnapshot(const TableSnapshot &) = delete;
  TableSnapshot &operator=(const TableSnapshot &) = delete;

  /// Takes a snapshot of the rows that `saved` selects. The table and its rows
  /// must not change during the call. At most `maxBytes` are used for copies,
  /// including their bookkeeping and heap overhead, but at least enough for one
  /// row. Throws std::bad_alloc.
  void begin(size_t maxBytes, SavedRows saved = SavedRows::All);
  /// Shares the memory limit of `other`, a started snapshot: the larger of the
  /// two limits applies to both together, and a waiting thread waits for
  /// readers of both. Call after `begin`, before any row is copied.
  void shareRoomOf(const TableSnapshot &other);
  /// Ends the snapshot: frees copies, and releases waiting threads. There must
  /// be no more readers.
  void end();

  //===--------------------------------------------------------------------===//
  // Called by threads that change the table
  //===--------------------------------------------------------------------===//

  /// Copies the content of rows that have not been read yet. Call before they
  /// are written. Waits for readers if there is no memory for copies, or if new
  /// keys have exceeded it, so the caller must not hold a lock. If several
  /// threads write a row, each of them must call this first.
  void preserve(int64_t count, const int64_t *keys, void *const *rows) noexcept;
  /// Records a new key, which is not in the snapshot. Called by the table, with
  /// the key's shard locked, before other threads can find the key. Does not
  /// wait: memory use may exceed the limit until rows are written. Throws
  /// std::bad_alloc.
  void noteNew(int64_t key);
  /// Records that a key and its row are about to be erased. Called like
  /// `noteNew`, before the row's memory can be reused. Memory use may exceed
  /// the limit.
  void noteErased(int64_t key, const void *row);
  /// Copies the content of one row that is not in memory, like `preserve`.
  /// Called with a lock held. Does not wait; memory use may exceed the limit.
  void noteRewritten(int64_t key, const void *row);
  /// Records that a row of the snapshot was brought into memory, so that it is
  /// marked as saved there when its shard has been read. Called by the table,
  /// with the key's shard locked, before other threads can find the row. After
  /// the call, the row counts as saved if the other rows of its shard do. Does
  /// not wait. If memory is exhausted, the row counts as changed.
  void noteBroughtIn(int64_t key, void *row) noexcept;
  /// Returns true if the shard has been read.
  bool isPassed(int shard) const;
  /// Returns true if rows that are read count as saved.
  bool notesSaved() const { return saved != SavedRows::All; }

  //===--------------------------------------------------------------------===//
  // Called by readers
  //===--------------------------------------------------------------------===//

  /// Returns the number of all rows in a shard at the time of the snapshot,
  /// without excluded ones (`EmbeddingTable::withhold`).
  int64_t shardSize(int shard) const;
  /// Replaces `rows` by the rows that an unread shard had at the time of the
  /// snapshot, keys ascending as signed integers. Their content at that time is
  /// available only in `read`.
  void collectShard(int shard, RowList &rows) const;
  /// Calls visit(rows) for ranges that together cover `rows`. During the call,
  /// `row` points to the content that the row had at the time of the snapshot.
  /// `rows`: from `collectShard`, possibly of several shards.
  using Visit = std::function<void(std::span<const TableRow>)>;
  void read(std::span<TableRow> rows, const Visit &visit) const;
  /// Records that a shard has been read, and frees its copies. `rows`: rows of
  /// `collectShard` that are now saved; if `saved` requires it, their headers
  /// record this.
  void pass(int shard, std::span<const TableRow> rows) {
    pass(shard, rows, /*isSaved=*/true);
  }

  /// Returns the number of bytes used for copies, now and at most so far, by
  /// all snapshots that share the limit.
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
  /// Replaced only while no thread uses it (`begin`).
  std::shared_ptr<Room> room;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLESNAPSHOT_H
