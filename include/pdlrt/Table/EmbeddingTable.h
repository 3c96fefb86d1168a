//===- EmbeddingTable.h - Tables: 64-bit keys to rows -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table is a total function from keys to rows: the row of a key that was
// never inserted is computed from (seed, symbol, key), so inserting it changes
// no readable value. All 2^64 keys are legal.
//
// Keys are divided into 1024 logical shards by the top bits of the mixed key
// (pdlabi/hash.h). Shards are the unit of locking, of applying updates, of
// norms, and of placement on servers.
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

/// A key with its row: the value, followed by its slots without a gap. Rows are
/// only aligned to their elements.
struct TableRow {
  int64_t key;
  void *row;
};

/// A list of rows. Some of them may be copies (RowImages.h), which live as long
/// as the list.
struct RowList : std::vector<TableRow> {
  RowImages images;

  /// Moves the rows of another list, with their copies, to the end.
  void append(RowList &&other) {
    insert(end(), other.begin(), other.end());
    images.append(std::move(other.images));
    other.clear();
  }
};

/// Scratch memory of batched calls; each calling thread has its own.
struct TableScratch {
  AlignedBuffer keys, mixed, order;
  /// If not null, calls that insert keys append the new rows to this list.
  std::vector<TableRow> *newRows = nullptr;
};

/// Content of a row that is inserted.
enum class NewRow {
  Initial, ///< the initial value and slots
  Open     ///< undefined: the caller writes all of it
};

/// The rows of a table that are saved, and whether their headers record it.
enum class SavedRows {
  All,    ///< all rows; headers do not change
  Base,   ///< all rows; headers record changes from now on
  Changed ///< rows changed since they were last saved; headers record it
};

/// The order of eviction: rows that were not updated for the longest time
/// first, then those that were updated in the fewest steps; or the opposite
/// priority. Ties are resolved by shard and key.
enum class Eviction { LeastRecent, LeastFrequent };

/// Interface of all tables. Rows never move. The memory of an erased row stays
/// valid, although no key leads to it, until the second following call of
/// `quiesce`. Pointers to rows and handles may therefore be kept across one
/// such call.
///
/// Thread safety: calls lock the shards that they touch, so all calls may run
/// concurrently. The caller must synchronize access to the content of rows.
class EmbeddingTable : public FrozenRows {
public:
  static constexpr int shardCount = 1024;

  explicit EmbeddingTable(TableOptions options);
  ~EmbeddingTable() override;

  const TableOptions &options() const { return tableOptions; }
  /// Return the sizes in the options, computed once.
  size_t valueBytes() const { return bytesOfValue; }
  size_t rowBytes() const { return bytesOfRow; }
  const RowLayout &layout() const { return rowLayout; }
  /// Return the sizes in the options.
  size_t elementBytes() const { return tableOptions.elementBytes(); }
  size_t frozenOffset() const { return tableOptions.frozenOffset(); }

