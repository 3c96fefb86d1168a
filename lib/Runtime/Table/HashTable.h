//===- HashTable.h - Shards of keys, rows by number -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of a table's shards has an index of its keys (BucketIndex.h). Shards
// that are locked together share the numbers of their rows (RowPool.h), which
// never move.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_HASHTABLE_H
#define LIB_RUNTIME_TABLE_HASHTABLE_H

#include "pdlrt/Table/EmbeddingTable.h"

#include "Table/BucketIndex.h"
#include "Table/RowPool.h"
#include "pdlabi/hash.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

/// Shards that are locked together: to lock each by itself costs as much as a
/// search.
inline constexpr int shardsOfLock = 16;

struct Shard {
  BucketIndex index;
  /// Written under the mutex, read without it by `shardSize`.
  std::atomic<int64_t> rowCount{0};
};

/// What shards that are locked together share.
struct Group {
  mutable std::mutex mutex;
  RowPool rows;
  /// Where they are tracked; some may be there twice.
  std::vector<int64_t> erasedKeys;
  /// Rises when rows leave memory: who reads a row elsewhere knows by it that
  /// what it has read is still so. Written with the mutex held.
  std::atomic<uint64_t> departures{0};
};

/// The table in memory.
class HashTable : public EmbeddingTable {
public:
  HashTable(TableOptions options, int64_t mostKeys)
      : EmbeddingTable(std::move(options)), keysAtOnce(mostKeys),
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
  /// A longer call is cut, so that its scratch memory stays small and 32 bits
  /// hold a place.
  const int64_t keysAtOnce;

  /// Lists the rows of a shard that are in memory as a period begins; of those
  /// that are kept elsewhere does what is due. Returns how many of them went.
  virtual int64_t listAtPeriod(int number, int64_t period,
                               std::vector<TableRow> &rows);
  /// Lets the score of a row decay as a period begins, where there are scores;
  /// whether the row goes then.
  bool passesOut(void *row, int64_t period) const;

  /// In the order of the index.
  void listShard(int number, std::vector<TableRow> &rows) const;
  /// The same with the shard locked.
  void listLockedShard(int number, std::vector<TableRow> &rows) const;
  /// Where many are read, headers are on their way into the cache.
  void keepChanged(std::vector<TableRow> &rows) const;

  /// Rows of shards [first, end) that were erased may be used anew: nobody has
  /// them.
  void reuseErased(int first, int end);

  std::mutex &mutexOf(int number) const {
    return groups[number / shardsOfLock].mutex;
  }
  uint64_t departuresOf(int number) const {
    return groups[number / shardsOfLock].departures.load(
        std::memory_order_acquire);
  }
  /// Of a shard that is locked.
  void noteDeparture(int number) {
    groups[number / shardsOfLock].departures.fetch_add(
        1, std::memory_order_release);
  }
  void trackErasedKey(int number, int64_t key);
  static int lockOf(uint64_t mixed) {
    return pdlabi::shardOfMixedKey(mixed) / shardsOfLock;
  }

