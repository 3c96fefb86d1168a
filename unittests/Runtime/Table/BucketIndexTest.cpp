//===- BucketIndexTest.cpp - Index of a shard against std::map ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/BucketIndex.h"
#include "pdlabi/hash.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>

using namespace pdlrt;

// A restored table then does not grow in the first steps after the restore.
TEST(BucketIndex, ReservingGrowsAsInsertingDoes) {
  for (const double phase : {0.0, 0.3127, 1023.0 / 1024})
    for (uint64_t count = 0; count < 3000; count += 1 + count / 5) {
      BucketPool pool;
      BucketIndex grown, reserved;
      const auto add = [&](BucketIndex &index, uint64_t i) {
        index.insert(pdlabi::mixKey(i), uint32_t(i), phase, pool);
      };
      reserved.reserve(count, phase, pool);
      const size_t before = reserved.memoryBytes();
      for (uint64_t i = 0; i < count; ++i) {
        add(grown, i);
        add(reserved, i);
      }
      ASSERT_EQ(reserved.memoryBytes(), before) << count;
      for (uint64_t i = count; i < 2 * count + 20; ++i) {
        ASSERT_EQ(reserved.memoryBytes(), grown.memoryBytes())
            << i << " after " << count;
        add(grown, i);
        add(reserved, i);
      }
    }
}

// Otherwise keys would be moved more often than intended.
TEST(BucketIndex, GrowsByAQuarter) {
  for (int shard = 0; shard < 1024; ++shard) {
    const double phase = shard / 1024.0;
    for (uint64_t size = 0, next = 0; size < 100'000'000; size = next) {
      next = BucketIndex::grown(size, phase);
      ASSERT_GT(next, size);
      if (size >= 20) {
        ASSERT_GE(double(next), 1.19 * double(size)) << phase;
        ASSERT_LE(double(next), 1.31 * double(size)) << phase;
      }
    }
  }
}

// Covers large indices, and keys that crowd a few slots, also across the end.
TEST(BucketIndex, ErasesLikeAMap) {
  uint64_t state = 5;
  const auto random = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (const bool crowded : {false, true}) {
    BucketPool pool;
    BucketIndex index;
    std::map<uint64_t, uint32_t> reference;
    // The bits below the top ten choose the slots of a search.
    const auto draw = [&] {
      const uint64_t key = pdlabi::mixKey(random(12000)) & ((1ull << 54) - 1);
      return crowded ? (key & ((1ull << 40) - 1)) |
                           (random(2) ? 0x3fffull << 40 : 0x1000ull << 40)
                     : key;
    };
    for (int i = 0; i < 120000; ++i) {
      const uint64_t key = draw();
      uint32_t row = 0;
      const auto known = reference.find(key);
      ASSERT_EQ(index.find(key, row), known != reference.end());
      if (known == reference.end()) {
        index.insert(key, uint32_t(i), 0.4, pool);
        reference.emplace(key, uint32_t(i));
      } else {
        ASSERT_EQ(row, known->second);
        if (random(2)) {
          ASSERT_TRUE(index.erase(key, row));
          ASSERT_EQ(row, known->second);
          reference.erase(known);
        }
      }
    }
    std::map<uint64_t, uint32_t> found;
    index.forEach([&](uint64_t key, uint32_t row) { found.emplace(key, row); });
    EXPECT_EQ(found, reference);
    EXPECT_GT(reference.size(), 32u * 6u);
  }
}
