//===- HashTableTest.cpp - Tables against std::map ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TableKeys.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/InitialValues.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <thread>

using namespace pdlrt;

TEST(HashTable, KeepsEveryKeyAcrossGrowth) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  std::map<int64_t, void *> reference;
  std::vector<int64_t> keys = makeKeys(60000);
  for (size_t begin = 0; begin < keys.size(); begin += 7000) {
    const int64_t count = std::min<int64_t>(7000, keys.size() - begin);
    std::vector<void *> rows(count);
    int64_t inserted = 0;
    ASSERT_TRUE(table
                    ->findOrInsert(count, keys.data() + begin, rows.data(),
                                   scratch, inserted)
                    .ok());
    const size_t before = reference.size();
    for (int64_t i = 0; i < count; ++i) {
      auto [found, isNew] = reference.insert({keys[begin + i], rows[i]});
      EXPECT_EQ(found->second, rows[i]);
    }
    EXPECT_EQ(inserted, int64_t(reference.size() - before));
  }
  EXPECT_EQ(table->size(), int64_t(reference.size()));
  std::set<void *> distinct;
  for (auto [key, row] : reference)
    distinct.insert(row);
  EXPECT_EQ(distinct.size(), reference.size());

  // Rows have not moved, and searching inserts nothing.
  keys.push_back(123456789012345);
  std::vector<void *> rows(keys.size());
  EXPECT_EQ(table->find(keys.size(), keys.data(), rows.data(), scratch), 1);
  for (size_t i = 0; i + 1 < keys.size(); ++i)
    ASSERT_EQ(rows[i], reference[keys[i]]);
  EXPECT_EQ(rows.back(), nullptr);
  EXPECT_EQ(table->size(), int64_t(reference.size()));
}

TEST(HashTable, AShardIsInsertedAtOnce) {
  auto table = createHashTable(makeOptions()),
       other = createHashTable(makeOptions());
  TableScratch scratch;
  const std::vector<int64_t> keys = makeKeys(60000);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                                 scratch, inserted)
                  .ok());
  RowList expected, found;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table->collectShard(s, expected);
    ASSERT_TRUE(std::is_sorted(
        expected.begin(), expected.end(),
        [](const TableRow &a, const TableRow &b) { return a.key < b.key; }));
    std::vector<int64_t> all;
    for (const TableRow &row : expected)
      all.push_back(row.key);
    // A third exists already and does not move.
    const auto first = int64_t(all.size() / 3), count = int64_t(all.size());
    std::vector<void *> before(count), places(count), again(count);
    ASSERT_TRUE(
        other->insertShard(s, first, all.data(), before.data(), NewRow::Initial)
            .ok());
    ASSERT_TRUE(
        other->insertShard(s, count, all.data(), places.data(), NewRow::Initial)
            .ok());
    EXPECT_EQ(other->find(count, all.data(), again.data(), scratch), 0);
    EXPECT_EQ(again, places);
    EXPECT_TRUE(
        std::equal(before.begin(), before.begin() + first, places.begin()));
    other->collectShard(s, found);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].key, expected[i].key);
      ASSERT_EQ(std::memcmp(found[i].row, expected[i].row, table->rowBytes()),
                0);
    }
  }
  EXPECT_EQ(other->size(), table->size());
}