  /// A batch's keys in the order of their shards. Places in the batch are 32
  /// bits wide: half the memory traffic of 64.
  struct Batch {
    const int64_t *keys;
    const uint64_t *mixed;
    const int32_t *order;
  };
  static Batch sortByShard(int64_t count, const int64_t *keys,
                           TableScratch &scratch);
  /// Calls visit(shard number, shard, key, mixed key, place in the batch) for
  /// the keys of a batch, with the shard locked and the key's bucket on its way
  /// into the cache, and what prefetch(shard number, mixed key) sends there.
  template <typename Visit, typename Ahead>
  void forEachKey(int64_t count, const Batch &batch, Visit visit,
                  Ahead prefetch) const {
    // So many keys are looked at in advance. Locks are taken in their order by
    // everybody, so that nobody waits in a circle.
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
  /// As `admit`, but for keys without a row of which isElsewhere(shard number,
  /// mixed key, number of the key) says so, with the shard locked: nothing
  /// happens to them. It may throw std::bad_alloc. prefetch(shard number, mixed
  /// key) is called some time before.
  using Elsewhere = std::function<bool(int, uint64_t, int64_t)>;
  using Prefetch = std::function<void(int, uint64_t)>;
  Status admitUnless(int64_t count, const int64_t *keys,
                     const int64_t *occurrences, void **rows,
                     TableScratch &scratch, int64_t &inserted,
                     const Elsewhere &isElsewhere, const Prefetch &prefetch);

  /// Takes in the row of a key that has none in memory, with the header that
  /// fits; with the shard locked. Throws std::bad_alloc, and nothing has
  /// changed.
  void *takeIn(int number, uint64_t mixed, const void *bytes, uint32_t noted,
               bool wasSaved);
  /// The row of a key in memory, or null; with the shard locked.
  void *findLocked(int number, uint64_t mixed) const;
  /// Rows that are kept elsewhere from now on leave memory; with the shard
  /// locked, behind `reserveReleased` of as many.
  void release(int number, std::span<const TableRow> rows);
  void reserveReleased(int number, size_t count) {
    rowsOfShard(number).reserveErased(count);
  }
  /// Of shards [first, end) that have no rows in memory any more, what these
  /// took: others may have it. Throws std::bad_alloc, and some have given it.
  void giveBack(int first, int end);

private:
  /// Calls found(number of the key, shard number, row number) for each key,
  /// with its shard locked.
  template <typename Found>
  Status insertAll(int64_t count, const int64_t *keys, TableScratch &scratch,
                   int64_t &inserted, Found found);
  /// The same for at most `keysAtOnce` keys, of which those without a row get
  /// one that admits(shard number, shard, key, mixed key, number of the key).
  template <typename Admits, typename Found, typename Ahead>
  Status insertSlice(int64_t count, const int64_t *keys, TableScratch &scratch,
                     int64_t &inserted, Admits admits, Found found,
                     Ahead prefetch);
  template <typename Admits, typename Ahead>
  Status admitAll(int64_t count, const int64_t *keys, void **rows,
                  TableScratch &scratch, int64_t &inserted, Admits admits,
                  Ahead prefetch);
  /// Notes that a key without a row occurred; whether it gets one now. Throws
  /// std::bad_alloc, and nothing has changed.
  bool isAdmitted(int number, int64_t key, uint64_t mixed, int64_t occurrences);
  /// The keys of rows that go as a period begins.
  void listUnseen(const std::vector<TableRow> &rows, int64_t period,
                  std::vector<int64_t> &keys);
  void dropUnseenWaiting(int number, int64_t period,
                         std::vector<uint64_t> &keys);
  int64_t eraseSlice(int64_t count, const int64_t *keys, TableScratch &scratch);
  int64_t findSlice(int64_t count, const int64_t *keys, void **rows,
                    TableScratch &scratch) const;
  /// A new row; its key does not wait for one any more.
  Status insertRow(int number, Shard &shard, int64_t key, uint64_t mixed,
                   NewRow content, uint32_t &row);
  /// The number of the next row of the shard, with room for its key.
  Status makeRow(int number, Shard &shard, uint64_t mixed, uint32_t &row);

  RowMemory memory;
  BucketPool buckets;
  std::unique_ptr<Shard[]> shards;
  /// By shard, the keys that wait for a row; `WaitingBits` stand where a row
  /// has its number. Null: the table notes none.
  std::unique_ptr<BucketIndex[]> waiting;
  mutable Group groups[shardCount / shardsOfLock];
  std::atomic<uint16_t> now{0};
  std::atomic<int64_t> currentPeriod{0};
  /// Keys that wait.
  std::atomic<int64_t> waits{0};
  /// Whether rows wait for quiescent points.
  std::atomic<bool> hasErased{false};
  std::atomic<bool> tracksErased{false};
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_HASHTABLE_H
