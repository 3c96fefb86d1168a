//===- HashTable.cpp - Shards of keys, rows by number
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of a table's shards has an index of its keys (BucketIndex.h).
// Rows have numbers in the table (RowPool.h), and never move.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/EmbeddingTable.h"

#include "Table/BucketIndex.h"
#include "Table/RowPool.h"
#include "Table/SortRows.h"
#include "pdlabi/hash.h"
#include "pdlrt/Core/AddressBlocks.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <mutex>

using namespace pdlrt;

namespace {

/// Shards that are locked together: to lock each by itself costs as much as a
/// search.
constexpr int shardsOfLock = 16;

struct Shard {
  BucketIndex index;
  /// The rows [nextRow, slabEnd) are free.
  uint64_t nextRow = 0, slabEnd = 0;
  /// Written under the mutex, read without it by `shardSize`.
  std::atomic<int64_t> rowCount{0};
  /// Rows that a batch which is looked at in advance may add.
  mutable size_t expected = 0;
};

class HashTable final : public EmbeddingTable {
public:
  HashTable(TableOptions options, int64_t mostKeys)
      : EmbeddingTable(std::move(options)), keysAtOnce(mostKeys),
        pool(std::max<size_t>(1, rowBytes())),
        shards(std::make_unique<Shard[]>(shardCount)) {}

  Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                      TableScratch &scratch, int64_t &inserted) override;
  Status insertShard(int shard, int64_t count, const int64_t *keys, void **rows,
                     NewRow content) override;
  int64_t find(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch) const override;
  int64_t shardSize(int shard) const override {
    return shards[shard].rowCount.load(std::memory_order_relaxed);
  }
  void collectShard(int shard, std::vector<TableRow> &rows) const override;
  size_t memoryBytes() const override;

private:
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
  /// into the cache; a while before that prepare(shard).
  template <typename Prepare, typename Visit>
  void forEachKey(int64_t count, const Batch &batch, Prepare prepare,
                  Visit visit) const;

  /// At most `keysAtOnce` keys.
  Status insertSlice(int64_t count, const int64_t *keys, void **rows,
                     TableScratch &scratch, int64_t &inserted);
  int64_t findSlice(int64_t count, const int64_t *keys, void **rows,
                    TableScratch &scratch) const;
  Status insertRow(int number, Shard &shard, int64_t key, uint64_t mixed,
                   NewRow content, void *&row);

  /// A longer call is cut, so that its scratch memory stays small and 32 bits
  /// hold a place.
  const int64_t keysAtOnce;
  RowPool pool;
  BucketPool buckets;
  std::unique_ptr<Shard[]> shards;
  mutable std::mutex locks[shardCount / shardsOfLock];
};

} // namespace

HashTable::Batch HashTable::sortByShard(int64_t count, const int64_t *keys,
                                        TableScratch &scratch) {
  auto *sortedKeys = scratch.keys.reserveFor<int64_t>(count);
  auto *mixed = scratch.mixed.reserveFor<uint64_t>(count);
  auto *order = scratch.order.reserveFor<int32_t>(count);
  int32_t begins[shardCount + 1] = {};
  for (int64_t i = 0; i < count; ++i)
    ++begins[pdlabi::shardOfKey(keys[i]) + 1];
  for (int shard = 0; shard < shardCount; ++shard)
    begins[shard + 1] += begins[shard];
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t key = pdlabi::mixKey(uint64_t(keys[i]));
    const int32_t place = begins[pdlabi::shardOfMixedKey(key)]++;
    sortedKeys[place] = keys[i];
    mixed[place] = key;
    order[place] = int32_t(i);
  }
  return {sortedKeys, mixed, order};
}

