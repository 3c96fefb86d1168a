//===- AddressBlocksTest.cpp - Memory that grows and never moves ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/AddressBlocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <new>
#include <string>
#include <sys/resource.h>

using namespace pdlrt;

namespace {

constexpr size_t step = AddressBlocks::stepBytes;

int64_t mappingsOfProcess() {
  std::ifstream maps("/proc/self/maps");
  int64_t lines = 0;
  for (std::string line; std::getline(maps, line);)
    ++lines;
  return lines;
}

TEST(AddressBlocksTest, WhatIsTakenFollowsWhatWasTaken) {
  AddressBlocks blocks;
  char *first = blocks.take(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % step, 0u);
  char *end = first + 100;
  for (const size_t bytes :
       {size_t(1), size_t(4096), step - 1, step, 3 * step}) {
    EXPECT_EQ(blocks.take(bytes), end);
    end += bytes;
  }
  EXPECT_EQ(blocks.blockCount(), 1u);
  EXPECT_TRUE(std::all_of(first, end, [](char byte) { return byte == 0; }));
  std::fill(first, end, 'x');
}

TEST(AddressBlocksTest, HoldsLittleMoreThanWasTaken) {
  AddressBlocks blocks;
  EXPECT_EQ(blocks.heldBytes(), 0u);
  blocks.take(1);
  EXPECT_EQ(blocks.heldBytes(), AddressBlocks::minBytes);
  for (size_t taken = 1; taken + 5000 < step; taken += 5000) {
    EXPECT_LE(blocks.heldBytes(), std::max(AddressBlocks::minBytes, 2 * taken));
    blocks.take(5000);
  }
}

TEST(AddressBlocksTest, HoldsLessThanAStepMoreAfterTheFirst) {
  AddressBlocks blocks;
  blocks.take(step);
  for (size_t taken = step; taken < 100 * step; taken += 5000) {
    EXPECT_LT(blocks.heldBytes(), taken + step);
    blocks.take(5000);
  }
}

TEST(AddressBlocksTest, GoesOnInAnotherBlock) {
  AddressBlocks blocks(4 * step);
  char *first = blocks.take(3 * step);
  char *second = blocks.take(2 * step);
  EXPECT_EQ(blocks.blockCount(), 2u);
  EXPECT_EQ(blocks.heldBytes(), 5 * step);
  // A request that is larger than a block gets its own block.
  char *large = blocks.take(9 * step);
  EXPECT_EQ(blocks.blockCount(), 3u);
  std::fill_n(first, 3 * step, 'a');
  std::fill_n(second, 2 * step, 'b');
  std::fill_n(large, 9 * step, 'c');
  EXPECT_EQ(first[3 * step - 1], 'a');
  EXPECT_EQ(second[2 * step - 1], 'b');
}

// The system allows a process 65,530 mappings. With one mapping per 2 MiB, that
// would be reached at about 64 GiB (with its neighbors) or 128 GiB.
TEST(AddressBlocksTest, SixtyFourGigabytesAreFewMappings) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    GTEST_SKIP() << "addresses of this process are limited";
  const int64_t before = mappingsOfProcess();
  AddressBlocks blocks;
  // The memory is not written to, so it uses no pages.
  constexpr int64_t steps = 33000;
  try {
    for (int64_t i = 0; i < steps; ++i)
      blocks.take(step);
  } catch (const std::bad_alloc &) {
    GTEST_SKIP() << "the system lends no memory in advance";
  }
  EXPECT_EQ(blocks.heldBytes(), steps * step);
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's shadow memory has mappings of its own";
#endif
  EXPECT_LT(mappingsOfProcess() - before, 200);
}

TEST(AddressBlocksTest, FailsWhereAddressesDoNotSufficeAndStaysAsItWas) {
  AddressBlocks blocks;
  char *first = blocks.take(10);
  EXPECT_THROW(blocks.take(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(blocks.take(SIZE_MAX), std::bad_alloc);
  EXPECT_EQ(blocks.blockCount(), 1u);
  EXPECT_EQ(blocks.take(10), first + 10);
}

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
// Limit addresses as `ulimit -v` does.
TEST(AddressBlocksTest, TakesSmallerBlocksWhereAddressesAreLimited) {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit narrow = before;
  narrow.rlim_cur = pages * 4096 + 200 * step;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &narrow), 0);
  {
    AddressBlocks blocks;
    for (int i = 0; i < 100; ++i)
      blocks.take(step)[0] = 'x';
    EXPECT_GE(blocks.heldBytes(), 100 * step);
    EXPECT_THROW(for (int i = 0; i < 200; ++i) blocks.take(step),
                 std::bad_alloc);
  }
  setrlimit(RLIMIT_AS, &before);
}
#endif

} // namespace
