//===- HashTable.h - Shards of keys and their rows --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each shard of a table has an index of its keys (BucketIndex.h). Shards with
// the same lock have one pool of rows (RowPool.h). Rows never move.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_HASHTABLE_H
#define LIB_RUNTIME_TABLE_HASHTABLE_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include "Table/BucketIndex.h"
#include "Table/RowPool.h"
#include "pdlabi/hash.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

/// Number of shards that share a lock. With a lock for each shard, locking
/// would take as long as the search for a key.
inline constexpr int shardsOfLock = 16;

struct Shard {
  BucketIndex index;
  /// Number of rows. Written with the mutex locked, read by `shardSize` without
  /// it.
  std::atomic<int64_t> rowCount{0};
};

/// Data that shards with the same lock share.
struct Group {
  mutable Mutex mutex;
  /// Changed with the mutex locked; `RowPool::at` needs no lock.
  RowPool rows;
  /// Recorded erased keys, possibly with duplicates.
  std::vector<int64_t> erasedKeys PDLRT_GUARDED_BY(mutex);
  /// Number of times that rows have left memory. A thread that reads a spilled
  /// row without the lock compares this number before and after, to see whether
  /// its data is still valid. Written while the mutex is locked.
  std::atomic<uint64_t> departures{0};
};

/// The table in memory.
class HashTable : public EmbeddingTable {
public:
  HashTable(TableOptions options, int64_t maxKeys)
      : EmbeddingTable(std::move(options)), keysAtOnce(maxKeys),
        memory(layout()), shards(std::make_unique<Shard[]>(shardCount)),
        waiting(this->options().life.notesWaiting()
                    ? std::make_unique<BucketIndex[]>(shardCount)
                    : nullptr) {}

  Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                      TableScratch &scratch, int64_t &inserted) override;
  Status insertShard(int shard, int64_t count, const int64_t *keys, void **rows,
                     NewRow content) override;
  int64_t find(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch) const override;
  Status pull(int64_t count, const int64_t *keys, RowHandle *handles,
              TableScratch &scratch, int64_t &inserted) override;
  void rowsOf(int64_t count, const RowHandle *handles,
              void **rows) const override;
  Status admit(int64_t count, const int64_t *keys, const int64_t *occurrences,
               void **rows, TableScratch &scratch, int64_t &inserted) override;
  int64_t beginPeriod(int64_t period) override;
  void resumePeriod(int64_t period) override {
    currentPeriod.store(period, std::memory_order_relaxed);
  }
  int64_t period() const override {
    return currentPeriod.load(std::memory_order_relaxed);
  }
  int64_t evict(int64_t count, Eviction order) override;
  int64_t waitingCount() const override {
    return waits.load(std::memory_order_relaxed);
  }
  void collectWaiting(int shard, bool onlyChanged, bool areSaved,
                      std::vector<WaitingKey> &keys) override;
  void restoreWaiting(int shard, std::span<const WaitingKey> keys) override;
  int64_t erase(int64_t count, const int64_t *keys,
                TableScratch &scratch) override;
  void quiesce(uint16_t time) override;
  uint16_t time() const override { return now.load(std::memory_order_relaxed); }
  int64_t shardSize(int shard) const override {
    return shards[shard].rowCount.load(std::memory_order_relaxed);
  }
  void collectShard(int shard, RowList &rows) const override;
  void collectChanged(int shard, RowList &rows) const override;
  void trackErased(bool isTracked) override;
  std::vector<int64_t> takeErased() override;
  size_t memoryBytes() const override;