// Shards that are larger than in any other test.
TEST(HashTable, CollectedRowsAreOrdered) {
  auto table = createHashTable(makeOptions());
  std::vector<int64_t> keys;
  for (const int64_t start : {int64_t(0), int64_t(-1) << 40, int64_t(1) << 62})
    for (int64_t k = start; keys.size() % 9000 || k == start; ++k)
      if (EmbeddingTable::shardOf(k) == 17)
        keys.push_back(k);
  std::vector<void *> rows(keys.size());
  ASSERT_TRUE(table
                  ->insertShard(17, int64_t(keys.size()), keys.data(),
                                rows.data(), NewRow::Open)
                  .ok());
  RowList found;
  table->collectShard(17, found);
  std::sort(keys.begin(), keys.end());
  ASSERT_EQ(found.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(found[i].key, keys[i]);
}

TEST(HashTable, RowSlotsHaveOneElement) {
  TableOptions options = makeOptions(PDL_F32, 5);
  options.slotInitialValues = {0.5, 2, 3};
  options.rowSlotCount = 2;
  auto table = createHashTable(std::move(options));
  EXPECT_EQ(table->rowBytes(), (5 + 5 + 1 + 1) * sizeof(float));
  TableScratch scratch;
  const std::vector<int64_t> keys = makeKeys(5000);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                                 scratch, inserted)
                  .ok());
  for (size_t i = 0; i < keys.size(); ++i) {
    float value[5];
    table->initialValue(keys[i], value);
    const auto *row = static_cast<const float *>(rows[i]);
    ASSERT_EQ(std::memcmp(row, value, sizeof(value)), 0);
    const std::vector<float> slots(row + 5, row + 12);
    ASSERT_EQ(slots, (std::vector<float>{0.5, 0.5, 0.5, 0.5, 0.5, 2, 3}));
  }
}

TEST(HashTable, RepeatedKeysOfOneCallShareARow) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  const int64_t keys[] = {5, 0, 5, 5, 0};
  void *rows[5];
  int64_t inserted = 0;
  ASSERT_TRUE(table->findOrInsert(5, keys, rows, scratch, inserted).ok());
  EXPECT_EQ(inserted, 2);
  EXPECT_EQ(rows[0], rows[2]);
  EXPECT_EQ(rows[0], rows[3]);
  EXPECT_EQ(rows[1], rows[4]);
  EXPECT_NE(rows[0], rows[1]);
}

template <typename T> static void checkInitialRows(int32_t type) {
  auto table = createHashTable(makeOptions(type, 5));
  EXPECT_EQ(table->valueBytes(), 5 * sizeof(T));
  EXPECT_EQ(table->rowBytes(), 15 * sizeof(T));
  TableScratch scratch;
  std::vector<int64_t> keys = makeKeys(100);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(keys.size(), keys.data(), rows.data(), scratch,
                                 inserted)
                  .ok());
  for (size_t i = 0; i < keys.size(); ++i) {
    T expected[5];
    fillInitialValues(type, table->options().initializer, 5, 99, keys[i], 5,
                      expected);
    auto *row = static_cast<const T *>(rows[i]);
    for (int j = 0; j < 5; ++j) {
      EXPECT_EQ(row[j], expected[j]);
      EXPECT_EQ(row[5 + j], T(0));
      EXPECT_EQ(row[10 + j], T(0.125));
    }
  }
}

TEST(HashTable, NewRowsHoldTheirInitialValues) {
  checkInitialRows<float>(PDL_F32);
  checkInitialRows<double>(PDL_F64);
}