  /// Sets rows[i] to the row of keys[i]. A new key gets a row with its initial
  /// value. Adds the number of new rows to `inserted`. Keys may repeat. Fails
  /// if the table is full (2^30 row numbers in each of 64 groups of shards, up
  /// to half of which are unused if rows do not fill their regions). Throws
  /// std::bad_alloc.
  virtual Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, int64_t &inserted) = 0;

  /// Inserts keys of one shard, none of which has a row, and sets rows[i] to
  /// the row of keys[i]. Allocates memory for all of them at once. Errors are
  /// those of `findOrInsert`.
  virtual Status insertShard(int shard, int64_t count, const int64_t *keys,
                             void **rows, NewRow content) = 0;

  /// Finds or inserts rows for a later step: sets handles[i] to the handle of
  /// the row of keys[i]. Not allowed if only updates insert rows (`TableLife`).
  virtual Status pull(int64_t count, const int64_t *keys, RowHandle *handles,
                      TableScratch &scratch, int64_t &inserted) = 0;

  /// Sets rows[i] to the address of the row of handles[i].
  virtual void rowsOf(int64_t count, const RowHandle *handles,
                      void **rows) const = 0;

  /// Finds or inserts the rows for an update of distinct keys, which occur
  /// `occurrences[i]` times in its step. Sets rows[i] to the row of keys[i], or
  /// null if the key is not admitted yet (`TableLife`). Adds the number of new
  /// rows to `inserted`. Errors are those of `findOrInsert`; the occurrences of
  /// some keys may then already have been recorded.
  virtual Status admit(int64_t count, const int64_t *keys,
                       const int64_t *occurrences, void **rows,
                       TableScratch &scratch, int64_t &inserted) = 0;

  /// Starts a period later than `period()`. Call between updates. Evicts rows,
  /// and the records of keys that await admission, that were not updated in the
  /// configured number of whole periods. Returns the number of evicted rows. On
  /// std::bad_alloc, some may already have been evicted.
  virtual int64_t beginPeriod(int64_t period) = 0;
  /// Starts a period without evictions, for a table that is being restored.
  virtual void resumePeriod(int64_t period) = 0;
  /// Returns the period of current updates, from 0.
  virtual int64_t period() const = 0;

  /// Evicts up to `count` rows from memory, in the order that their headers
  /// define, and returns their number. Call only between updates. On
  /// std::bad_alloc, some rows may already have been evicted. If the table
  /// spills rows to disk, no result changes, and fewer rows may be evicted
  /// while they are being saved.
  virtual int64_t evict(int64_t count, Eviction order) = 0;
  /// Spills the rows of shards [first, end) from memory to disk, if the table
  /// does that. For a table that is being restored, whose rows are not in use.
  virtual void spillRestored(int, int) {}
  /// Prefetches, for a later step, the rows of existing keys that are not in
  /// memory.
  virtual void bringIn(int64_t, const int64_t *, TableScratch &) {}
  /// Returns the number of rows in memory.
  virtual int64_t heldRows() const { return size(); }
  /// Allows evictions from now on, so that only updates insert rows. Call
  /// before any use.
  void setBounded() { tableOptions.life.isBounded = true; }
  /// Returns the number of bytes of rows and keys in memory, with headers and
  /// an estimate of the index.
  size_t bytesInUse() const;
  /// Returns the share of one row in memory.
  size_t bytesOfHeldRow() const;
  /// Returns the part of that share that remains after the row is evicted.
  virtual size_t bytesOfEvictedRow() const { return 0; }

  /// Returns the number of keys that await admission.
  virtual int64_t waitingCount() const = 0;
  /// Replaces `keys` by the keys of a shard that await admission, ascending as
  /// signed integers: all of them, or with `onlyChanged` those whose records
  /// may differ from what was saved. `areSaved`: marks them as saved.
  virtual void collectWaiting(int shard, bool onlyChanged, bool areSaved,
                              std::vector<WaitingKey> &keys) = 0;
  /// Sets the records of keys of a shard, none of which has a row; zero bits
  /// remove a record. Throws std::bad_alloc.
  virtual void restoreWaiting(int shard, std::span<const WaitingKey> keys) = 0;

  /// Erases existing keys and their rows, and returns their number. On
  /// std::bad_alloc, some may already have been erased.
  virtual int64_t erase(int64_t count, const int64_t *keys,
                        TableScratch &scratch) = 0;

  /// Marks a quiescent point, such as the end of a step: rows and handles found
  /// before the previous point are not used any more. Memory of rows that were
  /// erased before that point may be reused. Headers get `time`, modulo 2^15,
  /// from now on. Allocates no memory.
  virtual void quiesce(uint16_t time) = 0;
  virtual uint16_t time() const = 0;

  /// Sets rows[i] to the row of keys[i], or null if there is none. Returns the
  /// number of nulls. Throws std::bad_alloc.
  virtual int64_t find(int64_t count, const int64_t *keys, void **rows,
                       TableScratch &scratch) const = 0;

  /// Finds rows like `find`, for read-only callers. Rows that are not in memory
  /// are copied to `images`, and not brought into memory.
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

  /// Replaces `rows` by the rows of one shard, keys ascending as signed
  /// integers.
  virtual void collectShard(int shard, RowList &rows) const = 0;

  /// Replaces `rows` by the rows of one shard that may differ from what was
  /// saved (`RowHeader::isDirty`), in the same order.
  virtual void collectChanged(int shard, RowList &rows) const = 0;

  /// Marks rows that are not in memory as saved. Call after
  /// `RowHeader::noteSaved` of all rows from `collectChanged`. No concurrent
  /// evictions.
  virtual void noteShardSaved(int) const {}

  /// Turns the recording of erased keys on or off, and discards earlier
  /// records.
  virtual void trackErased(bool isTracked) = 0;

  /// Returns the recorded keys, and those that no longer await admission, and
  /// discards the records. Sorted by (shard, key), without duplicates. Some of
  /// them may have new rows, or await admission again. No concurrent erasures.
  /// Throws std::bad_alloc.
  virtual std::vector<int64_t> takeErased() = 0;

  /// Returns the number of bytes allocated for keys and rows together.
  virtual size_t memoryBytes() const = 0;

  /// Returns the number of rows.
  int64_t size() const;

  /// Excludes rows from saves until the next call: those of `prepared`,
  /// inserted for steps that are not applied yet, that were not used or changed
  /// since. If a row is null, it is found by its key. Call between steps, while
  /// no save is running. Throws std::bad_alloc.
  void withhold(std::span<const TableRow> prepared);
  /// Returns true if no step has used or changed `row` since it was inserted.
  /// `initial` is scratch memory. Throws std::bad_alloc.
  bool isUnused(const TableRow &row, std::vector<char> &initial) const;
  /// Returns the keys of excluded rows, ascending as signed integers.
  const std::vector<int64_t> &withheld() const { return withheldKeys; }
  /// Returns the number of rows in a shard that are not excluded.
  int64_t savedSize(int shard) const;
  /// Replaces `rows` by the rows of a shard that a save contains, keys
  /// ascending as signed integers. `which`: those that have changed, or all.
  void collectSaved(int shard, SavedRows which, RowList &rows) const;

  /// Starts a snapshot: until `endSnapshot`, other threads may read those rows
  /// that `saved` selects, as they are now (TableSnapshot.h). The table must
  /// not be used during this call, and the previous snapshot must have ended.
  /// At most `maxBytes` of copies are kept for it. Throws std::bad_alloc.
  TableSnapshot &beginSnapshot(size_t maxBytes,
                               SavedRows saved = SavedRows::All);
  /// Ends the snapshot. Its readers must have finished; other threads may use
  /// the table.
  void endSnapshot();
  /// Returns the snapshot to notify before rows are written; null if there is
  /// none.
  TableSnapshot *snapshot() const {
    return openSnapshot.load(std::memory_order_acquire);
  }

  /// Returns the logical shard of a key.
  static int shardOf(int64_t key);

  /// Writes the initial value (`width` elements) of a key, in the storage
  /// format of `valueBytes` bytes.
  void initialValue(int64_t key, void *value) const {
    tableOptions.initialValue(key, value);
  }
  /// Writes the initial value as elements, after rounding to the storage
  /// format.
  void initialElements(int64_t key, void *elements) const {
    tableOptions.initialElements(key, elements);
  }
  /// Writes the part of a row that frozen programs read, as elements.
  void frozenElements(const void *row, void *elements) const;
  /// Writes the initial value and the slots of a key.
  void initialRow(int64_t key, void *row) const;

