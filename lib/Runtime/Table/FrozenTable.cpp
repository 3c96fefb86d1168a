//===- FrozenTable.cpp - Rows that do not change, in one block ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/FrozenTable.h"
#include "pdlabi/hash.h"
#include "pdlrt/Table/FrozenRows.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace pdlrt;

FrozenRows::~FrozenRows() = default;

/// Keys of a bucket, and how many it has on average: so full that few searches
/// go on in the next one.
static constexpr size_t keysOfBucket = 7, keysOnAverage = 5;

/// A cache line.
struct alignas(64) FrozenTable::Bucket {
  int64_t keys[keysOfBucket];
  /// The number of its first row.
  uint64_t firstRow : 56;
  uint64_t count : 4;
  /// Whether keys that belong here stand in the next one.
  uint64_t goesOn : 1;
};

size_t FrozenTable::bucketOf(int64_t key) const {
  return size_t((static_cast<unsigned __int128>(pdlabi::mixKey(uint64_t(key))) *
                 bucketCount) >>
                64);
}

size_t FrozenTable::memoryBytes() const {
  return allBuckets * sizeof(Bucket) + size_t(rowCount) * bytesOfRow;
}

Expected<FrozenTable> FrozenTable::build(const std::vector<int64_t> &keys,
                                         size_t rowBytes,
                                         std::vector<uint64_t> &places) {
  FrozenTable table;
  table.bytesOfRow = rowBytes;
  table.rowCount = int64_t(keys.size());
  places.resize(keys.size());
  if (keys.empty())
    return table;
  table.bucketCount = (keys.size() + keysOnAverage - 1) / keysOnAverage;
  // Which keys belong to each bucket: counts, then places.
  std::vector<uint64_t> begins(table.bucketCount + 1);
  for (int64_t key : keys)
    ++begins[table.bucketOf(key) + 1];
  for (size_t b = 0; b < table.bucketCount; ++b)
    begins[b + 1] += begins[b];
  std::vector<uint64_t> order(keys.size()),
      next(begins.begin(), begins.end() - 1);
  for (size_t i = 0; i < keys.size(); ++i)
    order[next[table.bucketOf(keys[i])]++] = i;
  // All of a bucket's keys come before those of the next one, so that what does
  // not fit is first there.
  std::vector<Bucket> buckets;
  buckets.reserve(table.bucketCount + 8);
  for (size_t done = 0;
       done < order.size() || buckets.size() < table.bucketCount;) {
    Bucket &bucket = buckets.emplace_back();
    bucket = {};
    bucket.firstRow = done;
    const size_t b = buckets.size() - 1;
    const size_t end = b < table.bucketCount ? begins[b + 1] : order.size();
    const size_t count = std::min(end - done, keysOfBucket);
    for (size_t i = 0; i < count; ++i)
      bucket.keys[i] = keys[order[done + i]];
    bucket.count = count;
    bucket.goesOn = done + count < end;
    done += count;
  }
  table.allBuckets = buckets.size();
  // Equal keys belong to one bucket.
  std::vector<int64_t> sorted;
  for (size_t b = 0; b < table.bucketCount; ++b) {
    sorted.clear();
    for (uint64_t i = begins[b]; i < begins[b + 1]; ++i)
      sorted.push_back(keys[order[i]]);
    std::ranges::sort(sorted);
    if (const auto twice = std::ranges::adjacent_find(sorted);
        twice != sorted.end())
      return Status::invalid("key " + std::to_string(*twice) +
                             " is there twice; keep one row of each");
  }
  std::memcpy(table.bucketMemory.reserveFor<Bucket>(buckets.size()),
              buckets.data(), buckets.size() * sizeof(Bucket));
  table.rowMemory.reserve(keys.size() * rowBytes);
  for (size_t place = 0; place < order.size(); ++place)
    places[order[place]] = place;
  return table;
}

int64_t FrozenTable::find(int64_t count, const int64_t *keys,
                          void **rows) const {
  // So far ahead that memory has answered when its turn comes.
  constexpr int64_t ahead = 8;
  const auto *buckets = static_cast<const Bucket *>(bucketMemory.data());
  auto *firstRow = static_cast<char *>(rowMemory.data());
  if (rowCount == 0)
    return std::count(rows, rows + count, nullptr);
  for (int64_t i = 0; i < std::min(ahead, count); ++i)
    __builtin_prefetch(buckets + bucketOf(keys[i]));
  int64_t missing = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i + ahead < count)
      __builtin_prefetch(buckets + bucketOf(keys[i + ahead]));
    if (rows[i])
      continue;
    for (const Bucket *bucket = buckets + bucketOf(keys[i]);; ++bucket) {
      for (size_t k = 0; k < bucket->count; ++k)
        if (bucket->keys[k] == keys[i])
          rows[i] = firstRow + (bucket->firstRow + k) * bytesOfRow;
      if (rows[i] || !bucket->goesOn)
        break;
    }
    if (rows[i])
      __builtin_prefetch(rows[i]);
    else
      ++missing;
  }
  return missing;
}
