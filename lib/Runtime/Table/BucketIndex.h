//===- BucketIndex.h - Keys to row numbers ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bucket is a cache line with six keys and the numbers of their rows. It
// stores how many of its entries are used, so no value of a key is special.
// Keys are mixed by a one-to-one function, and stored without the ten bits that
// select the shard: an entry has 54 bits of a key, and 30 bits of the row's
// number.
//
// A key is in the first bucket of its probe sequence that had a free entry.
// Erasing preserves this. So a search ends at a bucket that is not full.
//
// The buckets of an index are in chunks of 2 KiB. All indices of a table take
// chunks from one pool, whose memory is on huge pages, and give them back to
// it. So when an index grows, the memory that it leaves can be used by other
// indices.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_BUCKETINDEX_H
#define LIB_RUNTIME_TABLE_BUCKETINDEX_H

#include "pdlrt/Core/AddressBlocks.h"
#include "pdlrt/Core/Mutex.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>
#include <memory>
#include <vector>

namespace pdlrt {

class alignas(64) Bucket {
public:
  static constexpr int places = 6;
  /// Bits of a row's number, and stored bits of a mixed key.
  static constexpr int rowBits = 30;
  static constexpr int keyBits = 54;

  int count() const { return int(highs[0] & 15); }
  bool isFull() const { return count() == places; }
  /// Returns the lower 54 bits of a mixed key.
  uint64_t key(int place) const {
    return uint64_t(highOf(place)) << 32 | lows[place];
  }
  uint32_t row(int place) const {
    return rows[place] & ((uint32_t(1) << rowBits) - 1);
  }

  /// Returns the index of a mixed key's entry; -1 if the key is not in the
  /// bucket.
  int find(uint64_t mixed) const {
    const __m256i eight =
        _mm256_load_si256(reinterpret_cast<const __m256i *>(lows));
    const __m256i same =
        _mm256_cmpeq_epi32(eight, _mm256_set1_epi32(int32_t(mixed)));
    unsigned equal = unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
    equal &= (1u << count()) - 1;
    for (; equal; equal &= equal - 1) {
      const int place = __builtin_ctz(equal);
      if (highOf(place) == (uint32_t(mixed >> 32) & highMask))
        return place;
    }
    return -1;
  }

  /// Adds a mixed key to a bucket that is not full.
  void add(uint64_t mixed, uint32_t row) {
    set(count(), mixed, row);
    ++highs[0];
  }
  /// Writes entry `place`: a used entry or the first unused one.
  void set(int place, uint64_t mixed, uint32_t row) {
    const uint32_t high = uint32_t(mixed >> 32) & highMask;
    lows[place] = uint32_t(mixed);
    rows[place] = row | high << rowBits;
    uint64_t &word = highs[place / 3];
    word &= ~(wideMask << shiftOf(place));
    word |= uint64_t(high >> 2) << shiftOf(place);
  }
  /// Removes the last key.
  void removeLast() { --highs[0]; }

private:
  /// 22 bits: the lower 2 are above a row's number, 20 in `highs`.
  static constexpr uint32_t highMask = (1 << 22) - 1;
  static constexpr uint64_t wideMask = (1 << 20) - 1;
  static int shiftOf(int place) { return 4 + 20 * (place % 3); }
  uint32_t highOf(int place) const {
    return rows[place] >> rowBits |
           uint32_t(highs[place / 3] >> shiftOf(place) & wideMask) << 2;
  }

  /// Lower words of the mixed keys. A search loads 8 words, so it also loads
  /// two words of `rows`.
  uint32_t lows[places];
  uint32_t rows[places];
  /// Each word has 4 bits for the number of used entries, and then 20 bits of
  /// each of three keys.
  uint64_t highs[2];
};
static_assert(sizeof(Bucket) == 64, "a bucket is one cache line");

/// The chunks of a table's buckets. Thread-safe.
class BucketPool {
public:
  /// Number of buckets in a chunk.
  static constexpr uint64_t chunkSize = 32;

  /// Returns an empty chunk. Throws std::bad_alloc.
  Bucket *take();
  /// Returns a chunk to the pool. Allocates nothing.
  void give(Bucket *chunk);
  /// Returns the number of bytes of all chunks, including unused ones.
  size_t memoryBytes() const;

private:
  mutable Mutex mutex;
  AddressBlocks blocks PDLRT_GUARDED_BY(mutex);
  std::vector<Bucket *> unused PDLRT_GUARDED_BY(mutex);
  size_t taken PDLRT_GUARDED_BY(mutex) = 0;
};

/// The keys of one shard, with the number of each key's row. All keys are mixed
/// (pdlabi::mixKey). A table has an index for each of its shards, so an empty
/// index takes only 16 bytes. Not thread-safe.
class BucketIndex {
public:
  BucketIndex() = default;
  ~BucketIndex();
  BucketIndex(const BucketIndex &) = delete;
  BucketIndex &operator=(const BucketIndex &) = delete;

