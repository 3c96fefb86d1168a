//===- RowCache.h - Cache of recently read rows -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A set-associative cache: a key belongs to one set, which has eight entries
// (ways). If a set is full, a row that was not read recently is evicted (second
// chance). A hand moves over the entries of the set, and evicts the first one
// that was not read since the hand has passed it last. All memory is reserved
// at the start. Sets are grouped into shards with one lock each, and a batch of
// keys locks each shard once.
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

/// Caches rows of one size, of one or several tables. Several threads may call
/// its functions concurrently, each with its own Scratch.
class RowCache {
public:
  /// Scratch memory of a call, for the order of keys by shard. Only one thread
  /// may use it at a time.
  struct Scratch {
    std::vector<uint64_t> hashes;
    std::vector<int32_t> order, begins;
  };

  /// Creates a cache for rows of `rowBytes` bytes. It uses at most `bytes`
  /// bytes, including metadata. If `bytes` is too small for one set, the cache
  /// stores nothing. Throws std::bad_alloc.
  RowCache(size_t rowBytes, size_t bytes);
  ~RowCache();
  RowCache(const RowCache &) = delete;
  RowCache &operator=(const RowCache &) = delete;

  /// Looks up keys of the table `tag`. Uses only cached rows that were
  /// requested from servers at time `since` or later. Copies the row of key i
  /// to rows + i * rowBytes. Sets isUnknown[i] to 1 if the table had no row for
  /// the key. Sets `missing` to the indices of all other keys, in any order.
  /// Throws std::bad_alloc.
  void find(uint32_t tag, int64_t count, const int64_t *keys, int64_t since,
            std::byte *rows, uint8_t *isUnknown, std::vector<int32_t> &missing,
            Scratch &scratch);
  /// Inserts rows that were requested from servers at time `time`. The arrays
  /// are as in `find`; `places` has the indices of the keys to insert. Does not
  /// replace a row that was requested later. Throws std::bad_alloc.
  void add(uint32_t tag, const std::vector<int32_t> &places,
           const int64_t *keys, const std::byte *rows, const uint8_t *isUnknown,
           int64_t time, Scratch &scratch);

  size_t rowBytes() const { return bytesOfRow; }
  /// Returns the maximum number of cached rows.
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
  /// Calls visit(i, set) for each of `count` keys with the key's set. Key i is
  /// keyAt(i). The shard of the set is locked during the call.
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
