//===- RowCacheTest.cpp - Rows that were read lately ----------------------
//===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/RowCache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

using namespace pdlrt;

namespace {

constexpr size_t rowElements = 6;

/// View of one thread on a cache whose rows consist of key, table and version.
class Reader {
public:
  explicit Reader(RowCache &cache) : cache(cache) {}

  static std::vector<int32_t> rowOf(uint32_t tag, int64_t key,
                                    int32_t version) {
    std::vector<int32_t> row(rowElements, int32_t(key));
    row[0] = int32_t(tag);
    row[1] = version;
    return row;
  }
  static bool isUnknown(int64_t key, int32_t version) {
    return (uint64_t(key) + uint64_t(version)) % 3 == 0;
  }
  /// Returns the number of keys that are in the cache. Expects each cached row
  /// to have the version `version`.
  int64_t find(uint32_t tag, const std::vector<int64_t> &keys, int64_t since,
               int32_t version = 0) {
    std::vector<int32_t> rows(keys.size() * rowElements, -1);
    std::vector<uint8_t> unknown(keys.size(), 2);
    cache.find(tag, int64_t(keys.size()), keys.data(), since,
               reinterpret_cast<std::byte *>(rows.data()), unknown.data(),
               missing, scratch);
    std::vector<bool> isMissing(keys.size());
    for (const int32_t place : missing) {
      EXPECT_FALSE(isMissing[size_t(place)]);
      isMissing[size_t(place)] = true;
    }
    for (size_t i = 0; i < keys.size(); ++i)
      if (!isMissing[i]) {
        const auto row = rowOf(tag, keys[i], version);
        EXPECT_EQ(unknown[i], isUnknown(keys[i], version)) << keys[i];
        EXPECT_TRUE(std::equal(row.begin(), row.end(),
                               rows.begin() + ptrdiff_t(i * rowElements)))
            << keys[i];
      }
    return int64_t(keys.size() - missing.size());
  }
  void add(uint32_t tag, const std::vector<int64_t> &keys, int64_t time,
           int32_t version = 0) {
    std::vector<int32_t> rows, places(keys.size());
    std::vector<uint8_t> unknown;
    for (const int64_t key : keys) {
      unknown.push_back(isUnknown(key, version));
      for (const int32_t number : rowOf(tag, key, version))
        rows.push_back(number);
    }
    std::iota(places.begin(), places.end(), 0);
    cache.add(tag, places, keys.data(),
              reinterpret_cast<const std::byte *>(rows.data()), unknown.data(),
              time, scratch);
  }

private:
  RowCache &cache;
  std::vector<int32_t> missing;
  RowCache::Scratch scratch;
};

std::vector<int64_t> keysUpTo(int64_t count, int64_t from = 0) {
  std::vector<int64_t> keys(size_t(count), 0);
  std::iota(keys.begin(), keys.end(), from);
  return keys;
}

} // namespace

TEST(RowCache, GivesWhatItTookUntilItIsTooOld) {
  RowCache cache(rowElements * 4, 1 << 20);
  Reader reader(cache);
  const std::vector<int64_t> keys = {3, -1, int64_t(1) << 60, 0};
  EXPECT_EQ(reader.find(7, keys, 0), 0);
  reader.add(7, keys, 100);
  EXPECT_EQ(reader.find(7, keys, 100), 4);
  EXPECT_EQ(reader.find(7, keys, 101), 0);
  // Equal keys of another table are different keys.
  EXPECT_EQ(reader.find(8, keys, 0), 0);
  // A younger row replaces an older one, but not vice versa.
  reader.add(7, keys, 200, 1);
  reader.add(7, keys, 150, 2);
  EXPECT_EQ(reader.find(7, keys, 150, 1), 4);
}

TEST(RowCache, StaysWithinItsBound) {
  constexpr size_t bytes = 200000;
  RowCache cache(rowElements * 4, bytes);
  EXPECT_LE(cache.memoryBytes(), bytes);
  EXPECT_GT(cache.memoryBytes(), bytes / 2);
  Reader reader(cache);
  reader.add(0, keysUpTo(20000), 1);
  const int64_t found = reader.find(0, keysUpTo(20000), 0);
  EXPECT_LE(found, int64_t(cache.capacity()));
  EXPECT_GT(found, int64_t(cache.capacity()) * 9 / 10);
  // Without memory, the cache is always empty.
  RowCache none(rowElements * 4, 100);
  Reader of(none);
  of.add(0, keysUpTo(3), 1);
  EXPECT_EQ(of.find(0, keysUpTo(3), 0), 0);
  EXPECT_EQ(none.memoryBytes(), 0u);
}

TEST(RowCache, KeepsWhatIsReadAgain) {
  RowCache cache(rowElements * 4, 400000);
  Reader reader(cache);
  const auto capacity = int64_t(cache.capacity());
  const std::vector<int64_t> hot = keysUpTo(capacity / 8);
  reader.add(0, hot, 1);
  // Many times as many keys are read once, while the hot ones are read all the
  // time.
  for (int64_t round = 0; round < 40; ++round) {
    reader.find(0, hot, 0);
    reader.add(0, keysUpTo(capacity / 8, (round + 1) << 32), 1);
  }
  EXPECT_GT(reader.find(0, hot, 0), int64_t(hot.size()) * 9 / 10);
}

TEST(RowCache, ThreadsSeeWholeRows) {
  RowCache cache(rowElements * 4, 30000);
  std::atomic<int64_t> found = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Reader reader(cache);
      std::mt19937 random(t);
      for (int turn = 0; turn < 300; ++turn) {
        std::vector<int64_t> keys;
        for (int64_t key = int64_t(random() % 3); key < 900;
             key += 1 + int64_t(random() % 7))
          keys.push_back(key);
        found += reader.find(turn % 2, keys, 0);
        reader.add(turn % 2, keys, turn);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(found, 0);
}