template <typename Prepare, typename Visit>
void HashTable::forEachKey(int64_t count, const Batch &batch, Prepare prepare,
                           Visit visit) const {
  // So many keys are looked at in advance. Locks are taken in their order by
  // everybody, so that nobody waits in a circle.
  constexpr int64_t ahead = 24;
  for (int64_t next = 0; next < count + ahead; ++next) {
    if (next < count) {
      const uint64_t mixed = batch.mixed[next];
      const int number = pdlabi::shardOfMixedKey(mixed);
      const int lock = number / shardsOfLock;
      if (next == 0 || lock != lockOf(batch.mixed[next - 1]))
        locks[lock].lock();
      shards[number].index.prefetch(mixed);
      prepare(shards[number]);
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
      locks[lock].unlock();
  }
}

Status HashTable::findOrInsert(int64_t count, const int64_t *keys, void **rows,
                               TableScratch &scratch, int64_t &inserted) {
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    PDLRT_RETURN_IF_ERROR(insertSlice(std::min(keysAtOnce, count - begin),
                                      keys + begin, rows + begin, scratch,
                                      inserted));
  return {};
}

int64_t HashTable::find(int64_t count, const int64_t *keys, void **rows,
                        TableScratch &scratch) const {
  int64_t missing = 0;
  for (int64_t begin = 0; begin < count; begin += keysAtOnce)
    missing += findSlice(std::min(keysAtOnce, count - begin), keys + begin,
                         rows + begin, scratch);
  return missing;
}

/// How full a shard's index may be. Shards differ, so that they do not all grow
/// in the same step, and what a table needs for a key hardly changes while it
/// grows.
static double mostLoadOf(int shard) {
  constexpr double least = 0.74, most = 0.9;
  return least + (most - least) * shard / EmbeddingTable::shardCount;
}

Status HashTable::insertRow(int number, Shard &shard, int64_t key,
                            uint64_t mixed, NewRow content, void *&row) {
  if (shard.nextRow == shard.slabEnd) {
    shard.nextRow = pool.takeSlab();
    shard.slabEnd = shard.nextRow + pool.slabSize();
  }
  if (shard.nextRow >> Bucket::rowBits)
    return Status::outOfMemory(
        "table @" + options().name +
        " has 2^37 rows, which is the limit of one process; use more servers");
  shard.index.insert(key, mixed, shard.nextRow, mostLoadOf(number), buckets);
  row = pool.at(shard.nextRow++);
  if (content == NewRow::Initial)
    initialRow(key, row);
  shard.rowCount.fetch_add(1, std::memory_order_relaxed);
  return {};
}

Status HashTable::insertSlice(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, int64_t &inserted) {
  Status status;
  bool outOfMemory = false;
  // Where the last key was new, those behind it may be: what their rows will be
  // written to is loaded.
  bool isNew = false;
  auto prefetchNewRow = [&](const Shard &shard) {
    const uint64_t row = shard.nextRow + shard.expected;
    if (!isNew || row >= shard.slabEnd)
      return;
    ++shard.expected;
    for (size_t byte = 0; byte < rowBytes(); byte += 64)
      __builtin_prefetch(pool.at(row) + byte, 1);
  };
  forEachKey(count, sortByShard(count, keys, scratch), prefetchNewRow,
             [&](int number, Shard &shard, int64_t key, uint64_t mixed,
                 int32_t place) {
               uint64_t row = 0;
               isNew = !shard.index.find(key, mixed, row);
               shard.expected = 0;
               if (!isNew) {
                 rows[place] = pool.at(row);
                 return;
               }
               if (outOfMemory || !status.ok())
                 return;
               try {
                 status = insertRow(number, shard, key, mixed, NewRow::Initial,
                                    rows[place]);
                 inserted += status.ok();
               } catch (const std::bad_alloc &) {
                 // Locks are given back first.
                 outOfMemory = true;
               }
             });
  if (outOfMemory)
    throw std::bad_alloc();
  return status;
}

Status HashTable::insertShard(int number, int64_t count, const int64_t *keys,
                              void **rows, NewRow content) {
  constexpr int64_t ahead = 16;
  Shard &shard = shards[number];
  const std::lock_guard lock(locks[number / shardsOfLock]);
  shard.index.reserve(uint64_t(count), mostLoadOf(number), buckets);
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count)
      shard.index.prefetch(pdlabi::mixKey(uint64_t(keys[i + ahead])));
    const uint64_t mixed = pdlabi::mixKey(uint64_t(keys[i]));
    uint64_t row = 0;
    if (shard.index.find(keys[i], mixed, row))
      rows[i] = pool.at(row);
    else
      PDLRT_RETURN_IF_ERROR(
          insertRow(number, shard, keys[i], mixed, content, rows[i]));
  }
  return {};
}

int64_t HashTable::findSlice(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch) const {
  int64_t missing = 0;
  forEachKey(
      count, sortByShard(count, keys, scratch), [](const Shard &) {},
      [&](int, const Shard &shard, int64_t key, uint64_t mixed, int32_t place) {
        uint64_t row = 0;
        const bool found = shard.index.find(key, mixed, row);
        rows[place] = found ? pool.at(row) : nullptr;
        missing += !found;
      });
  return missing;
}

void HashTable::collectShard(int number, std::vector<TableRow> &rows) const {
  const Shard &shard = shards[number];
  rows.clear();
  {
    const std::lock_guard lock(locks[number / shardsOfLock]);
    rows.reserve(size_t(shardSize(number)));
    shard.index.forEach([&](int64_t key, uint64_t row) {
      rows.push_back({key, pool.at(row)});
    });
  }
  sortByKey(rows);
}

size_t HashTable::memoryBytes() const {
  size_t sum =
      pool.memoryBytes() + buckets.memoryBytes() + shardCount * sizeof(Shard);
  for (int number = 0; number < shardCount; ++number) {
    const Shard &shard = shards[number];
    const std::lock_guard lock(locks[number / shardsOfLock]);
    sum += shard.index.memoryBytes();
  }
  return sum;
}

std::unique_ptr<EmbeddingTable> pdlrt::createHashTable(TableOptions options,
                                                       int64_t keysAtOnce) {
  // What a place must hold, as signed as it is.
  static_assert(mostKeysAtOnce <= std::numeric_limits<int32_t>::max());
  return std::make_unique<HashTable>(
      std::move(options), std::clamp<int64_t>(keysAtOnce, 1, mostKeysAtOnce));
}
