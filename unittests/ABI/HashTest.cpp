//===- HashTest.cpp - Hashes of text and keys -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/hash.h"

#include "gtest/gtest.h"

#include <set>
#include <vector>

namespace {

/// Values printed by the format's specification and its tools.
TEST(HashTest, KnownTexts) {
  EXPECT_EQ(pdlabi::hashText("", 0), 0xef46db3751d8e999ull);
  EXPECT_EQ(pdlabi::hashText("a", 0), 0xd24ec4f1a98c6e5bull);
  EXPECT_EQ(pdlabi::hashText("abc", 0), 0x44bc2cf5ad770999ull);
  EXPECT_NE(pdlabi::hashText("abc", 1), pdlabi::hashText("abc", 0));
  EXPECT_EQ(pdlabi::symbolId("abc"), 0x44bc2cf5ad770999ull);
}

TEST(HashTest, CrossHashesLittleEndianBytesInOrder) {
  const int64_t keys[] = {0x0807060504030201, -2, 0};
  std::string bytes;
  for (int64_t key : keys)
    for (int shift = 0; shift < 64; shift += 8)
      bytes.push_back(static_cast<char>(static_cast<uint64_t>(key) >> shift));
  for (size_t count = 1; count <= 3; ++count)
    EXPECT_EQ(static_cast<uint64_t>(pdlabi::crossKeys(keys, count, 77)),
              pdlabi::hashText({bytes.data(), 8 * count}, 77));
  const int64_t swapped[] = {-2, 0x0807060504030201};
  EXPECT_NE(pdlabi::crossKeys(keys, 2, 77), pdlabi::crossKeys(swapped, 2, 77));
}

TEST(HashTest, MixingFlipsHalfOfTheBits) {
  constexpr int samples = 4096;
  int flips[64][64] = {};
  for (int sample = 0; sample < samples; ++sample) {
    // Both small keys and hashed keys occur.
    const uint64_t key =
        sample % 2 ? static_cast<uint64_t>(sample)
                   : pdlabi::hashText("key", static_cast<uint64_t>(sample));
    const uint64_t mixed = pdlabi::mixKey(key);
    ASSERT_EQ(pdlabi::unmixKey(mixed), key);
    for (int in = 0; in < 64; ++in) {
      const uint64_t difference =
          mixed ^ pdlabi::mixKey(key ^ (uint64_t(1) << in));
      for (int out = 0; out < 64; ++out)
        flips[in][out] += (difference >> out) & 1;
    }
  }
  for (int in = 0; in < 64; ++in)
    for (int out = 0; out < 64; ++out) {
      EXPECT_GT(flips[in][out], samples * 3 / 10) << in << " to " << out;
      EXPECT_LT(flips[in][out], samples * 7 / 10) << in << " to " << out;
    }
}

TEST(HashTest, ShardsAreBalanced) {
  // Sequential ids, ids with a slot in the upper bits, multiples of a power of
  // two.
  const auto patterns = {+[](int64_t i) { return i; },
                         +[](int64_t i) { return -i; },
                         +[](int64_t i) { return i << 12; },
                         +[](int64_t i) { return (i % 32) << 58 | i / 32; }};
  for (auto pattern : patterns) {
    constexpr int64_t count = 100 * pdlabi::logicalShardCount;
    std::vector<int> sizes(pdlabi::logicalShardCount);
    for (int64_t i = 0; i < count; ++i) {
      const int shard = pdlabi::shardOfKey(pattern(i));
      ASSERT_GE(shard, 0);
      ASSERT_LT(shard, pdlabi::logicalShardCount);
      ++sizes[static_cast<size_t>(shard)];
    }
    // Six standard deviations of a fair draw.
    EXPECT_GT(*std::min_element(sizes.begin(), sizes.end()), 40);
    EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), 160);
  }
}

TEST(HashTest, ShardIsTheTopTenBitsOfTheMixedKey) {
  for (int64_t key : {int64_t(0), int64_t(1), int64_t(-1), INT64_MIN})
    EXPECT_EQ(static_cast<uint64_t>(pdlabi::shardOfKey(key)),
              pdlabi::mixKey(static_cast<uint64_t>(key)) >> 54);
}

} // namespace
