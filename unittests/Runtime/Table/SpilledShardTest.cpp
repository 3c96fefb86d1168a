//===- SpilledShardTest.cpp - Spilled rows of a shard ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/SpilledShard.h"

#include "Support/TestFolder.h"
#include "Table/RocksLibrary.h"
#include "pdlabi/hash.h"
#include "pdlabi/table.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

using namespace pdlrt;

namespace {

class SpilledShardTest : public testing::Test {
protected:
  using Row = std::array<char, 24>;
  static constexpr int number = 9;
  /// A few blocks, so that most are read from files.
  static constexpr size_t bufferBytes = 1 << 14;

  void SetUp() override {
    if (const auto library = rocks::openLibrary(); !library)
      GTEST_SKIP() << library.status().message();
    auto opened = RowStore::open(folder.file("store"), bufferBytes);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    table = std::make_unique<SpilledTable>(
        SpilledTable{*std::move(opened), 5, BlockLayout(sizeof(Row))});
  }

  void add(int64_t key, char byte) {
    Row row;
    row.fill(byte);
    shard.add(*table, number, key, {uint32_t(byte), 0}, row.data());
  }
  /// Removes the row of a key. Returns whether it existed and had the expected
  /// content.
  bool take(int64_t key, char byte) {
    const BlockLayout &layout = table->layout;
    const size_t before = shard.size();
    std::vector<uint32_t> blocks;
    shard.find(pdlabi::mixKey(uint64_t(key)),
               [&](uint32_t block) { blocks.push_back(block); });
    Row wanted;
    wanted.fill(byte);
    bool isRight = false;
    const auto takeFrom = [&](uint32_t block, const char *bytes) {
      const int slot = shard.slotOf(layout, block, bytes, key);
      if (slot < 0)
        return;
      isRight = std::memcmp(layout.rowAt(bytes, uint32_t(slot)), wanted.data(),
                            sizeof(Row)) == 0 &&
                layout.headAt(bytes, uint32_t(slot)).noted == uint32_t(byte);
      shard.remove(layout, block, uint32_t(slot), key);
    };
    for (uint32_t block : blocks) {
      if (shard.isOpen(block)) {
        takeFrom(block, shard.open());
        continue;
      }
      const RowStore::BlockName name = {number, block};
      table->store->get(
          table->id, {&name, 1}, layout.bytes(),
          [&](size_t, const char *bytes) { takeFrom(block, bytes); });
    }
    return isRight && shard.size() + 1 == before;
  }

  TestFolder folder;
  std::unique_ptr<SpilledTable> table;
  SpilledShard shard;
};

} // namespace

/// Most rows of each block are removed, and some remain. The remaining ones are
/// moved together, so that there are at most twice as many blocks as the rows
/// need.
TEST_F(SpilledShardTest, BlocksAreUsedAgain) {
  const uint32_t capacity = table->layout.capacity();
  constexpr int64_t rounds = 2000;
  std::map<int64_t, char> stays;
  for (int64_t round = 0; round < rounds; ++round) {
    const char byte = char(round % 100);
    add(1000000 + round, byte);
    stays[1000000 + round] = byte;
    for (int64_t key = 1; key < capacity; ++key)
      add(key, byte);
    for (int64_t key = 1; key < capacity; ++key)
      ASSERT_TRUE(take(key, byte));
    shard.clean(*table, number);
  }
  EXPECT_EQ(shard.size(), size_t(rounds));
  EXPECT_LT(shard.blockCount(), 2 * rounds / capacity + 8);
  std::map<int64_t, char> found;
  shard.view(*table, number)
      .forEach([&](int64_t key, SpilledHead, const char *row) {
        EXPECT_TRUE(found.emplace(key, *row).second);
      });
  EXPECT_EQ(found, stays);
  for (const auto &[key, byte] : stays)
    EXPECT_TRUE(take(key, byte));
  EXPECT_EQ(shard.size(), 0u);
}

/// A search for changed rows reads only their blocks.
TEST_F(SpilledShardTest, BlocksKnowWhatHasChanged) {
  const uint32_t capacity = table->layout.capacity();
  Row row = {};
  int64_t next = 0;
  // A block of clean rows, and one with a dirty row for each number of saves.
  const uint32_t dirty = pdlabi::HeaderBits::dirty;
  for (uint32_t block = 0; block < 4; ++block)
    for (uint32_t i = 0; i < capacity; ++i)
      shard.add(*table, number, next++,
                {block > 0 && i == 7 ? dirty : 0, block}, row.data());
  for (uint32_t saves = 0; saves < 5; ++saves) {
    size_t rows = 0;
    shard.view(*table, number)
        .forEachChanged(saves,
                        [&](int64_t, SpilledHead, const char *) { ++rows; });
    EXPECT_EQ(rows, capacity * (4 - std::max(saves, 1u)) * (saves < 4));
  }
}
