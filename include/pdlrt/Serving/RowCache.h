//===- RowCache.h - Cache of recently read rows -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A set-associative cache. A key can be in one of the eight ways of its set. If
// the set is full, eviction removes a row that was not read since the hand last
// passed it (second chance). All memory is reserved at the start. Each lock
// guards a shard of sets, and a batch of keys locks each shard once.
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

/// Caches rows of one size, of one or several tables. Any number of threads may
/// call, each with its own scratch.
class RowCache {
public:
  /// The order of keys by shard. Used by one thread at a time.
  struct Scratch {
    std::vector<uint64_t> hashes;
    std::vector<int32_t> order, begins;
  };

  /// Creates a cache for rows of `rowBytes` bytes that uses at most `bytes`,
  /// including metadata. If that is too little for a set, the cache stays
  /// empty. Throws std::bad_alloc.
  RowCache(size_t rowBytes, size_t bytes);
  ~RowCache();
  RowCache(const RowCache &) = delete;
  RowCache &operator=(const RowCache &) = delete;

  /// Looks up keys. Copies rows that are cached and were requested at `since`
  /// or later to rows + i * rowBytes, and sets isUnknown[i] if the table had no
  /// row for the key. Sets `missing` to the indices of the other keys, in any
  /// order. `tag`: the table. Throws std::bad_alloc.
  void find(uint32_t tag, int64_t count, const int64_t *keys, int64_t since,
            std::byte *rows, uint8_t *isUnknown, std::vector<int32_t> &missing,
            Scratch &scratch);
  /// Inserts the rows at the indices `places` of such arrays, which were
  /// requested at `time`. A newer cached version stays. Throws std::bad_alloc.
  void add(uint32_t tag, const std::vector<int32_t> &places,
           const int64_t *keys, const std::byte *rows, const uint8_t *isUnknown,
           int64_t time, Scratch &scratch);

  size_t rowBytes() const { return bytesOfRow; }
  /// Returns the maximum number of rows.
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
  /// Calls visit(i, set) for each of `count` keys, where key i is keyAt(i),
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