protected:
  /// Maximum number of keys that are processed at a time. Longer calls are
  /// split, so that scratch memory stays small and indices fit into 32 bits.
  const int64_t keysAtOnce;

  /// Called at the start of a period. Appends the rows of a shard that are in
  /// memory to `rows`. Processes spilled rows itself, and returns how many of
  /// them were evicted.
  virtual int64_t listAtPeriod(int number, int64_t period,
                               std::vector<TableRow> &rows);
  /// Decays the score of a row at the start of a period, if the table has
  /// scores. Returns true if the row must be evicted.
  bool passesOut(void *row, int64_t period) const;

  /// Lists rows in the order of the index.
  void listShard(int number, std::vector<TableRow> &rows) const;
  /// Lists rows of a locked shard in the order of the index.
  void listLockedShard(int number, std::vector<TableRow> &rows) const
      PDLRT_REQUIRES(mutexOf(number));
  /// Prefetches the headers, because many are read.
  void keepChanged(std::vector<TableRow> &rows) const;

  /// Allows the memory of rows that were erased in shards [first, end) to be
  /// reused. No pointers to these rows may exist.
  void reuseErased(int first, int end);

  /// Returns the lock of a shard.
  Mutex &mutexOf(int number) const
      PDLRT_RETURN_CAPABILITY(groups[number / shardsOfLock].mutex) {
    return groups[number / shardsOfLock].mutex;
  }
  uint64_t departuresOf(int number) const {
    return groups[number / shardsOfLock].departures.load(
        std::memory_order_acquire);
  }
  /// Records that rows have left memory.
  void noteDeparture(int number) PDLRT_REQUIRES(mutexOf(number)) {
    groups[number / shardsOfLock].departures.fetch_add(
        1, std::memory_order_release);
  }
  void trackErasedKey(int number, int64_t key) PDLRT_REQUIRES(mutexOf(number));
  static int lockOf(uint64_t mixed) {
    return pdlabi::shardOfMixedKey(mixed) / shardsOfLock;
  }

  /// Keys of a batch in the order of their shards. `order` has 32-bit indices,
  /// which need half the memory bandwidth of 64-bit ones.
  struct Batch {
    const int64_t *keys;
    const uint64_t *mixed;
    const int32_t *order;
  };
  static Batch sortByShard(int64_t count, const int64_t *keys,
                           TableScratch &scratch);
  /// Calls visit(shard number, shard, key, mixed key, index in the batch) for
  /// each key of a batch, with the lock of the shard locked. Some time before,
  /// prefetches the bucket of the key, and calls prefetch(shard number, mixed
  /// key). Not analyzed, because the locks that it holds depend on the keys.
  template <typename Visit, typename Ahead>
  void forEachKey(int64_t count, const Batch &batch, Visit visit,
                  Ahead prefetch) const PDLRT_NO_THREAD_SAFETY_ANALYSIS {
    // Number of keys between the one that is prefetched and the one that is
    // visited. All threads lock in ascending order of shards, so they cannot
    // deadlock.
    constexpr int64_t ahead = 24;
    for (int64_t next = 0; next < count + ahead; ++next) {
      if (next < count) {
        const uint64_t mixed = batch.mixed[next];
        const int number = pdlabi::shardOfMixedKey(mixed);
        const int lock = number / shardsOfLock;
        if (next == 0 || lock != lockOf(batch.mixed[next - 1]))
          groups[lock].mutex.lock();
        shards[number].index.prefetch(mixed);
        prefetch(number, mixed);
      }
      const int64_t current = next - ahead;
      if (current < 0)
        continue;
      const uint64_t mixed = batch.mixed[current];
      const int number = pdlabi::shardOfMixedKey(mixed);
      visit(number, shards[number], batch.keys[current], mixed,
            batch.order[current]);
      const int lock = number / shardsOfLock;
      if (current + 1 == count || lock != lockOf(batch.mixed[current + 1]))
        groups[lock].mutex.unlock();
    }
  }

  template <typename Visit>
  void forEachKey(int64_t count, const Batch &batch, Visit visit) const {
    forEachKey(count, batch, visit, [](int, uint64_t) {});
  }

  RowPool &rowsOfShard(int number) const {
    return groups[number / shardsOfLock].rows;
  }
  char *rowAt(int number, uint32_t row) const {
    return rowsOfShard(number).at(memory, row);
  }
  /// Like `admit`, but skips a key that has no row in memory if
  /// isElsewhere(shard number, mixed key, index of the key) returns true.
  /// `isElsewhere` is called with the shard's lock locked, and may throw
  /// std::bad_alloc. `prefetch` is called as in `forEachKey`.
  using Elsewhere = std::function<bool(int, uint64_t, int64_t)>;
  using Prefetch = std::function<void(int, uint64_t)>;
  Status admitUnless(int64_t count, const int64_t *keys,
                     const int64_t *occurrences, void **rows,
                     TableScratch &scratch, int64_t &inserted,
                     const Elsewhere &isElsewhere, const Prefetch &prefetch);

  /// Inserts the row of a key that has none in memory. `bytes`: the row.
  /// `noted` and `wasSaved`: content of its header. On std::bad_alloc, nothing
  /// has changed.
  void *takeIn(int number, uint64_t mixed, const void *bytes, uint32_t noted,
               bool wasSaved) PDLRT_REQUIRES(mutexOf(number));
  /// Returns the row of a key in memory, or null.
  void *findLocked(int number, uint64_t mixed) const
      PDLRT_REQUIRES(mutexOf(number));
  /// Removes rows from memory that were spilled to disk. `reserveReleased` must
  /// have been called for as many rows.
  void release(int number, std::span<const TableRow> rows)
      PDLRT_REQUIRES(mutexOf(number));
  void reserveReleased(int number, size_t count)
      PDLRT_REQUIRES(mutexOf(number)) {
    rowsOfShard(number).reserveErased(count);
  }
  /// Releases the memory of shards in [first, end) that have no row in memory
  /// any more, so that other shards can use it. On std::bad_alloc, only some of
  /// it was released.
  void giveBack(int first, int end);

