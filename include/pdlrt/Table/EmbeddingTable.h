//===- EmbeddingTable.h - Tables: 64-bit keys to rows -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table is a total function from keys to rows. The row of a key that was
// never inserted is computed from (seed, symbol, key), so inserting a key
// changes no value that can be read. All 2^64 keys are allowed.
//
// Keys are divided into 1024 logical shards by the highest bits of the mixed
// key (pdlabi/hash.h). A shard has its own lock. Updates, norms and the
// placement on servers work by shards too.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_EMBEDDINGTABLE_H
#define PDLRT_TABLE_EMBEDDINGTABLE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Table/FrozenRows.h"
#include "pdlrt/Table/RowHeader.h"
#include "pdlrt/Table/RowImages.h"
#include "pdlrt/Table/RowLayout.h"
#include "pdlrt/Table/TableOptions.h"
#include "pdlrt/Table/WaitingKey.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

class RowStore;
class TableSnapshot;

/// A key and the address of its row. A row has the value and then the slots,
/// without gaps. Rows are only aligned to the size of their elements.
struct TableRow {
  int64_t key;
  void *row;
};

/// A list of rows. Rows may be copies (RowImages.h), which the list owns.
struct RowList : std::vector<TableRow> {
  RowImages images;

  /// Moves the rows of another list to the end of this one.
  void append(RowList &&other) {
    insert(end(), other.begin(), other.end());
    images.append(std::move(other.images));
    other.clear();
  }
};

/// Scratch memory of calls with many keys. Each calling thread must have its
/// own.
struct TableScratch {
  AlignedBuffer keys, mixed, order;
  /// If not null, calls that insert keys append the inserted rows to this list.
  std::vector<TableRow> *newRows = nullptr;
};

/// Content of a row that is inserted.
enum class NewRow {
  Initial, ///< initial value and slots
  Open     ///< undefined: the caller writes the whole row
};

/// Selects the rows of a table that are saved, and whether their headers record
/// that they are saved.
enum class SavedRows {
  All,    ///< all rows; headers do not change
  Base,   ///< all rows; headers record that they are saved, for a later save of
          ///< changes
  Changed ///< rows that changed since they were saved; headers record that they
          ///< are saved
};

/// Order of eviction. LeastRecent: rows that were not updated for the longest
/// time come first; of these, rows that were updated in the fewest steps.
/// LeastFrequent: compares the number of steps first, then the time. Rows that
/// are equal in both are ordered by shard and key.
enum class Eviction { LeastRecent, LeastFrequent };

/// Interface of all tables. Rows never move. When a row is erased, its key is
/// no longer found, but its memory stays valid until the second following call
/// of `quiesce`. So pointers to rows, and handles, can be kept across one call
/// of `quiesce`.
///
/// Thread safety: calls lock the shards that they use, so all calls may run
/// concurrently, except where noted. The caller must synchronize access to the
/// content of rows.
class EmbeddingTable : public FrozenRows {
public:
  static constexpr int shardCount = 1024;

  explicit EmbeddingTable(TableOptions options);
  ~EmbeddingTable() override;

  const TableOptions &options() const { return tableOptions; }
  /// Return the sizes of `TableOptions` with the same names, which are computed
  /// only once.
  size_t valueBytes() const { return bytesOfValue; }
  size_t rowBytes() const { return bytesOfRow; }
  const RowLayout &layout() const { return rowLayout; }
  /// Return the values of `TableOptions` with the same names.
  size_t elementBytes() const { return tableOptions.elementBytes(); }
  size_t frozenOffset() const { return tableOptions.frozenOffset(); }

