//===- RecentBlocksTest.cpp - Blocks that were written last ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RecentBlocks.h"

#include "gtest/gtest.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

using namespace pdlrt;

namespace {

constexpr size_t quarter = 1 << 16, bufferBytes = 4 * quarter;

std::string blockOf(char what, size_t bytes = quarter) {
  return std::string(bytes, what);
}

/// Returns the first byte of a block, or 0 if it is not in the cache.
char firstOf(const RecentBlocks &blocks, uint64_t table, int shard,
             uint32_t number) {
  const RowStore::BlockName name = {shard, number};
  std::string_view found;
  const RecentBlocks::Held held = blocks.find(table, {&name, 1}, &found);
  return found.empty() ? char(0) : found.front();
}

/// Returns the file of the oldest buffer, as first bytes.
std::string writeOldest(RecentBlocks &blocks) {
  EXPECT_TRUE(blocks.waitForFull());
  std::string file;
  for (const RecentBlocks::Block &block : blocks.oldest())
    file += block.bytes.front();
  blocks.noteWritten();
  return file;
}

} // namespace

TEST(RecentBlocks, TheLastOfANameIsFound) {
  RecentBlocks blocks(bufferBytes);
  EXPECT_EQ(firstOf(blocks, 1, 2, 3), 0);
  blocks.put(1, 2, 3, "abc");
  blocks.put(1, 2, 4, "d");
  blocks.put(2, 2, 3, "e");
  blocks.put(1, 1023, 3, "f");
  const RowStore::BlockName name = {2, 3};
  std::string_view before;
  const RecentBlocks::Held held = blocks.find(1, {&name, 1}, &before);
  blocks.put(1, 2, 3, "xyz");
  EXPECT_EQ(before, "abc");
  EXPECT_EQ(firstOf(blocks, 1, 2, 3), 'x');
  EXPECT_EQ(firstOf(blocks, 1, 2, 4), 'd');
  EXPECT_EQ(firstOf(blocks, 2, 2, 3), 'e');
  EXPECT_EQ(firstOf(blocks, 1, 1023, 3), 'f');
  EXPECT_EQ(firstOf(blocks, 2, 1023, 3), 0);
  RecentBlocks::Held all;
  const RecentBlocks::Numbered ofShard = blocks.ofShard(1, 2, all);
  EXPECT_EQ(ofShard, (RecentBlocks::Numbered{{3, "xyz"}, {4, "d"}}));
}

TEST(RecentBlocks, FilesAreInOrderAndUpToDate) {
  RecentBlocks blocks(bufferBytes);
  blocks.put(2, 0, 7, blockOf('a'));
  blocks.put(1, 3, 9, blockOf('b'));
  blocks.put(1, 3, 8, blockOf('c'));
  blocks.put(1, 2, 9, blockOf('d'));
  // This fills the next buffer; one block of the first buffer is out of date.
  blocks.put(1, 3, 9, blockOf('e'));
  EXPECT_EQ(writeOldest(blocks), "dca");
  // A block is cached even though it has a file.
  EXPECT_EQ(firstOf(blocks, 2, 0, 7), 'a');
  EXPECT_EQ(firstOf(blocks, 1, 3, 9), 'e');
  // A block that was written to a file may be put again.
  blocks.put(2, 0, 7, blockOf('f', 4 * quarter));
  EXPECT_EQ(firstOf(blocks, 2, 0, 7), 'f');
  EXPECT_EQ(writeOldest(blocks), "e");
}

TEST(RecentBlocks, ABlockMayBeLargerThanABuffer) {
  RecentBlocks blocks(bufferBytes);
  blocks.put(1, 0, 0, "a");
  blocks.put(1, 0, 1, blockOf('b', bufferBytes + 1));
  blocks.put(1, 0, 2, "c");
  EXPECT_EQ(writeOldest(blocks), "a");
  EXPECT_EQ(writeOldest(blocks), "b");
  EXPECT_EQ(firstOf(blocks, 1, 0, 1), 'b');
  EXPECT_EQ(firstOf(blocks, 1, 0, 2), 'c');
}

