//===- RowCache.h - Rows that were read lately ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cache of sets: a key may stand in one of eight places, and the row of a set
// that goes is one that was not read since the last time round (second chance).
// All memory is there from the start. Sets are guarded in shards, and a batch
// of keys takes the lock of each shard once.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_ROWCACHE_H
#define PDLRT_SERVING_ROWCACHE_H

#include "pdlrt/Core/AlignedBuffer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Rows of one size, of one or several tables. Any number of threads may call,
/// each with a scratch of its own.
class RowCache {
public:
  /// The order of keys by shard, for one thread at a time.
  struct Scratch {
    std::vector<uint64_t> hashes;
    std::vector<int32_t> order, begins;
  };

  /// Rows of `rowBytes` bytes in at most `bytes`, with what tells them apart. A
  /// bound that has no room for a set makes a cache of nothing. Throws
  /// std::bad_alloc.
  RowCache(size_t rowBytes, size_t bytes);
  ~RowCache();
  RowCache(const RowCache &) = delete;
  RowCache &operator=(const RowCache &) = delete;

  /// Copies the rows that are there, and were asked for at `since` or later, to
  /// rows + i * rowBytes, and to isUnknown[i] whether the table had none of the
  /// key; `missing` is filled with the places of the other keys, in any order.
  /// `tag`: the table. Throws std::bad_alloc.
  void find(uint32_t tag, int64_t count, const int64_t *keys, int64_t since,
            std::byte *rows, uint8_t *isUnknown, std::vector<int32_t> &missing,
            Scratch &scratch);
  /// Takes the rows at those places of such arrays, which were asked for at
  /// `time`; one that is there and younger stays. Throws std::bad_alloc.
  void add(uint32_t tag, const std::vector<int32_t> &places,
           const int64_t *keys, const std::byte *rows, const uint8_t *isUnknown,
           int64_t time, Scratch &scratch);

  size_t rowBytes() const { return bytesOfRow; }
  /// How many rows there is room for.
  size_t capacity() const { return setCount * ways; }
  size_t memoryBytes() const;

private:
  static constexpr size_t ways = 8;
  struct Set;
  struct Shard;
  static size_t shardsOf(size_t sets);

  size_t setOf(uint64_t hash) const {
    return size_t((unsigned __int128)(hash)*setCount >> 64);
  }
  std::byte *rowAt(size_t set, size_t way) const {
    return static_cast<std::byte *>(rowMemory.data()) +
           (set * ways + way) * bytesOfRow;
  }
  template <typename KeyAt>
  void sortByShard(uint32_t tag, size_t count, KeyAt keyAt,
                   Scratch &scratch) const;
  /// Calls visit(i, set) for each of so many keys, which are those of keyAt(i),
  /// with the set's shard locked.
  template <typename KeyAt, typename Visit>
  void forEachKey(uint32_t tag, size_t count, KeyAt keyAt, Scratch &scratch,
                  Visit visit);

  size_t bytesOfRow;
  size_t setCount = 0, setsInShard = 1;
  std::vector<Set> sets;
  std::unique_ptr<Shard[]> shards;
  size_t shardCount = 0;
  AlignedBuffer rowMemory;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_ROWCACHE_H
