//===- TableMemoryTest.cpp - Memory use of tables -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TableKeys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

using namespace pdlrt;

// A small table cannot reach the overhead that is promised for some thousand
// rows per shard. This test detects plain doubling.
TEST(HashTable, OverheadPerKeyIsBounded) {
  TableOptions options = makeOptions(PDL_F32, 1);
  options.slotInitialValues.clear();
  auto table = createHashTable(options);
  TableScratch scratch;
  constexpr int64_t count = 1 << 20;
  std::vector<int64_t> keys(1 << 14);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  for (int64_t begin = 0; begin < count; begin += int64_t(keys.size())) {
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = begin + int64_t(i);
    ASSERT_TRUE(table
                    ->findOrInsert(keys.size(), keys.data(), rows.data(),
                                   scratch, inserted)
                    .ok());
  }
  const double overhead = double(table->memoryBytes()) / count - 4;
  EXPECT_LT(overhead, 25);
}

// The system allows a process some 65,000 mappings, independently of its
// memory.
TEST(HashTable, RowsTakeFewMappings) {
  auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    int64_t lines = 0;
    for (std::string line; std::getline(maps, line);)
      ++lines;
    return lines;
  };
  // 150 MB of rows.
  TableOptions options = makeOptions(PDL_F32, 4096);
  auto table = createHashTable(options);
  TableScratch scratch;
  std::vector<int64_t> keys(3000);
  std::iota(keys.begin(), keys.end(), 0);
  std::vector<void *> rows(keys.size());
  const int64_t before = mappings();
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(keys.size(), keys.data(), rows.data(), scratch,
                                 inserted)
                  .ok());
  EXPECT_GE(table->memoryBytes(), keys.size() * table->rowBytes());
  // A sanitizer has some of its own.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr int64_t most = 40;
#else
  constexpr int64_t most = 20;
#endif
  EXPECT_LT(mappings() - before, most);
}

/// Returns the resident memory of the process.
static size_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

// A model may have thousands of tables, most of them with few rows.
TEST(HashTable, SmallTablesStaySmall) {
  constexpr size_t tableCount = 200, emptyBytes = size_t(64) << 10;
  constexpr int64_t keyCount = 10;
  // In an almost empty table each row has its own region, of which it uses two
  // pages. The index uses a few cache lines.
  constexpr size_t heldForKey = size_t(32) << 10, usedForKey = size_t(12) << 10;
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  constexpr bool countsResident = false; // There is shadow memory, too.
#else
  constexpr bool countsResident = true;
#endif
  for (const int32_t admission : {PDL_ADMIT_ALL, PDL_ADMIT_COUNT}) {
    TableOptions options = makeOptions();
    options.life.admission = admission;
    options.life.admissionCount = 2;
    const size_t before = residentBytes();
    std::vector<std::unique_ptr<EmbeddingTable>> tables;
    for (size_t i = 0; i < tableCount; ++i)
      tables.push_back(createHashTable(options));
    EXPECT_LE(tables.front()->memoryBytes(), emptyBytes);
    if (countsResident)
      EXPECT_LE(residentBytes(), before + tableCount * emptyBytes);
    std::vector<int64_t> keys(keyCount);
    std::iota(keys.begin(), keys.end(), 0);
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    for (const auto &table : tables)
      ASSERT_TRUE(table
                      ->findOrInsert(keyCount, keys.data(), rows.data(),
                                     scratch, inserted)
                      .ok());
    EXPECT_EQ(inserted, int64_t(tableCount) * keyCount);
    EXPECT_LE(tables.front()->memoryBytes(),
              emptyBytes + keyCount * heldForKey);
    if (countsResident)
      EXPECT_LE(residentBytes(),
                before + tableCount * (emptyBytes + keyCount * usedForKey));
  }
}

TEST(HashTable, FewWideRowsTakeLittleMore) {
  for (const int64_t width : {300, 600, 2304, 12288}) {
    TableOptions options;
    options.width = width;
    const auto table = createHashTable(options);
    std::vector<int64_t> keys(512);
    std::iota(keys.begin(), keys.end(), 0);
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    ASSERT_TRUE(
        table->findOrInsert(512, keys.data(), rows.data(), scratch, inserted)
            .ok());
    EXPECT_LT(table->memoryBytes(),
              512 * table->rowBytes() * 33 / 32 + (size_t(7) << 20))
        << width;
  }
}