private:
  /// Finds or inserts the rows of keys. Calls found(index of the key, shard
  /// number, row number) for each key, with the shard's lock locked.
  template <typename Found>
  Status insertAll(int64_t count, const int64_t *keys, TableScratch &scratch,
                   int64_t &inserted, Found found);
  /// Like `insertAll`, for at most `keysAtOnce` keys. A key without a row gets
  /// one only if admits(shard number, shard, key, mixed key, index of the key)
  /// returns true.
  template <typename Admits, typename Found, typename Ahead>
  Status insertSlice(int64_t count, const int64_t *keys, TableScratch &scratch,
                     int64_t &inserted, Admits admits, Found found,
                     Ahead prefetch);
  template <typename Admits, typename Ahead>
  Status admitAll(int64_t count, const int64_t *keys, void **rows,
                  TableScratch &scratch, int64_t &inserted, Admits admits,
                  Ahead prefetch);
  /// Records that a key without a row has occurred. Returns true if it is
  /// admitted now, so that it gets a row. On std::bad_alloc, nothing has
  /// changed.
  bool isAdmitted(int number, int64_t key, uint64_t mixed, int64_t occurrences)
      PDLRT_REQUIRES(mutexOf(number));
  /// Appends to `keys` the keys of the rows in `rows` to be evicted at the
  /// start of period `period`.
  void listUnseen(const std::vector<TableRow> &rows, int64_t period,
                  std::vector<int64_t> &keys);
  void dropUnseenWaiting(int number, int64_t period,
                         std::vector<uint64_t> &keys);
  int64_t eraseSlice(int64_t count, const int64_t *keys, TableScratch &scratch);
  int64_t findSlice(int64_t count, const int64_t *keys, void **rows,
                    TableScratch &scratch) const;
  /// Inserts a row. Its key no longer awaits admission.
  Status insertRow(int number, Shard &shard, int64_t key, uint64_t mixed,
                   NewRow content, uint32_t &row)
      PDLRT_REQUIRES(mutexOf(number));
  /// Reserves the next row number of the shard, and memory for its key.
  Status makeRow(int number, Shard &shard, uint64_t mixed, uint32_t &row)
      PDLRT_REQUIRES(mutexOf(number));

  RowMemory memory;
  BucketPool buckets;
  std::unique_ptr<Shard[]> shards;
  /// Indexed by shard: the keys that await admission. In place of row numbers,
  /// the index has `WaitingBits`. Null if the table keeps no records of such
  /// keys.
  std::unique_ptr<BucketIndex[]> waiting;
  mutable Group groups[shardCount / shardsOfLock];
  std::atomic<uint16_t> now{0};
  std::atomic<int64_t> currentPeriod{0};
  /// Number of keys that await admission.
  std::atomic<int64_t> waits{0};
  /// True if erased rows wait for quiescent points.
  std::atomic<bool> hasErased{false};
  std::atomic<bool> tracksErased{false};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_HASHTABLE_H
