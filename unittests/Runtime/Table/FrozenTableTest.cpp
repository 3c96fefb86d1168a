//===- FrozenTableTest.cpp - Rows that do not change ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/FrozenTable.h"

#include "Support/TestFolder.h"
#include "pdlabi/hash.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

using namespace pdlrt;

/// Returns a table whose rows contain their key three times.
static Expected<FrozenTable> tableOf(const std::vector<int64_t> &keys) {
  std::vector<uint64_t> places;
  Expected<FrozenTable> table =
      FrozenTable::build(keys, 3 * sizeof(int64_t), places);
  if (!table)
    return table;
  for (size_t i = 0; i < keys.size(); ++i)
    for (int part = 0; part < 3; ++part)
      std::memcpy(static_cast<int64_t *>(table->rowAt(places[i])) + part,
                  &keys[i], sizeof(int64_t));
  return table;
}

static void expectRows(const FrozenTable &table,
                       const std::vector<int64_t> &keys) {
  std::vector<void *> rows(keys.size());
  EXPECT_EQ(table.find(int64_t(keys.size()), keys.data(), rows.data()), 0);
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_NE(rows[i], nullptr) << keys[i];
    for (int part = 0; part < 3; ++part)
      EXPECT_EQ(static_cast<const int64_t *>(rows[i])[part], keys[i]);
  }
}

TEST(FrozenTableTest, HasEachKeyAndNoOther) {
  std::mt19937_64 draw(7);
  for (const size_t count : {1, 2, 6, 7, 8, 100, 20000}) {
    std::unordered_set<int64_t> drawn;
    while (drawn.size() < count)
      drawn.insert(int64_t(draw()));
    const std::vector<int64_t> keys(drawn.begin(), drawn.end());
    const Expected<FrozenTable> table = tableOf(keys);
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(table->size(), int64_t(count));
    expectRows(*table, keys);
    std::vector<int64_t> others;
    while (others.size() < 1000)
      if (const auto key = int64_t(draw()); !drawn.count(key))
        others.push_back(key);
    std::vector<void *> rows(others.size());
    EXPECT_EQ(table->find(1000, others.data(), rows.data()), 1000);
  }
}

TEST(FrozenTableTest, AllKeysAreLegal) {
  const std::vector<int64_t> keys = {0, -1, 1,
                                     std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
  const Expected<FrozenTable> table = tableOf(keys);
  ASSERT_TRUE(table.ok());
  expectRows(*table, keys);
}

TEST(FrozenTableTest, AnEmptyTableHasNothing) {
  const FrozenTable none;
  const Expected<FrozenTable> built = tableOf({});
  ASSERT_TRUE(built.ok());
  for (const FrozenTable *table : {&none, &*built}) {
    const int64_t keys[] = {0, 5};
    void *rows[] = {nullptr, nullptr};
    EXPECT_EQ(table->find(2, keys, rows), 2);
    EXPECT_EQ(table->size(), 0);
  }
}

/// Keys that start in one bucket continue through several, and past the last
/// one.
TEST(FrozenTableTest, FullBucketsContinueAfterTheLast) {
  for (const uint64_t top : {uint64_t(0), ~uint64_t(0) << 32}) {
    std::vector<int64_t> keys;
    for (uint64_t i = 0; i < 40; ++i)
      keys.push_back(int64_t(pdlabi::unmixKey(top | i)));
    const Expected<FrozenTable> table = tableOf(keys);
    ASSERT_TRUE(table.ok());
    expectRows(*table, keys);
    const auto other = int64_t(pdlabi::unmixKey(top | 40));
    void *row = nullptr;
    EXPECT_EQ(table->find(1, &other, &row), 1);
  }
}

TEST(FrozenTableTest, AKeyThatIsThereTwiceIsAnError) {
  const Expected<FrozenTable> table = tableOf({3, 4, -9, 5, -9});
  ASSERT_FALSE(table.ok());
  EXPECT_EQ(table.status().message(),
            "key -9 is there twice; keep one row of each");
}

TEST(FrozenTableTest, RowsThatWereFoundStay) {
  const Expected<FrozenTable> table = tableOf({1, 2});
  ASSERT_TRUE(table.ok());
  int64_t other = 0;
  const int64_t keys[] = {1, 2, 3};
  void *rows[] = {&other, nullptr, nullptr};
  EXPECT_EQ(table->find(3, keys, rows), 1);
  EXPECT_EQ(rows[0], &other);
  EXPECT_EQ(*static_cast<int64_t *>(rows[1]), 2);
}

TEST(FrozenTableTest, RemovedKeysHideNothing) {
  const Expected<FrozenTable> below = tableOf({1, 2, 3});
  std::vector<uint64_t> places;
  const Expected<FrozenTable> above =
      FrozenTable::build({2, 4, 3, 9}, 3 * sizeof(int64_t), places, 2);
  ASSERT_TRUE(below.ok() && above.ok());
  const int64_t keys[] = {1, 2, 3, 4, 5, 9};
  void *rows[6] = {};
  EXPECT_EQ(above->find(6, keys, rows), 2);
  EXPECT_EQ(rows[2], FrozenTable::removedRow);
  EXPECT_EQ(rows[5], FrozenTable::removedRow);
  void *const ofTwo = rows[1];
  EXPECT_EQ(below->find(6, keys, rows), 1);
  EXPECT_EQ(rows[1], ofTwo);
  EXPECT_EQ(rows[2], FrozenTable::removedRow);
  EXPECT_EQ(*static_cast<int64_t *>(rows[0]), 1);
  std::map<int64_t, bool> all;
  above->forEach([&](int64_t key, const char *row) { all[key] = row; });
  EXPECT_EQ(all, (std::map<int64_t, bool>{
                     {2, true}, {3, false}, {4, true}, {9, false}}));
}

TEST(FrozenTableTest, IsTheSameInAFile) {
  TestFolder folder;
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < 5000; ++i)
    keys.push_back(i * i - 7);
  for (const std::vector<int64_t> &some :
       {keys, std::vector<int64_t>(), std::vector<int64_t>{-3}}) {
    const Expected<FrozenTable> table = tableOf(some);
    ASSERT_TRUE(table.ok());
    FileDigest digest;
    ASSERT_TRUE(table->write(folder.file("rows"), digest).ok());
    EXPECT_EQ(digest.bytes, folder.read("rows").size());
    const Expected<FrozenTable> mapped =
        FrozenTable::map(folder.file("rows"), 3 * sizeof(int64_t), digest);
    EXPECT_TRUE(FrozenTable::verify(folder.file("rows"), digest).ok());
    ASSERT_TRUE(mapped.ok()) << mapped.status().message();
    EXPECT_TRUE(mapped->isMapped());
    EXPECT_EQ(mapped->size(), int64_t(some.size()));
    expectRows(*mapped, some);
  }
  FileDigest digest;
  const Expected<FrozenTable> table = tableOf({1, 2});
  ASSERT_TRUE(table.ok() && table->write(folder.file("rows"), digest).ok());
  EXPECT_FALSE(FrozenTable::map(folder.file("rows"), 8, digest).ok());
  EXPECT_FALSE(FrozenTable::map(folder.file("none"), 24, digest).ok());
  digest.hash ^= 1;
  EXPECT_FALSE(FrozenTable::map(folder.file("rows"), 24, digest).ok());
}

