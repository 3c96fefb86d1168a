//===- HashTable.cpp - Open addressing, rows in slabs ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bucket is one cache line of five keys with the numbers of their rows; its
// count of taken places says where the empty ones begin, so no key is special.
// A key stands in the first bucket with room that its probe sequence meets, and
// nothing is erased, so a bucket that is not full ends a search.
//
// A shard's rows are numbered from 0 and live in slabs of 2^k rows, cut from
// blocks of addresses of the whole table. Slabs never move, and a shard grows
// by one slab at a time.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/EmbeddingTable.h"

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

constexpr int placesInBucket = 5;

struct alignas(64) Bucket {
  int64_t keys[placesInBucket];
  uint32_t rows[placesInBucket];
  uint32_t count;
};
static_assert(sizeof(Bucket) == 64, "a bucket is one cache line");

/// Makes the next push_back safe from running out of memory.
void makeRoom(std::vector<char *> &list) {
  if (list.size() == list.capacity())
    list.reserve(list.size() + list.size() / 2 + 1);
}

/// Hands out slabs of one size. Thread-safe.
class SlabPool {
public:
  explicit SlabPool(size_t slabBytes) : slabBytes(slabBytes) {}

  char *take() {
    const std::lock_guard lock(mutex);
    return blocks.take(slabBytes);
  }
  size_t memoryBytes() const {
    const std::lock_guard lock(mutex);
    return blocks.heldBytes();
  }

private:
  const size_t slabBytes;
  mutable std::mutex mutex;
  AddressBlocks blocks;
};

struct Shard {
  mutable std::mutex mutex;
  std::vector<Bucket> buckets;
  std::vector<char *> slabs;
  /// Written under the mutex, read without it by `shardSize`.
  std::atomic<int64_t> rowCount{0};
};

class HashTable final : public EmbeddingTable {
public:
  HashTable(TableOptions options, int64_t mostKeys)
      : EmbeddingTable(std::move(options)), keysAtOnce(mostKeys),
        // About 2 KiB, so that an almost empty table stays at 2 MiB.
        slabShift(std::bit_width(std::clamp<size_t>(
                      2048 / std::max<size_t>(1, rowBytes()), 1, 32)) -
                  1),
        pool(rowBytes() << slabShift),
        shards(std::make_unique<Shard[]>(shardCount)) {}

  Status findOrInsert(int64_t count, const int64_t *keys, void **rows,
                      TableScratch &scratch, int64_t &inserted) override;
  int64_t find(int64_t count, const int64_t *keys, void **rows,
               TableScratch &scratch) const override;
  int64_t shardSize(int shard) const override {
    return shards[shard].rowCount.load(std::memory_order_relaxed);
  }
  void collectShard(int shard, std::vector<TableRow> &rows) const override;
  size_t memoryBytes() const override;

private:
  /// Keys of a batch grouped by shard, so that each shard is locked once. Their
  /// places are 32 bits wide: half the memory traffic of 64.
  struct Batch {
    const uint64_t *mixed;
    const int32_t *order;
    int32_t splits[shardCount + 1];
  };
  static void groupByShard(int64_t count, const int64_t *keys,
                           TableScratch &scratch, Batch &batch);

  static uint64_t bucketOf(uint64_t mixed, uint64_t bucketCount) {
    // The top bits chose the shard; the next ones choose the bucket.
    return uint64_t(
        (static_cast<unsigned __int128>(mixed << 10) * bucketCount) >> 64);
  }
  /// The place of a key, or the bucket and place where it would be put.
  static bool search(const std::vector<Bucket> &buckets, int64_t key,
                     uint64_t mixed, uint64_t &bucket, uint32_t &place);
  /// Starts loading the buckets in which keys of one shard are searched first,
  /// so that their searches do not wait one after the other.
  static void prefetchBuckets(const std::vector<Bucket> &buckets,
                              const uint64_t *mixed, const int32_t *first,
                              const int32_t *last) {
    for (; first != last; ++first)
      __builtin_prefetch(buckets.data() +
                         bucketOf(mixed[*first], buckets.size()));
  }
  static void grow(Shard &shard);
  /// At most `keysAtOnce` keys.
  Status insertSlice(int64_t count, const int64_t *keys, void **rows,
                     TableScratch &scratch, int64_t &inserted);
  int64_t findSlice(int64_t count, const int64_t *keys, void **rows,
                    TableScratch &scratch) const;

  void *rowAt(const Shard &shard, uint32_t index) const {
    size_t inSlab = index & ((size_t(1) << slabShift) - 1);
    return shard.slabs[index >> slabShift] + inSlab * rowBytes();
  }

  /// A longer call is cut, so that its scratch memory stays small and 32 bits
  /// hold a place.
  const int64_t keysAtOnce;
  const int slabShift;
  SlabPool pool;
  std::unique_ptr<Shard[]> shards;
};

} // namespace

void HashTable::groupByShard(int64_t count, const int64_t *keys,
                             TableScratch &scratch, Batch &batch) {
  auto *mixed = scratch.mixed.reserveFor<uint64_t>(count);
  auto *order = scratch.order.reserveFor<int32_t>(count);
  std::fill(std::begin(batch.splits), std::end(batch.splits), 0);
  for (int64_t i = 0; i < count; ++i) {
    mixed[i] = pdlabi::mixKey(keys[i]);
    ++batch.splits[pdlabi::shardOfMixedKey(mixed[i]) + 1];
  }
  for (int shard = 0; shard < shardCount; ++shard)
    batch.splits[shard + 1] += batch.splits[shard];
  for (int64_t i = 0; i < count; ++i)
    order[batch.splits[pdlabi::shardOfMixedKey(mixed[i])]++] = int32_t(i);
  for (int shard = shardCount; shard > 0; --shard)
    batch.splits[shard] = batch.splits[shard - 1];
  batch.splits[0] = 0;
  batch.mixed = mixed;
  batch.order = order;
}

