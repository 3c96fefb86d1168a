//===- BucketIndex.cpp - Keys to row numbers ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/BucketIndex.h"

#include "pdlrt/Core/OutOfMemory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace pdlrt;

static constexpr size_t chunkBytes = BucketPool::chunkSize * sizeof(Bucket);

Bucket *BucketPool::take() {
  Bucket *chunk = nullptr;
  {
    const MutexLock lock(mutex);
    if (unused.empty()) {
      // Capacity to return all chunks without allocating.
      if (unused.capacity() <= taken)
        unused.reserve(taken + taken / 2 + 16);
      chunk = reinterpret_cast<Bucket *>(blocks.take(chunkBytes));
      ++taken;
      // New memory is already zero.
      return chunk;
    }
    chunk = unused.back();
    unused.pop_back();
  }
  std::memset(static_cast<void *>(chunk), 0, chunkBytes);
  return chunk;
}

void BucketPool::give(Bucket *chunk) {
  const MutexLock lock(mutex);
  unused.push_back(chunk);
}

size_t BucketPool::memoryBytes() const {
  const MutexLock lock(mutex);
  return taken * chunkBytes + unused.capacity() * sizeof(Bucket *);
}

BucketIndex::~BucketIndex() {
  // Chunks of the pool are freed with it.
  if (bucketCount > 0 && isSmall(bucketCount))
    delete[] chunks[0];
}

/// Adds the key to the first bucket with a free entry.
void BucketIndex::put(uint64_t mixed, uint32_t row) {
  uint64_t at = homeOf(mixed, bucketCount);
  while (bucket(at).isFull())
    at = next(at);
  bucket(at).add(mixed, row);
}

/// Returns the maximum number of keys in `buckets` buckets.
static double roomOf(uint64_t buckets) {
  constexpr double maxLoad = 0.9;
  return double(buckets) * Bucket::places * maxLoad;
}

uint64_t BucketIndex::grown(uint64_t buckets, double phase) {
  constexpr double growth = 1.25;
  if (buckets == 0)
    return 1;
  // `buckets` may be rounded down from a size below `buckets + 1`.
  const double steps = std::log(double(buckets + 1)) / std::log(growth) - phase;
  const double size = std::pow(growth, std::floor(steps) + 1 + phase);
  return std::max(buckets + 1, uint64_t(size));
}

void BucketIndex::insert(uint64_t mixed, uint32_t row, double phase,
                         BucketPool &pool) {
  if (double(keyCount) + 1 > roomOf(bucketCount))
    growTo(grown(bucketCount, phase), pool);
  put(mixed, row);
  ++keyCount;
}

void BucketIndex::reserve(uint64_t count, double phase, BucketPool &pool) {
  // Grow to a size that `insert` would also reach. So the sizes of an index do
  // not depend on whether `reserve` was called.
  uint64_t wanted = bucketCount;
  while (double(keyCount) + double(count) > roomOf(wanted))
    wanted = grown(wanted, phase);
  if (wanted > bucketCount)
    growTo(wanted, pool);
}

bool BucketIndex::erase(uint64_t mixed, uint32_t &row) {
  const Place found = search(mixed);
  if (found.place < 0)
    return false;
  row = bucket(found.bucket).row(found.place);
  --keyCount;
  // Fill the hole that the erased key leaves. If the bucket was full, searches
  // may have continued in later buckets, so a key of a later bucket that
  // belongs here is moved into the hole. Otherwise the last key of the bucket
  // fills it.
  uint64_t hole = found.bucket;
  int place = found.place;
  for (bool wasFull = bucket(hole).isFull(); wasFull;) {
    uint64_t at = hole;
    int taken = -1;
    do {
      at = next(at);
      const Bucket &line = bucket(at);
      for (int i = 0; i < line.count() && taken < 0; ++i)
        if (distance(homeOf(line.key(i), bucketCount), at) >=
            distance(hole, at))
          taken = i;
    } while (taken < 0 && bucket(at).isFull() && at != hole);
    if (taken < 0 || at == hole)
      break;
    wasFull = bucket(at).isFull();
    bucket(hole).set(place, bucket(at).key(taken), bucket(at).row(taken));
    hole = at;
    place = taken;
  }
  Bucket &line = bucket(hole);
  const int last = line.count() - 1;
  line.set(place, line.key(last), line.row(last));
  line.removeLast();
  return true;
}

/// Grows to `count` buckets, which can hold all keys.
void BucketIndex::growTo(uint64_t count, BucketPool &pool) {
  if (count > UINT32_MAX)
    throw OutOfMemory(count * sizeof(Bucket));
  const uint64_t chunkCount = chunksOf(count);
  auto made = std::make_unique<Bucket *[]>(chunkCount);
  if (isSmall(count)) {
    made[0] = new Bucket[count]();
  } else {
    uint64_t taken = 0;
    try {
      for (; taken < chunkCount; ++taken)
        made[taken] = pool.take();
    } catch (...) {
      for (uint64_t i = 0; i < taken; ++i)
        pool.give(made[i]);
      throw;
    }
  }
  const std::unique_ptr<Bucket *[]> old =
      std::exchange(chunks, std::move(made));
  const uint64_t oldCount = std::exchange(bucketCount, uint32_t(count));
  const bool wasSmall = isSmall(oldCount);
  const auto oldBucket = [&](uint64_t at) -> const Bucket & {
    return old[at / BucketPool::chunkSize][at % BucketPool::chunkSize];
  };
  // Chunks are not adjacent, so prefetch.
  constexpr uint64_t ahead = 12;
  for (uint64_t at = 0; at < oldCount; ++at) {
    if (at + ahead < oldCount)
      __builtin_prefetch(&oldBucket(at + ahead));
    const Bucket &line = oldBucket(at);
    for (int place = 0; place < line.count(); ++place)
      put(line.key(place), line.row(place));
    if (!wasSmall && (at + 1) % BucketPool::chunkSize == 0)
      pool.give(old[at / BucketPool::chunkSize]);
  }
  if (wasSmall && oldCount > 0)
    delete[] old[0];
  else if (!wasSmall && oldCount % BucketPool::chunkSize != 0)
    pool.give(old[oldCount / BucketPool::chunkSize]);
}

void BucketIndex::giveBack(BucketPool &pool) {
  if (isSmall(bucketCount) && bucketCount > 0)
    delete[] chunks[0];
  else
    for (uint64_t i = 0; i < chunksOf(bucketCount); ++i)
      pool.give(chunks[i]);
  chunks.reset();
  bucketCount = 0;
}
