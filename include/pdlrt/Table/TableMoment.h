//===- TableMoment.h - A table's rows as they were at a moment --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So that a table is saved while it is trained: readers go through the rows
// that there were at a moment, shard by shard, while others write rows and
// insert some. Who is about to write a row of a shard that has not been read
// yet first puts its bytes aside. What is aside goes as shards are passed;
// where it would be too much, who writes waits for readers.
//
// Where only rows are read that have changed (`SavedRows::Changed`), headers
// say which those are until the row's shard is passed: then, and where all rows
// are read as a base, headers of rows that nobody has written since the moment
// become clean. Who writes a row notes it in the header behind `preserve`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_TABLEMOMENT_H
#define PDLRT_TABLE_TABLEMOMENT_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// A moment of one table (`EmbeddingTable::beginMoment`). Readers, each of
/// shards of its own, and those who change the table may run beside each other.
class TableMoment {
public:
  explicit TableMoment(const EmbeddingTable &table);
  ~TableMoment();
  TableMoment(const TableMoment &) = delete;
  TableMoment &operator=(const TableMoment &) = delete;

  /// The moment is now, and is about the rows that `saved` says: nobody changes
  /// the table or its rows meanwhile. At most `mostBytes` are held for what is
  /// put aside, with all that is known of keys and what the heap takes, and at
  /// least a row. Throws std::bad_alloc.
  void begin(size_t mostBytes, SavedRows saved = SavedRows::All);
  /// Behind `begin`, before anything is put aside: the bound of `other`, which
  /// has begun, is that of both together, and who waits does so for readers of
  /// both. The larger of the two bounds.
  void shareRoomOf(const TableMoment &other);
  /// Nobody reads any more: what is aside goes, and nobody waits.
  void end();

  //===--------------------------------------------------------------------===//
  // For those who change the table
  //===--------------------------------------------------------------------===//

  /// Before rows are written: puts aside what has yet to be read. Waits for
  /// readers where there is no room, or new keys have taken more than there
  /// was, so the caller holds no lock. Where a row is written by several
  /// threads, each has called this before.
  void preserve(int64_t count, const int64_t *keys, void *const *rows) noexcept;
  /// A key is new, and not of this moment. By the table, with the key's shard
  /// locked, before others find the key. Waits for nobody: what is held may be
  /// more than the most until rows are written. Throws std::bad_alloc.
  void noteNew(int64_t key);
  /// A key and its row are about to go. Likewise, and before somebody else may
  /// get the row; what is held may be more than the most.
  void noteErased(int64_t key, const void *row);
  /// As `preserve`, for one row that is not in memory, under a lock: waits for
  /// nobody, and what is held may be more than the most.
  void noteRewritten(int64_t key, const void *row);
  /// A row of this moment that was elsewhere is in memory from now on, so who
  /// passes its shard says there that it is saved. By the table, with the key's
  /// shard locked, before others find the row; behind it, the row counts as
  /// saved where the shard's others do. Waits for nobody. Without memory it
  /// counts as changed.
  void noteBroughtIn(int64_t key, void *row) noexcept;
  /// Whether nobody reads the shard any more.
  bool isPassed(int shard) const;
  /// Whether what is read counts as saved.
  bool notesSaved() const { return saved != SavedRows::All; }

  //===--------------------------------------------------------------------===//
  // For readers
  //===--------------------------------------------------------------------===//

  /// The number of all rows in a shard at the moment, without those that are
  /// withheld (`EmbeddingTable::withhold`).
  int64_t shardSize(int shard) const;
  /// Replaces `rows` by those that a shard, not passed yet, had at the moment:
  /// keys ascending as signed integers. What a row held then is known within
  /// `read` alone.
  void collectShard(int shard, RowList &rows) const;
  /// Calls visit(rows) for ranges of `rows` that together are all of them: from
  /// there up to its return, what `row` points to holds what the row held at
  /// the moment. `rows`: of `collectShard`, or several one behind the other.
  using Visit = std::function<void(std::span<const TableRow>)>;
  void read(std::span<TableRow> rows, const Visit &visit) const;
  /// A shard has been read: what is aside of it goes. `rows`: those that are
  /// saved now, of `collectShard`; headers learn it where `saved` says so.
  void pass(int shard, std::span<const TableRow> rows) {
    pass(shard, rows, /*isSaved=*/true);
  }

  /// Bytes that are held for what is aside now, and at most so far; of all that
  /// share the room.
  size_t bytesAside() const;
  size_t mostBytesAside() const;

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
  /// Replaced only where nobody uses it (`begin`).
  std::shared_ptr<Room> room;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_TABLEMOMENT_H
