//===- BlockIndexTest.cpp - Index from keys to blocks of rows -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/BlockIndex.h"
#include "pdlabi/hash.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

using namespace pdlrt;

static std::vector<uint32_t> blocksOf(const BlockIndex &index, uint64_t mixed) {
  std::vector<uint32_t> blocks;
  index.find(mixed, [&](uint32_t block) { blocks.push_back(block); });
  return blocks;
}

TEST(BlockIndex, FindsAllKeysAndFewOthers) {
  BlockIndex index;
  std::map<uint64_t, uint32_t> content;
  std::mt19937_64 random(7);
  EXPECT_TRUE(blocksOf(index, 5).empty());
  uint32_t next = 0;
  for (int step = 0; step < 300000; ++step) {
    // Mixed keys of one shard: their top ten bits are equal.
    const uint64_t mixed = random() >> 10 | uint64_t(3) << 54;
    if (step % 3 == 2) {
      const auto gone = content.lower_bound(mixed);
      if (gone == content.end())
        continue;
      index.erase(gone->first, gone->second);
      content.erase(gone);
    } else if (content.emplace(mixed, next / 20).second) {
      index.insert(mixed, next++ / 20, 0.3);
    }
    ASSERT_EQ(index.size(), content.size());
  }
  ASSERT_GT(content.size(), 90000u);
  for (const auto &[mixed, block] : content) {
    const std::vector<uint32_t> blocks = blocksOf(index, mixed);
    ASSERT_NE(std::ranges::find(blocks, block), blocks.end());
  }
  size_t wrong = 0;
  constexpr size_t asked = 100000;
  for (size_t i = 0; i < asked; ++i)
    wrong += blocksOf(index, random() >> 10 | uint64_t(3) << 54).size();
  // A key is confused with each of 10^5 others with probability 2^-26.
  EXPECT_LT(wrong, asked / 200);
  EXPECT_LT(double(index.memoryBytes()), 7.0 * double(content.size()));
}

/// Block numbers may be too large for an index with so few keys.
TEST(BlockIndex, TakesAnyNumber) {
  BlockIndex index;
  std::mt19937_64 random(1);
  std::vector<uint64_t> keys(20);
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = random() >> 10;
    index.insert(keys[i], uint32_t(1) << i, 0);
  }
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(blocksOf(index, keys[i]),
              std::vector<uint32_t>{uint32_t(1) << i});
}

/// Keys that differ only in bits that the index does not store are removed one
/// at a time.
TEST(BlockIndex, KeysMayBeAlike) {
  BlockIndex index;
  constexpr uint64_t many = 40;
  for (uint64_t key = 0; key < many; ++key)
    index.insert(key, uint32_t(key), 0.9);
  for (uint64_t key = 0; key < many; ++key) {
    EXPECT_EQ(blocksOf(index, 0).size(), many - key);
    index.erase(key, uint32_t(key));
    EXPECT_EQ(blocksOf(index, 0).size(), many - key - 1);
  }
  EXPECT_EQ(index.size(), 0u);
}