  /// Sets rows[i] to the row of keys[i]. A new key gets a row with its initial
  /// value. Adds the number of new rows to `inserted`. Keys may repeat. Returns
  /// an error if the table is full: each of 64 groups of shards has 2^30 row
  /// numbers, of which up to half are unused if rows do not fill their regions.
  /// Throws std::bad_alloc.
  virtual Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, int64_t &inserted) = 0;

  /// Inserts keys of one shard, and sets rows[i] to the row of keys[i]. None of
  /// the keys may have a row. Allocates memory for all rows at once. Errors are
  /// those of `findOrInsert`.
  virtual Status insertShard(int shard, int64_t count, const int64_t *keys,
                             void **rows, NewRow content) = 0;

  /// Finds or inserts rows for a later step. Sets handles[i] to the handle of
  /// the row of keys[i], which `rowsOf` turns into an address. Not allowed if
  /// only updates insert rows (`TableLife::makesRowsInUpdates`).
  virtual Status pull(int64_t count, const int64_t *keys, RowHandle *handles,
                      TableScratch &scratch, int64_t &inserted) = 0;

  /// Sets rows[i] to the address of the row of handles[i].
  virtual void rowsOf(int64_t count, const RowHandle *handles,
                      void **rows) const = 0;

  /// Finds or inserts rows for an update. Key i occurs `occurrences[i]` times
  /// in the step; keys are distinct. Sets rows[i] to the row of keys[i], or to
  /// null if the key is not admitted yet (`TableLife`). Adds the number of new
  /// rows to `inserted`. Errors are those of `findOrInsert`; after an error,
  /// the occurrences of some keys may have been recorded.
  virtual Status admit(int64_t count, const int64_t *keys,
                       const int64_t *occurrences, void **rows,
                       TableScratch &scratch, int64_t &inserted) = 0;

  /// Starts a new period (clause `shrink`), whose number must be larger than
  /// `period()`. Evicts rows that were not updated, and records of waiting keys
  /// that did not occur, in the configured number of complete periods. Returns
  /// the number of evicted rows. Call between updates. On std::bad_alloc, some
  /// rows may already have been evicted.
  virtual int64_t beginPeriod(int64_t period) = 0;
  /// Sets the number of the current period without evictions, for a table that
  /// is being restored.
  virtual void resumePeriod(int64_t period) = 0;
  /// Returns the number of the current period, from 0.
  virtual int64_t period() const = 0;

  /// Evicts up to `count` rows from memory, in the order `order`, which their
  /// headers determine. Returns the number of evicted rows. If the table spills
  /// rows to disk, they are not lost, and fewer rows may be evicted during a
  /// save. Call only between updates. On std::bad_alloc, some rows may already
  /// have been evicted.
  virtual int64_t evict(int64_t count, Eviction order) = 0;
  /// Spills the rows of the shards [first, end) to disk if the table has tiered
  /// storage; otherwise does nothing. For a table that is being restored, whose
  /// rows are not in use.
  virtual void spillRestored(int, int) {}
  /// Reads the rows of existing keys that are not in memory from disk, for a
  /// later step. Does nothing if all rows are in memory.
  virtual void bringIn(int64_t, const int64_t *, TableScratch &) {}
  /// Returns the number of rows in memory.
  virtual int64_t heldRows() const { return size(); }
  /// Allows evictions for a memory limit. Then only updates insert rows. Call
  /// before the table is used.
  void setBounded() { tableOptions.life.isBounded = true; }
  /// Returns the memory in use for rows and keys in bytes, including headers
  /// and an estimate of the index.
  size_t bytesInUse() const;
  /// Returns the memory in use that one row in memory adds, in bytes.
  size_t bytesOfHeldRow() const;
  /// Returns the memory in use that one row adds after it was evicted, in
  /// bytes.
  virtual size_t bytesOfEvictedRow() const { return 0; }

  /// Returns the number of waiting keys: of keys that occurred but are not
  /// admitted yet.
  virtual int64_t waitingCount() const = 0;
  /// Sets `keys` to the waiting keys of a shard, ascending as signed integers.
  /// If `onlyChanged`, these are only the keys whose records may have changed
  /// since they were saved. If `areSaved`, marks them as saved.
  virtual void collectWaiting(int shard, bool onlyChanged, bool areSaved,
                              std::vector<WaitingKey> &keys) = 0;
  /// Sets the records of waiting keys of a shard; none of the keys may have a
  /// row. A record with only zero bits removes the record of its key. Throws
  /// std::bad_alloc.
  virtual void restoreWaiting(int shard, std::span<const WaitingKey> keys) = 0;

  /// Erases the rows of those keys that have one, and returns their number. On
  /// std::bad_alloc, some rows may already have been erased.
  virtual int64_t erase(int64_t count, const int64_t *keys,
                        TableScratch &scratch) = 0;

  /// Marks a quiescent point, such as the end of a step. The caller guarantees
  /// that pointers to rows, and handles, which were found before the previous
  /// point are not used any more. The memory of rows that were erased before
  /// the previous point may then be reused. From now on, `time` modulo 2^15 is
  /// the time in the headers of used rows. Allocates no memory.
  virtual void quiesce(uint16_t time) = 0;
  virtual uint16_t time() const = 0;

  /// Sets rows[i] to the row of keys[i], or null if there is none. Returns the
  /// number of nulls. Throws std::bad_alloc.
  virtual int64_t find(int64_t count, const int64_t *keys, void **rows,
                       TableScratch &scratch) const = 0;

  /// Like `find`, for callers that only read: if a row is not in memory, copies
  /// it to `images` and does not bring it into the table's memory.
  virtual int64_t look(int64_t count, const int64_t *keys, void **rows,
                       TableScratch &scratch, RowImages &) const {
    return find(count, keys, rows, scratch);
  }

  int64_t findFrozen(int64_t count, const int64_t *keys, void **rows,
                     TableScratch &scratch, RowImages &images) const override;
  int32_t frozenStorage() const override {
    return tableOptions.frozenStorage();
  }
  size_t frozenBytes() const override { return tableOptions.frozenBytes(); }
  void initialFrozen(int64_t key, void *value) const override;

  /// Returns the number of rows in a shard, 0 <= shard < shardCount.
  virtual int64_t shardSize(int shard) const = 0;

  /// Sets `rows` to the rows of one shard, with keys ascending as signed
  /// integers.
  virtual void collectShard(int shard, RowList &rows) const = 0;

  /// Like `collectShard`, for rows that may have changed since they were saved
  /// (`RowHeader::isDirty`).
  virtual void collectChanged(int shard, RowList &rows) const = 0;

  /// Marks the rows of a shard that are not in memory as saved. Call after
  /// `RowHeader::noteSaved` of all rows of `collectChanged`. No rows may be
  /// evicted concurrently.
  virtual void noteShardSaved(int) const {}

  /// Turns the recording of erased keys on or off, and discards the recorded
  /// keys.
  virtual void trackErased(bool isTracked) = 0;

  /// Returns the recorded keys: erased keys, and keys that are no longer
  /// waiting. Discards the records. Keys are sorted by (shard, key), without
  /// duplicates. Some of them may have a new row, or may be waiting again. No
  /// keys may be erased concurrently. Throws std::bad_alloc.
  virtual std::vector<int64_t> takeErased() = 0;

  /// Returns the memory allocated for keys and rows together, in bytes.
  virtual size_t memoryBytes() const = 0;

  /// Returns the number of rows.
  int64_t size() const;

  /// Excludes rows from saves until the next call. `prepared` lists rows that
  /// were inserted for steps which are not applied yet; of these, excludes the
  /// rows that no step has used or changed since. If the address of a row is
  /// null, finds it by its key. Call between steps, while no save is running.
  /// Throws std::bad_alloc.
  void withhold(std::span<const TableRow> prepared);
  /// Returns true if no step has used or changed `row` since it was inserted.
  /// `initial` is scratch memory for the comparison with the initial row.
  /// Throws std::bad_alloc.
  bool isUnused(const TableRow &row, std::vector<char> &initial) const;
  /// Returns the keys of the rows that `withhold` has excluded, ascending as
  /// signed integers.
  const std::vector<int64_t> &withheld() const { return withheldKeys; }
  /// Returns the number of rows in a shard that a save contains: those that are
  /// not excluded.
  int64_t savedSize(int shard) const;
  /// Sets `rows` to the rows of a shard that a save contains, with keys
  /// ascending as signed integers. `which` selects all rows or changed ones.
  /// Excluded rows are left out.
  void collectSaved(int shard, SavedRows which, RowList &rows) const;

  /// Starts a snapshot. Until `endSnapshot`, other threads can read the rows
  /// that `saved` selects, as they are now (TableSnapshot.h). Copies of rows
  /// use at most `maxBytes`. The table must not be used during this call, and
  /// the previous snapshot must have ended. Throws std::bad_alloc.
  TableSnapshot &beginSnapshot(size_t maxBytes,
                               SavedRows saved = SavedRows::All);
  /// Ends the snapshot. Its readers must have finished; other threads may use
  /// the table during the call.
  void endSnapshot();
  /// Returns the current snapshot, on which `preserve` must be called before
  /// rows are written; null if there is none.
  TableSnapshot *snapshot() const {
    return openSnapshot.load(std::memory_order_acquire);
  }

  /// Returns the logical shard of a key.
  static int shardOf(int64_t key);

  /// Writes the initial value of a key to `value`, in the storage format of
  /// values (`valueBytes` bytes).
  void initialValue(int64_t key, void *value) const {
    tableOptions.initialValue(key, value);
  }
  /// Writes the initial value of a key as `width` elements, each rounded to a
  /// number that the storage format can represent.
  void initialElements(int64_t key, void *elements) const {
    tableOptions.initialElements(key, elements);
  }
  /// Writes the part of `row` that frozen programs read, as elements.
  void frozenElements(const void *row, void *elements) const;
  /// Writes the initial row of a key: its initial value and slots.
  void initialRow(int64_t key, void *row) const;

