//===- RowCache.cpp - Cache of recently read rows -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/RowCache.h"

#include "pdlabi/hash.h"
#include "pdlrt/Core/Mutex.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace pdlrt;

/// Metadata of eight cached rows. Values are stored elsewhere, so that a search
/// for a key does not load them into the CPU's cache.
struct RowCache::Set {
  int64_t keys[ways] = {};
  /// Time at which each row was requested.
  int64_t times[ways] = {};
  uint32_t tags[ways] = {};
  /// One bit for each of the eight entries. `taken`: the entry has a key.
  /// `wasRead`: it was read since `hand` has passed it. `isUnknown`: the table
  /// has no row for the key.
  uint8_t taken = 0, wasRead = 0, isUnknown = 0;
  /// Next way to consider for eviction.
  uint8_t hand = 0;

  /// Returns the index of a key's entry, or -1 if the key is not cached.
  int wayOf(uint32_t tag, int64_t key) const {
    for (unsigned rest = taken; rest; rest &= rest - 1) {
      const int way = std::countr_zero(rest);
      if (keys[way] == key && tags[way] == tag)
        return way;
    }
    return -1;
  }
  /// Returns a free way, or evicts a row.
  int wayForNew() {
    if (taken != (1U << ways) - 1)
      return std::countr_one(taken);
    for (;;) {
      const int way = hand;
      hand = uint8_t((hand + 1) % ways);
      if (!(wasRead >> way & 1))
        return way;
      wasRead &= uint8_t(~(1U << way));
    }
  }
};

/// Lock of the sets of a shard, and of their rows.
struct alignas(64) RowCache::Shard {
  Mutex mutex;
};

size_t RowCache::shardsOf(size_t sets) {
  constexpr size_t most = 64;
  return std::clamp<size_t>(sets, 1, most);
}

RowCache::RowCache(size_t rowBytes, size_t bytes)
    : bytesOfRow(std::max<size_t>(1, rowBytes)),
      setCount(bytes / (sizeof(Set) + ways * bytesOfRow)) {
  if (setCount == 0)
    return;
  const size_t wanted = shardsOf(setCount);
  setsInShard = (setCount + wanted - 1) / wanted;
  shardCount = (setCount + setsInShard - 1) / setsInShard;
  shards = std::make_unique<Shard[]>(shardCount);
  sets.resize(setCount);
  // Pages are allocated by the operating system at the first write.
  rowMemory.reserve(setCount * ways * bytesOfRow);
}

RowCache::~RowCache() = default;

size_t RowCache::memoryBytes() const {
  return setCount * (sizeof(Set) + ways * bytesOfRow);
}

static uint64_t hashOf(uint32_t tag, int64_t key) {
  // Equal keys of tables that share a cache must map to different sets.
  return pdlabi::mixKey(uint64_t(key) ^
                        (uint64_t(tag) + 1) * 0x9e3779b97f4a7c15);
}

/// Sorts the indices of keys by the cache shard of their key. The indices of
/// shard s are order[begins[s]] to order[begins[s + 1] - 1].
template <typename KeyAt>
void RowCache::sortByShard(uint32_t tag, size_t count, KeyAt keyAt,
                           Scratch &scratch) const {
  scratch.hashes.resize(std::max(scratch.hashes.size(), count));
  scratch.order.resize(std::max(scratch.order.size(), count));
  scratch.begins.assign(shardCount + 1, 0);
  int32_t *begins = scratch.begins.data();
  for (size_t i = 0; i < count; ++i) {
    scratch.hashes[i] = hashOf(tag, keyAt(i));
    ++begins[setOf(scratch.hashes[i]) / setsInShard];
  }
  int32_t sum = 0;
  for (size_t s = 0; s <= shardCount; ++s)
    begins[s] = sum += begins[s];
  // Each entry of `begins` is the end of its shard now. Going backwards moves
  // it to the shard's start, and keeps the order of indices.
  for (size_t i = count; i-- > 0;)
    scratch.order[size_t(--begins[setOf(scratch.hashes[i]) / setsInShard])] =
        int32_t(i);
}

template <typename KeyAt, typename Visit>
void RowCache::forEachKey(uint32_t tag, size_t count, KeyAt keyAt,
                          Scratch &scratch, Visit visit) {
  sortByShard(tag, count, keyAt, scratch);
  for (size_t s = 0; s < shardCount; ++s) {
    const int32_t end = scratch.begins[s + 1];
    if (scratch.begins[s] == end)
      continue;
    const MutexLock lock(shards[s].mutex);
    for (int32_t at = scratch.begins[s]; at < end; ++at) {
      const int32_t i = scratch.order[size_t(at)];
      visit(i, setOf(scratch.hashes[size_t(i)]));
    }
  }
}

void RowCache::find(uint32_t tag, int64_t count, const int64_t *keys,
                    int64_t since, std::byte *rows, uint8_t *isUnknown,
                    std::vector<int32_t> &missing, Scratch &scratch) {
  missing.clear();
  if (setCount == 0) {
    for (int64_t i = 0; i < count; ++i)
      missing.push_back(int32_t(i));
    return;
  }
  // Nothing may throw while a lock is held.
  missing.reserve(size_t(count));
  forEachKey(
      tag, size_t(count), [keys](size_t i) { return keys[i]; }, scratch,
      [&](int32_t i, size_t place) {
        Set &set = sets[place];
        const int way = set.wayOf(tag, keys[i]);
        if (way < 0 || set.times[way] < since) {
          missing.push_back(i);
          return;
        }
        set.wasRead |= uint8_t(1U << way);
        isUnknown[i] = set.isUnknown >> way & 1;
        std::memcpy(rows + size_t(i) * bytesOfRow, rowAt(place, size_t(way)),
                    bytesOfRow);
      });
}

void RowCache::add(uint32_t tag, const std::vector<int32_t> &places,
                   const int64_t *keys, const std::byte *rows,
                   const uint8_t *isUnknown, int64_t time, Scratch &scratch) {
  if (setCount == 0)
    return;
  forEachKey(
      tag, places.size(), [&](size_t i) { return keys[places[i]]; }, scratch,
      [&](int32_t i, size_t place) {
        const int32_t from = places[size_t(i)];
        const int64_t key = keys[from];
        Set &set = sets[place];
        int way = set.wayOf(tag, key);
        if (way >= 0 && set.times[way] > time)
          return;
        if (way < 0) {
          way = set.wayForNew();
          set.keys[way] = key;
          set.tags[way] = tag;
          set.taken |= uint8_t(1U << way);
          set.wasRead &= uint8_t(~(1U << way));
        }
        set.times[way] = time;
        set.isUnknown = uint8_t((set.isUnknown & ~(1U << way)) |
                                unsigned(isUnknown[from]) << way);
        std::memcpy(rowAt(place, size_t(way)), rows + size_t(from) * bytesOfRow,
                    bytesOfRow);
      });
}
