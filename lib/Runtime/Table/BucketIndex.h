//===- BucketIndex.h - From keys to numbers of rows -------------*- C++ -*-===//
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
// The buckets of an index lie in chunks of 2 KiB that all indices of a table
// take from one pool and give back to it, on huge pages: an index grows by a
// quarter, and leaves nothing behind that another could not use.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_BUCKETINDEX_H
#define LIB_RUNTIME_TABLE_BUCKETINDEX_H

#include "pdlrt/Core/AddressBlocks.h"

#include <cstddef>
#include <cstdint>
#include <immintrin.h>
#include <mutex>
#include <vector>

namespace pdlrt {

class alignas(64) Bucket {
public:
  static constexpr int places = 5;
  /// Bits of a row's number.
  static constexpr int rowBits = 37;

  int count() const { return int(packed & 7); }
  bool isFull() const { return count() == places; }
  int64_t key(int place) const { return keys[place]; }
  uint64_t row(int place) const {
    return uint64_t((packed >> highAt(place)) & 31) << 32 | lowRows[place];
  }

  /// The place of a key, -1 if it is not here.
  int find(int64_t key) const {
    const __m256i four = _mm256_load_si256(
        reinterpret_cast<const __m256i *>(static_cast<const void *>(keys)));
    const __m256i same = _mm256_cmpeq_epi64(four, _mm256_set1_epi64x(key));
    unsigned equal = unsigned(_mm256_movemask_pd(_mm256_castsi256_pd(same)));
    equal |= unsigned(keys[4] == key) << 4;
    equal &= (1u << count()) - 1;
    return equal ? __builtin_ctz(equal) : -1;
  }

  /// Adds a key to a bucket that is not full.
  void add(int64_t key, uint64_t row) {
    const int place = count();
    keys[place] = key;
    lowRows[place] = uint32_t(row);
    packed += 1 + (uint32_t(row >> 32) << highAt(place));
  }

private:
  static int highAt(int place) { return 3 + 5 * place; }

  int64_t keys[places];
  /// The lower halves of the rows' numbers.
  uint32_t lowRows[places];
  /// The count of taken places in 3 bits, then 5 higher bits of each number.
  uint32_t packed;
};
static_assert(sizeof(Bucket) == 64, "a bucket is one cache line");

/// The chunks of a table's buckets. Thread-safe.
class BucketPool {
public:
  /// Buckets of a chunk.
  static constexpr uint64_t chunkSize = 32;

  /// An empty chunk. Throws std::bad_alloc.
  Bucket *take();
  /// Of chunks that were taken. Needs no memory.
  void give(Bucket *chunk);
  /// Bytes of all chunks, those that nobody has included.
  size_t memoryBytes() const;

private:
  mutable std::mutex mutex;
  AddressBlocks blocks;
  std::vector<Bucket *> unused;
  size_t taken = 0;
};

/// The keys of one shard. Not thread-safe.
class BucketIndex {
public:
  BucketIndex() = default;
  ~BucketIndex();
  BucketIndex(const BucketIndex &) = delete;
  BucketIndex &operator=(const BucketIndex &) = delete;

  /// Starts loading the bucket in which a search begins.
  void prefetch(uint64_t mixed) const {
    if (bucketCount > 0)
      __builtin_prefetch(&bucket(homeOf(mixed, bucketCount)));
  }

  /// Whether the key is here, and its row's number. `mixed`: of
  /// pdlabi::mixKey.
  bool find(int64_t key, uint64_t mixed, uint64_t &row) const {
    if (bucketCount == 0)
      return false;
    for (uint64_t at = homeOf(mixed, bucketCount);;
         at = at + 1 == bucketCount ? 0 : at + 1) {
      const Bucket &line = bucket(at);
      if (const int place = line.find(key); place >= 0) {
        row = line.row(place);
        return true;
      }
      if (!line.isFull())
        return false;
    }
  }

  /// Adds a key that is not here. `load`: the most of all places that may be
  /// taken, below 1; the index grows before there are more. Throws
  /// std::bad_alloc, and nothing has changed.
  void insert(int64_t key, uint64_t mixed, uint64_t row, double load,
              BucketPool &pool);

  /// Makes room for `count` more keys at that load, as adding them one by one
  /// would. Only how fast they are added depends on it. Throws std::bad_alloc,
  /// and nothing has changed.
  void reserve(uint64_t count, double load, BucketPool &pool);

  /// Calls visit(key, row) for each key.
  template <typename Visit> void forEach(Visit visit) const {
    for (uint64_t at = 0; at < bucketCount; ++at) {
      const Bucket &line = bucket(at);
      for (int place = 0; place < line.count(); ++place)
        visit(line.key(place), line.row(place));
    }
  }

  /// Bytes held beside chunks of the pool.
  size_t memoryBytes() const {
    return chunks.capacity() * sizeof(Bucket *) +
           (bucketCount <= BucketPool::chunkSize ? bucketCount * sizeof(Bucket)
                                                 : 0);
  }

private:
  /// The top bits chose the shard; the next ones choose the bucket. Buckets are
  /// in the order of the mixed keys, so that growing walks through both tables
  /// from one end to the other.
  static uint64_t homeOf(uint64_t mixed, uint64_t bucketCount) {
    return uint64_t(
        (static_cast<unsigned __int128>(mixed << 10) * bucketCount) >> 64);
  }
  Bucket &bucket(uint64_t at) const {
    return chunks[at / BucketPool::chunkSize][at % BucketPool::chunkSize];
  }
  void put(int64_t key, uint64_t mixed, uint64_t row);
  void growTo(uint64_t count, BucketPool &pool);

  /// A small index has one chunk, of the size that it needs, from the heap.
  std::vector<Bucket *> chunks;
  uint64_t bucketCount = 0;
  uint64_t keyCount = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_BUCKETINDEX_H