template <typename Stored> static void checkStoredRows(int32_t storage) {
  for (int64_t width : {4, 5}) {
    TableOptions options = makeOptions(PDL_F32, width);
    options.storage = storage;
    options.rowSlotCount = 1;
    options.slotInitialValues = {0, 0.25, 0.125};
    options.frozenPart = 2;
    auto table = createHashTable(options);
    // An odd number of values is padded to a word.
    const size_t valueBytes = width == 5 ? 12 : 8;
    EXPECT_EQ(table->valueBytes(), valueBytes);
    EXPECT_EQ(table->rowBytes(), valueBytes + (2 * width + 1) * sizeof(float));
    EXPECT_EQ(table->frozenOffset(), valueBytes + width * sizeof(float));
    EXPECT_EQ(table->frozenStorage(), PDL_STORE_ELEMENT);
    EXPECT_EQ(table->elementBytes(), width * sizeof(float));
    TableScratch scratch;
    const std::vector<int64_t> keys = makeKeys(100);
    std::vector<void *> rows(keys.size());
    int64_t inserted = 0;
    ASSERT_TRUE(table
                    ->findOrInsert(keys.size(), keys.data(), rows.data(),
                                   scratch, inserted)
                    .ok());
    for (size_t i = 0; i < keys.size(); ++i) {
      float exact[5], frozen[5], initial[5];
      fillInitialValues(PDL_F32, options.initializer, 5, 99, keys[i], width,
                        exact);
      auto *row = static_cast<const char *>(rows[i]);
      auto *stored = reinterpret_cast<const Stored *>(row);
      auto *slots = reinterpret_cast<const float *>(row + valueBytes);
      table->frozenElements(row, frozen);
      table->initialElements(keys[i], initial);
      for (int64_t j = 0; j < width; ++j) {
        EXPECT_EQ(stored[j].bits, Stored(exact[j]).bits);
        EXPECT_EQ(slots[j], 0.0f);
        for (float value : {slots[width + j], frozen[j], initial[j]})
          EXPECT_EQ(value, float(Stored(exact[j])));
      }
      EXPECT_EQ(slots[2 * width], 0.125f);
      if (width == 5)
        EXPECT_EQ(stored[5].bits, 0);
    }
    options.frozenPart = 0;
    auto plain = createHashTable(options);
    EXPECT_EQ(plain->frozenOffset(), 0u);
    EXPECT_EQ(plain->frozenStorage(), storage);
    float frozen[5];
    plain->frozenElements(rows[0], frozen);
    for (int64_t j = 0; j < width; ++j)
      EXPECT_EQ(frozen[j], float(static_cast<const Stored *>(rows[0])[j]));
  }
}

TEST(HashTable, ValuesOfSixteenBitsStandBeforeSlots) {
  checkStoredRows<pdlabi::BFloat16>(PDL_STORE_BF16);
  checkStoredRows<pdlabi::Float16>(PDL_STORE_F16);
}

TEST(HashTable, ShardsListTheirKeysAscending) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  std::vector<int64_t> keys = makeKeys(20000);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(keys.size(), keys.data(), rows.data(), scratch,
                                 inserted)
                  .ok());
  std::map<int64_t, void *> seen;
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    RowList list;
    table->collectShard(shard, list);
    EXPECT_EQ(int64_t(list.size()), table->shardSize(shard));
    for (size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(EmbeddingTable::shardOf(list[i].key), shard);
      if (i)
        EXPECT_LT(list[i - 1].key, list[i].key);
      seen[list[i].key] = list[i].row;
    }
  }
  EXPECT_EQ(int64_t(seen.size()), inserted);
  for (size_t i = 0; i < keys.size(); ++i)
    ASSERT_EQ(seen[keys[i]], rows[i]);
}

TEST(HashTable, ThreadsInsertTogether) {
  auto table = createHashTable(makeOptions());
  std::vector<int64_t> keys = makeKeys(20000);
  std::vector<std::vector<void *>> rows(4, std::vector<void *>(keys.size()));
  std::atomic<int64_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      TableScratch scratch;
      int64_t inserted = 0;
      for (size_t begin = 0; begin < keys.size(); begin += 500) {
        const int64_t count = std::min<int64_t>(500, keys.size() - begin);
        EXPECT_TRUE(table
                        ->findOrInsert(count, keys.data() + begin,
                                       rows[t].data() + begin, scratch,
                                       inserted)
                        .ok());
      }
      total += inserted;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(total, table->size());
  EXPECT_EQ(total, int64_t(std::set<int64_t>(keys.begin(), keys.end()).size()));
  for (int t = 1; t < 4; ++t)
    EXPECT_EQ(rows[t], rows[0]);
}