private:
  TableOptions tableOptions;
  size_t bytesOfValue, bytesOfRow;
  RowLayout rowLayout;
  std::vector<int64_t> withheldKeys;
  /// Created once, so that a thread that found the snapshot open may use it
  /// after its end.
  std::unique_ptr<TableSnapshot> ownSnapshot;
  std::atomic<TableSnapshot *> openSnapshot{nullptr};
};

/// Maximum number of keys that a table groups by shard at once. Larger calls
/// are split, so that any number is legal.
inline constexpr int64_t maxKeysAtOnce = int64_t(1) << 24;

/// Creates a table in the memory of this process: open addressing in buckets of
/// one cache line, rows in regions. `keysAtOnce`, 1 to `maxKeysAtOnce`, never
/// changes a result.
std::unique_ptr<EmbeddingTable>
createHashTable(TableOptions options, int64_t keysAtOnce = maxKeysAtOnce);

/// Creates a table with tiered storage: evicted rows are spilled to `store`, so
/// that evictions change only memory use and time. Only updates insert rows
/// (`setBounded`).
std::unique_ptr<EmbeddingTable>
createSpillingTable(TableOptions options, std::shared_ptr<RowStore> store,
                    int64_t keysAtOnce = maxKeysAtOnce);

} // namespace pdlrt

#endif // PDLRT_TABLE_EMBEDDINGTABLE_H