/// Only the file is read, whatever it contains.
TEST(FrozenTableTest, ADamagedFileIsRefusedOrHarmless) {
  TestFolder folder;
  std::vector<int64_t> keys;
  for (int64_t i = 0; i < 40; ++i)
    keys.push_back(i);
  const Expected<FrozenTable> table = tableOf(keys);
  ASSERT_TRUE(table.ok());
  FileDigest digest;
  ASSERT_TRUE(table->write(folder.file("rows"), digest).ok());
  const std::string whole = folder.read("rows");
  std::mt19937 draw(5);
  int refused = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    bytes[draw() % (round % 2 ? 128 : bytes.size())] ^= char(1 << draw() % 8);
    if (round % 7 == 0)
      bytes.resize(draw() % bytes.size());
    folder.write("damaged", bytes);
    const Expected<FrozenTable> mapped =
        FrozenTable::map(folder.file("damaged"), 3 * sizeof(int64_t), digest);
    EXPECT_EQ(FrozenTable::verify(folder.file("damaged"), digest).ok(),
              bytes == whole);
    if (!mapped) {
      ++refused;
      continue;
    }
    std::vector<void *> rows(keys.size());
    mapped->find(int64_t(keys.size()), keys.data(), rows.data());
    int64_t sum = 0;
    for (const void *row : rows)
      if (row)
        sum += *static_cast<const int64_t *>(row);
    mapped->forEach([&](int64_t key, const char *row) { sum += key + *row; });
    EXPECT_NE(sum, std::numeric_limits<int64_t>::min());
  }
  EXPECT_GT(refused, 200);
}

/// A process that maps a file assumes that every found row is in the file.
TEST(FrozenTableTest, AFileRemovesNoKeys) {
  TestFolder folder;
  std::vector<uint64_t> places;
  const Expected<FrozenTable> table =
      FrozenTable::build({2, 4, 3, 9}, 3 * sizeof(int64_t), places, 2);
  ASSERT_TRUE(table.ok());
  FileDigest digest;
  ASSERT_TRUE(table->write(folder.file("rows"), digest).ok());
  const Expected<FrozenTable> mapped =
      FrozenTable::map(folder.file("rows"), 3 * sizeof(int64_t), digest);
  ASSERT_TRUE(mapped.ok());
  const int64_t keys[] = {2, 3, 4, 5, 9};
  void *rows[5] = {};
  EXPECT_EQ(mapped->find(5, keys, rows), 1);
  for (const void *row : rows)
    if (row) {
      EXPECT_LT(mapped->placeOf(row), 4U);
    }
  mapped->forEach(
      [](int64_t key, const char *row) { EXPECT_TRUE(row) << key; });
}

TEST(FrozenTableTest, IndexTakesFewBytes) {
  std::vector<int64_t> keys(100000);
  for (size_t i = 0; i < keys.size(); ++i)
    keys[i] = int64_t(i);
  std::vector<uint64_t> places;
  const Expected<FrozenTable> table = FrozenTable::build(keys, 40, places);
  ASSERT_TRUE(table.ok());
  EXPECT_LT(double(table->memoryBytes()), 53.5 * double(keys.size()));
}