// For example the keys of a checkpoint, of which one part may have more than
// 2^31.
TEST(HashTable, CallsOfAnyLengthGiveTheSame) {
  const std::vector<int64_t> keys = makeKeys(5000);
  std::vector<int64_t> twice = keys;
  twice.insert(twice.end(), keys.begin(), keys.end());
  TableScratch scratch;
  for (const int64_t keysAtOnce : {int64_t(1), int64_t(7), int64_t(4999)}) {
    auto whole = createHashTable(makeOptions());
    auto cut = createHashTable(makeOptions(), keysAtOnce);
    std::vector<void *> wholeRows(twice.size()), cutRows(twice.size());
    int64_t wholeInserted = 0, cutInserted = 0;
    ASSERT_TRUE(whole
                    ->findOrInsert(twice.size(), twice.data(), wholeRows.data(),
                                   scratch, wholeInserted)
                    .ok());
    ASSERT_TRUE(cut->findOrInsert(twice.size(), twice.data(), cutRows.data(),
                                  scratch, cutInserted)
                    .ok());
    EXPECT_EQ(cutInserted, wholeInserted);
    EXPECT_EQ(cut->size(), whole->size());
    for (size_t i = 0; i < twice.size(); ++i)
      ASSERT_EQ(std::memcmp(cutRows[i], wholeRows[i], cut->rowBytes()), 0);
    std::vector<void *> found(twice.size());
    twice.back() = 123456789012345;
    EXPECT_EQ(cut->find(twice.size(), twice.data(), found.data(), scratch), 1);
    for (size_t i = 0; i + 1 < twice.size(); ++i)
      ASSERT_EQ(found[i], cutRows[i]);
    twice.back() = keys.back();
  }
}

// Compares with a map.
TEST(HashTable, ErasesLikeAMap) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  std::map<int64_t, void *> reference;
  uint64_t state = 9;
  auto random = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int64_t((state >> 33) % below);
  };
  size_t memory = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<int64_t> keys(4000);
    for (int64_t &key : keys)
      key = random(30000);
    std::vector<void *> rows(keys.size());
    if (round % 2) {
      std::set<int64_t> gone;
      for (int64_t key : keys)
        if (reference.erase(key))
          gone.insert(key);
      EXPECT_EQ(table->erase(int64_t(keys.size()), keys.data(), scratch),
                int64_t(gone.size()));
    } else {
      int64_t inserted = 0;
      ASSERT_TRUE(table
                      ->findOrInsert(int64_t(keys.size()), keys.data(),
                                     rows.data(), scratch, inserted)
                      .ok());
      for (size_t i = 0; i < keys.size(); ++i)
        ASSERT_EQ(reference.emplace(keys[i], rows[i]).first->second, rows[i]);
    }
    table->quiesce(uint16_t(round));
    ASSERT_EQ(table->size(), int64_t(reference.size()));
    std::vector<int64_t> all(30000);
    std::iota(all.begin(), all.end(), 0);
    rows.resize(all.size());
    table->find(int64_t(all.size()), all.data(), rows.data(), scratch);
    std::set<void *> distinct;
    for (int64_t key : all) {
      const auto found = reference.find(key);
      ASSERT_EQ(rows[key], found == reference.end() ? nullptr : found->second);
      distinct.insert(rows[key]);
    }
    distinct.erase(nullptr);
    EXPECT_EQ(distinct.size(), reference.size());
    if (round == 20)
      memory = table->memoryBytes();
  }
  // Memory of erased rows is reused.
  EXPECT_LT(table->memoryBytes(), memory + memory / 4);
}