  uint64_t size() const { return keyCount; }

  /// Prefetches the bucket in which a search for the key starts.
  void prefetch(uint64_t mixed) const {
    if (bucketCount > 0)
      __builtin_prefetch(&bucket(homeOf(mixed, bucketCount)));
  }

  /// Returns true and the row's number if the key is in the index.
  bool find(uint64_t mixed, uint32_t &row) const {
    const Place place = search(mixed);
    if (place.place < 0)
      return false;
    row = bucket(place.bucket).row(place.place);
    return true;
  }

  /// Changes the row number of an existing key.
  void replace(uint64_t mixed, uint32_t row) {
    const Place place = search(mixed);
    bucket(place.bucket).set(place.place, mixed, row);
  }

  /// Adds a key that is not in the index. If necessary, the index grows by a
  /// quarter, along a sequence of sizes that `phase`, in [0, 1), selects. On
  /// std::bad_alloc, nothing has changed.
  void insert(uint64_t mixed, uint32_t row, double phase, BucketPool &pool);

  /// Grows to the size that the index would have after adding `count` more keys
  /// one by one. Only affects performance. On std::bad_alloc, nothing has
  /// changed.
  void reserve(uint64_t count, double phase, BucketPool &pool);

  /// Returns the number of buckets to which an index with `buckets` buckets
  /// grows: the next number 1.25^(k + phase), with an integer k, rounded down.
  /// While an index grows large, a key is moved four times on average.
  static uint64_t grown(uint64_t buckets, double phase);

  /// Removes a key. If the key was in the index, sets `row` to the number of
  /// its row and returns true. Allocates nothing.
  bool erase(uint64_t mixed, uint32_t &row);

  /// Gives the memory of an index without keys back to the pool.
  void giveBack(BucketPool &pool);

  /// Calls visit(lower 54 bits of the mixed key, row) for each key.
  template <typename Visit> void forEach(Visit visit) const {
    for (uint64_t at = 0; at < bucketCount; ++at) {
      const Bucket &line = bucket(at);
      for (int place = 0; place < line.count(); ++place)
        visit(line.key(place), line.row(place));
    }
  }

  /// Returns the bytes of memory outside of the pool's chunks.
  size_t memoryBytes() const {
    return chunksOf(bucketCount) * sizeof(Bucket *) +
           (isSmall(bucketCount) ? bucketCount * sizeof(Bucket) : 0);
  }

private:
  struct Place {
    uint64_t bucket;
    int place;
  };
  /// Returns true for a number of buckets that fit into one chunk. A small
  /// index has its own chunk on the heap, with exactly the necessary size.
  static bool isSmall(uint64_t count) { return count <= BucketPool::chunkSize; }
  static uint64_t chunksOf(uint64_t buckets) {
    return (buckets + BucketPool::chunkSize - 1) / BucketPool::chunkSize;
  }
  /// Returns the bucket at which the search for a key starts. The top bits of a
  /// mixed key select the shard, and the bits after them the bucket. So buckets
  /// are in the order of mixed keys, and growing reads and writes memory
  /// sequentially.
  static uint64_t homeOf(uint64_t mixed, uint64_t bucketCount) {
    return uint64_t(
        (static_cast<unsigned __int128>(mixed << 10) * bucketCount) >> 64);
  }
  Bucket &bucket(uint64_t at) const {
    return chunks[at / BucketPool::chunkSize][at % BucketPool::chunkSize];
  }
  uint64_t next(uint64_t at) const {
    return at + 1 == bucketCount ? 0 : at + 1;
  }
  /// Returns how many buckets a search passes from bucket `from` to bucket
  /// `to`.
  uint64_t distance(uint64_t from, uint64_t to) const {
    return to >= from ? to - from : to + bucketCount - from;
  }
  /// Returns entry -1 if the key is not in the index.
  Place search(uint64_t mixed) const {
    if (bucketCount == 0)
      return {0, -1};
    for (uint64_t at = homeOf(mixed, bucketCount);; at = next(at)) {
      const Bucket &line = bucket(at);
      const int place = line.find(mixed);
      if (place >= 0 || !line.isFull())
        return {at, place};
    }
  }
  void put(uint64_t mixed, uint32_t row);
  void growTo(uint64_t count, BucketPool &pool);

  /// `chunksOf(bucketCount)` chunks.
  std::unique_ptr<Bucket *[]> chunks;
  /// 32 bits suffice, because row numbers have fewer.
  uint32_t bucketCount = 0;
  uint32_t keyCount = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_BUCKETINDEX_H