private:
  TableOptions tableOptions;
  size_t bytesOfValue, bytesOfRow;
  RowLayout rowLayout;
  std::vector<int64_t> withheldKeys;
  /// Created once and reused, so that a thread which has found an open snapshot
  /// may still use the object after the snapshot has ended.
  std::unique_ptr<TableSnapshot> ownSnapshot;
  std::atomic<TableSnapshot *> openSnapshot{nullptr};
};

/// Maximum number of keys that a table sorts by shard at once. Calls with more
/// keys are split, so a call may have any number of keys.
inline constexpr int64_t maxKeysAtOnce = int64_t(1) << 24;

/// Creates a table in the memory of this process. Its index is a hash table
/// with open addressing, in buckets of one cache line; rows are in regions
/// (RowLayout.h). `keysAtOnce` is from 1 to `maxKeysAtOnce`, and does not
/// change results.
std::unique_ptr<EmbeddingTable>
createHashTable(TableOptions options, int64_t keysAtOnce = maxKeysAtOnce);

/// Creates a table with tiered storage: evicted rows are spilled to `store`. So
/// evictions only change memory use and speed. Evictions are allowed from the
/// start (`setBounded`).
std::unique_ptr<EmbeddingTable>
createSpillingTable(TableOptions options, std::shared_ptr<RowStore> store,
                    int64_t keysAtOnce = maxKeysAtOnce);

} // namespace pdlrt

#endif // PDLRT_TABLE_EMBEDDINGTABLE_H