TEST(HashTable, ErasedRowsAreNewAfterTheSecondQuiescentPoint) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  const int64_t key = 7;
  auto rowOf = [&] {
    RowHandle handle;
    void *row = nullptr;
    int64_t inserted = 0;
    EXPECT_TRUE(table->pull(1, &key, &handle, scratch, inserted).ok());
    EXPECT_EQ(handle.shard(), EmbeddingTable::shardOf(key));
    table->rowsOf(1, &handle, &row);
    return row;
  };
  void *first = rowOf();
  table->layout().headerOf(first).noteUpdate(3);
  EXPECT_EQ(table->erase(1, &key, scratch), 1);
  EXPECT_EQ(table->erase(1, &key, scratch), 0);
  void *second = rowOf();
  EXPECT_NE(second, first);
  table->quiesce(4);
  EXPECT_EQ(table->erase(1, &key, scratch), 1);
  void *third = rowOf();
  EXPECT_NE(third, first);
  EXPECT_NE(third, second);
  table->quiesce(5);
  EXPECT_EQ(table->erase(1, &key, scratch), 1);
  void *fourth = rowOf();
  EXPECT_EQ(fourth, first);
  const RowHeader &header = table->layout().headerOf(fourth);
  EXPECT_EQ(header.uses(), 0u);
  EXPECT_EQ(header.lastUse(), 5);
  EXPECT_TRUE(header.isDirty());
}

TEST(HashTable, OnlyRowsOfACheckpointAreClean) {
  auto table = createHashTable(makeOptions());
  std::vector<int64_t> keys;
  for (int64_t key = 0; keys.size() < 4; ++key)
    if (EmbeddingTable::shardOf(key) == 3)
      keys.push_back(key);
  void *rows[4];
  ASSERT_TRUE(table->insertShard(3, 2, keys.data(), rows, NewRow::Open).ok());
  ASSERT_TRUE(
      table->insertShard(3, 2, keys.data() + 2, rows + 2, NewRow::Initial)
          .ok());
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(table->layout().headerOf(rows[i]).isDirty(), i >= 2);
}

TEST(HashTable, ReportsChanges) {
  auto table = createHashTable(makeOptions());
  TableScratch scratch;
  std::vector<int64_t> keys;
  for (int64_t key = 0; keys.size() < 200; ++key)
    if (EmbeddingTable::shardOf(key) == 3 || EmbeddingTable::shardOf(key) == 20)
      keys.push_back(key);
  std::vector<void *> rows(keys.size());
  int64_t inserted = 0;
  ASSERT_TRUE(table
                  ->findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                                 scratch, inserted)
                  .ok());
  const auto changedKeys = [&](int shard) {
    RowList changed;
    table->collectChanged(shard, changed);
    std::vector<int64_t> found;
    for (const TableRow &row : changed)
      found.push_back(row.key);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    return found;
  };
  EXPECT_EQ(changedKeys(3).size() + changedKeys(20).size(), keys.size());
  for (void *row : rows)
    table->layout().headerOf(row).noteSaved();
  EXPECT_TRUE(changedKeys(3).empty());
  table->layout().headerOf(rows[9]).noteWrite();
  table->layout().headerOf(rows[2]).noteUpdate(1);
  std::vector<int64_t> changed = changedKeys(3), more = changedKeys(20);
  changed.insert(changed.end(), more.begin(), more.end());
  std::sort(changed.begin(), changed.end());
  EXPECT_EQ(changed, (std::vector<int64_t>{keys[2], keys[9]}));

  // The log of erased keys was not requested.
  EXPECT_EQ(table->erase(1, keys.data(), scratch), 1);
  EXPECT_TRUE(table->takeErased().empty());
  table->trackErased(true);
  EXPECT_EQ(table->erase(5, keys.data(), scratch), 4);
  void *row = nullptr;
  ASSERT_TRUE(table->findOrInsert(1, &keys[4], &row, scratch, inserted).ok());
  EXPECT_EQ(table->erase(1, &keys[4], scratch), 1);
  std::vector<int64_t> expected(keys.begin() + 1, keys.begin() + 5);
  std::sort(expected.begin(), expected.end(), [](int64_t a, int64_t b) {
    return std::pair(EmbeddingTable::shardOf(a), a) <
           std::pair(EmbeddingTable::shardOf(b), b);
  });
  EXPECT_EQ(table->takeErased(), expected);
  EXPECT_TRUE(table->takeErased().empty());
  EXPECT_EQ(table->erase(1, &keys[7], scratch), 1);
  table->trackErased(true);
  EXPECT_TRUE(table->takeErased().empty());
}