TEST(RecentBlocks, WhatIsOldGoesOnceItHasAFile) {
  RecentBlocks blocks(bufferBytes);
  RecentBlocks::Held held;
  std::string_view first;
  for (uint32_t number = 0; number < 100; ++number) {
    blocks.put(1, 0, number, blockOf(char('a' + number % 26)));
    if (number == 0)
      held =
          blocks.find(1, std::array<RowStore::BlockName, 1>{{{0, 0}}}, &first);
    if (number % 4 == 0 && number > 0)
      EXPECT_EQ(writeOldest(blocks).size(), 4u);
  }
  RecentBlocks::Held all;
  const RecentBlocks::Numbered left = blocks.ofShard(1, 0, all);
  // Seven buffers, the last of which is full.
  EXPECT_EQ(left.size(), 28u);
  EXPECT_EQ(left.begin()->first, 72u);
  EXPECT_EQ(firstOf(blocks, 1, 0, 71), 0);
  EXPECT_EQ(firstOf(blocks, 1, 0, 72), char('a' + 72 % 26));
  EXPECT_EQ(first, blockOf('a'));
}

TEST(RecentBlocks, AShardMayHaveThemAll) {
  RecentBlocks blocks(1 << 12);
  std::map<uint32_t, char> expected;
  std::mt19937 random{3};
  for (int i = 0; i < 5000; ++i) {
    const uint32_t number = uint32_t(random() % 3000);
    const char what = char('a' + random() % 26);
    blocks.put(1, 7, number, std::string(16, what));
    expected[number] = what;
    if (i % 256 == 0 && i > 0)
      writeOldest(blocks);
  }
  RecentBlocks::Held held;
  const RecentBlocks::Numbered found = blocks.ofShard(1, 7, held);
  EXPECT_EQ(held.size(), 7u);
  EXPECT_GT(found.size(), 1000u);
  for (const auto &[number, bytes] : found)
    EXPECT_EQ(bytes.front(), expected[number]);
}

// A writer of blocks waits for the writer of files, which sees all blocks once.
// Concurrent readers find the blocks that have no file yet.
TEST(RecentBlocks, PutsWaitForFiles) {
  constexpr uint32_t count = 64;
  RecentBlocks blocks(bufferBytes);
  std::atomic<uint32_t> put{0}, filed{0};
  std::thread writer([&] {
    for (uint32_t number = 0; number < count; ++number) {
      blocks.put(1, int(number % 5), number, blockOf(char(number + 1)));
      put.store(number + 1);
    }
  });
  std::thread reader([&] {
    while (filed.load() + 4 < count) {
      const uint32_t begin = filed.load(), end = put.load();
      for (uint32_t number = begin; number < end; ++number)
        if (const char first = firstOf(blocks, 1, int(number % 5), number);
            first != char(number + 1)) {
          // The block got its file meanwhile, and was removed.
          EXPECT_EQ(first, 0);
          EXPECT_GT(filed.load(), number);
        }
    }
  });
  // Three buffers wait and a fourth is filled, but no more.
  while (put.load() < 16)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(put.load(), 16u);
  std::set<uint32_t> seen;
  while (filed.load() + 4 < count) {
    EXPECT_TRUE(blocks.waitForFull());
    for (const RecentBlocks::Block &block : blocks.oldest()) {
      EXPECT_EQ(block.bytes, blockOf(char(block.name.number + 1)));
      EXPECT_TRUE(seen.insert(block.name.number).second);
    }
    // Before the blocks can be removed.
    filed.store(uint32_t(seen.size()));
    blocks.noteWritten();
  }
  EXPECT_EQ(*seen.rbegin() + 1, seen.size());
  writer.join();
  reader.join();
  blocks.end();
  EXPECT_FALSE(blocks.waitForFull());
}