bool HashTable::search(const std::vector<Bucket> &buckets, int64_t key,
                       uint64_t mixed, uint64_t &bucket, uint32_t &place) {
  const uint64_t bucketCount = buckets.size();
  bucket = bucketOf(mixed, bucketCount);
  while (true) {
    const Bucket &line = buckets[bucket];
    for (place = 0; place < line.count; ++place)
      if (line.keys[place] == key)
        return true;
    if (line.count < placesInBucket)
      return false;
    if (++bucket == bucketCount)
      bucket = 0;
  }
}

void HashTable::grow(Shard &shard) {
  // Steps of a quarter between loads of 0.64 and 0.8: 16 to 20 bytes a key.
  std::vector<Bucket> bigger(shard.buckets.size() + shard.buckets.size() / 4 +
                             1);
  for (const Bucket &old : shard.buckets) {
    for (uint32_t i = 0; i < old.count; ++i) {
      uint64_t bucket;
      uint32_t place;
      search(bigger, old.keys[i], pdlabi::mixKey(old.keys[i]), bucket, place);
      Bucket &line = bigger[bucket];
      line.keys[place] = old.keys[i];
      line.rows[place] = old.rows[i];
      ++line.count;
    }
  }
  shard.buckets = std::move(bigger);
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

Status HashTable::insertSlice(int64_t count, const int64_t *keys, void **rows,
                              TableScratch &scratch, int64_t &inserted) {
  Batch batch;
  groupByShard(count, keys, scratch, batch);
  for (int number = 0; number < shardCount; ++number) {
    const int32_t *first = batch.order + batch.splits[number];
    const int32_t *last = batch.order + batch.splits[number + 1];
    if (first == last)
      continue;
    Shard &shard = shards[number];
    std::lock_guard lock(shard.mutex);
    prefetchBuckets(shard.buckets, batch.mixed, first, last);
    for (; first != last; ++first) {
      const int64_t key = keys[*first];
      const uint64_t mixed = batch.mixed[*first];
      uint64_t bucket = 0;
      uint32_t place = 0;
      if (!shard.buckets.empty() &&
          search(shard.buckets, key, mixed, bucket, place)) {
        rows[*first] = rowAt(shard, shard.buckets[bucket].rows[place]);
        continue;
      }
      const int64_t index = shard.rowCount.load(std::memory_order_relaxed);
      if (index == std::numeric_limits<uint32_t>::max())
        return Status::outOfMemory(
            "table @" + options().name +
            " has a shard of 2^32 - 1 rows, which is the limit of this table");
      if ((index + 1) * 5 >
          int64_t(shard.buckets.size()) * placesInBucket * 4) {
        grow(shard);
        search(shard.buckets, key, mixed, bucket, place);
      }
      if (size_t(index) >> slabShift == shard.slabs.size()) {
        makeRoom(shard.slabs);
        shard.slabs.push_back(pool.take());
      }
      void *row = rowAt(shard, uint32_t(index));
      initialRow(key, row);
      Bucket &line = shard.buckets[bucket];
      line.keys[place] = key;
      line.rows[place] = uint32_t(index);
      ++line.count;
      shard.rowCount.store(index + 1, std::memory_order_relaxed);
      rows[*first] = row;
      ++inserted;
    }
  }
  return {};
}

int64_t HashTable::findSlice(int64_t count, const int64_t *keys, void **rows,
                             TableScratch &scratch) const {
  Batch batch;
  groupByShard(count, keys, scratch, batch);
  int64_t missing = 0;
  for (int number = 0; number < shardCount; ++number) {
    const int32_t *first = batch.order + batch.splits[number];
    const int32_t *last = batch.order + batch.splits[number + 1];
    if (first == last)
      continue;
    const Shard &shard = shards[number];
    std::lock_guard lock(shard.mutex);
    prefetchBuckets(shard.buckets, batch.mixed, first, last);
    for (; first != last; ++first) {
      uint64_t bucket;
      uint32_t place;
      if (!shard.buckets.empty() &&
          search(shard.buckets, keys[*first], batch.mixed[*first], bucket,
                 place)) {
        rows[*first] = rowAt(shard, shard.buckets[bucket].rows[place]);
      } else {
        rows[*first] = nullptr;
        ++missing;
      }
    }
  }
  return missing;
}

void HashTable::collectShard(int number, std::vector<TableRow> &rows) const {
  const Shard &shard = shards[number];
  rows.clear();
  {
    std::lock_guard lock(shard.mutex);
    for (const Bucket &line : shard.buckets)
      for (uint32_t i = 0; i < line.count; ++i)
        rows.push_back({line.keys[i], rowAt(shard, line.rows[i])});
  }
  std::sort(rows.begin(), rows.end(),
            [](const TableRow &a, const TableRow &b) { return a.key < b.key; });
}

size_t HashTable::memoryBytes() const {
  size_t sum = pool.memoryBytes() + shardCount * sizeof(Shard);
  for (int number = 0; number < shardCount; ++number) {
    const Shard &shard = shards[number];
    std::lock_guard lock(shard.mutex);
    sum += shard.buckets.capacity() * sizeof(Bucket) +
           shard.slabs.capacity() * sizeof(char *);
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
