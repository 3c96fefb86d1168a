//===- ChangedKeysTest.cpp - Changed keys of a table ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ChangedKeys.h"

#include "pdlabi/hash.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <utility>

using namespace pdlrt;

/// Returns the keys in the order of KEYS sections.
static std::vector<int64_t> inOrder(const std::set<int64_t> &keys) {
  std::vector<int64_t> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end(), [](int64_t a, int64_t b) {
    return std::pair(pdlabi::shardOfKey(a), a) <
           std::pair(pdlabi::shardOfKey(b), b);
  });
  return sorted;
}

TEST(ChangedKeys, SaysWhatWasChangedSince) {
  ChangedKeys keys;
  EXPECT_TRUE(keys.since(0).empty());
  keys.note(1, std::vector<int64_t>{5, -3, 9});
  keys.note(2, std::vector<int64_t>{9, 7});
  EXPECT_EQ(keys.since(0), inOrder({-3, 5, 7, 9}));
  EXPECT_EQ(keys.since(1), inOrder({7, 9}));
  EXPECT_TRUE(keys.since(2).empty());
}

TEST(ChangedKeys, ForgetsWhatAllKnow) {
  ChangedKeys keys;
  keys.note(1, std::vector<int64_t>{5});
  keys.note(2, std::vector<int64_t>{7});
  keys.forget(std::vector<uint64_t>{2, 1});
  EXPECT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys.since(1), inOrder({7}));
  keys.forget(std::vector<uint64_t>{2, 2});
  EXPECT_EQ(keys.size(), 0u);
}

// Compares with a full record; one reader is much slower than the others.
TEST(ChangedKeys, AreBoundedAndExactWithASlowReader) {
  constexpr int readers = 3, keyRange = 20000, rounds = 300;
  ChangedKeys keys;
  std::vector<uint64_t> seen(readers);
  std::map<int64_t, uint64_t> changedAt;
  std::mt19937 random(4);
  size_t most = 0, noted = 0;
  for (uint64_t time = 1; time <= rounds; ++time) {
    std::set<int64_t> now;
    while (now.size() < 2000)
      now.insert(int64_t(random() % keyRange) - keyRange / 2);
    keys.note(time, std::vector<int64_t>(now.begin(), now.end()));
    noted += now.size();
    for (const int64_t key : now)
      changedAt[key] = time;
    // The last reader reads only at the end.
    const size_t reader = random() % (readers - 1);
    std::set<int64_t> expected;
    for (const auto &[key, at] : changedAt)
      if (at > seen[reader])
        expected.insert(key);
    EXPECT_EQ(keys.since(seen[reader]), inOrder(expected)) << "time " << time;
    seen[reader] = time;
    keys.forget(seen);
    most = std::max(most, keys.size());
  }
  std::set<int64_t> all;
  for (const auto &[key, at] : changedAt)
    all.insert(key);
  EXPECT_EQ(keys.since(0), inOrder(all));
  EXPECT_LT(most, size_t(2 * readers * keyRange));
  EXPECT_LT(most, noted / 2);
}