TEST(RowHeader, CountsAndSaturates) {
  RowHeader header = {};
  header.begin(9);
  EXPECT_EQ(header.uses(), 0u);
  EXPECT_EQ(header.lastUse(), 9);
  EXPECT_TRUE(header.isDirty());
  header.noteSaved();
  EXPECT_FALSE(header.isDirty());
  header.noteWrite();
  EXPECT_TRUE(header.isDirty());
  EXPECT_EQ(header.lastUse(), 9);
  header.begin(9);
  for (int i = 0; i < 6; ++i)
    header.noteUpdate(RowHeader::timeMask);
  EXPECT_EQ(header.uses(), 6u);
  EXPECT_TRUE(header.isDirty());
  EXPECT_EQ(header.age(2), 3);
  header.noteSaved();
  EXPECT_FALSE(header.isDirty());
  EXPECT_EQ(header.lastUse(), RowHeader::timeMask);
  for (int i = 0; i < 70000; ++i)
    header.noteUpdate(0);
  EXPECT_EQ(header.uses(), RowHeader::maxUses);
  EXPECT_EQ(header.lastUse(), 0);
}

// Each row has its own header, and no two overlap.
TEST(RowLayout, HeadersAndRowsLieApart) {
  for (const size_t alignment : {size_t(4), size_t(8)})
    for (const size_t bytes : {1, 4, 12, 40, 64, 120, 128, 192, 1000, 4096,
                               5000, 16384, 100000, 1 << 20, 3 << 20}) {
      const RowLayout layout(bytes, alignment);
      const auto region = std::unique_ptr<char, decltype(&std::free)>(
          static_cast<char *>(
              std::aligned_alloc(size_t(2) << 20, size_t(4) << 20)),
          std::free);
      ASSERT_LE(layout.regionBytes(), size_t(4) << 20);
      size_t end = layout.rowsOfRegion() * sizeof(RowHeader);
      for (uint32_t row = 0; row < layout.rowsOfRegion(); ++row) {
        ASSERT_GE(layout.offsetOf(row), end) << bytes;
        ASSERT_EQ(layout.offsetOf(row) % alignment, 0u);
        end = layout.offsetOf(row) + bytes;
        ASSERT_EQ(&layout.headerOf(region.get() + layout.offsetOf(row)),
                  &layout.headerOf(region.get(), row))
            << row << " of " << bytes;
      }
      ASSERT_LE(end, layout.regionBytes());
      EXPECT_GE(double(layout.rowsOfRegion()) *
                    double((bytes + alignment - 1) / alignment * alignment +
                           sizeof(RowHeader)),
                0.96 * double(layout.regionBytes()))
          << bytes;
    }
}

// Pointers to rows that remain never move, and their contents stay unchanged.
TEST(HashTable, ThreadsEraseConcurrently) {
  auto table = createHashTable(makeOptions());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      TableScratch scratch;
      // Half of each thread's rows remain.
      std::vector<int64_t> keep, lose;
      for (int64_t i = 0; i < 1000; ++i) {
        keep.push_back(6 * i + t);
        lose.push_back(6 * i + 3 + t);
      }
      std::vector<void *> kept(keep.size()), again(keep.size());
      int64_t inserted = 0;
      EXPECT_TRUE(
          table->findOrInsert(1000, keep.data(), kept.data(), scratch, inserted)
              .ok());
      for (int round = 0; round < 20; ++round) {
        EXPECT_TRUE(table
                        ->findOrInsert(1000, lose.data(), again.data(), scratch,
                                       inserted)
                        .ok());
        EXPECT_EQ(table->erase(1000, lose.data(), scratch), 1000);
        EXPECT_EQ(table->find(1000, keep.data(), again.data(), scratch), 0);
        EXPECT_EQ(again, kept);
      }
    });
  for (int i = 0; i < 20; ++i)
    table->quiesce(uint16_t(i));
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(table->size(), 3000);
}
