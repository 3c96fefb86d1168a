//===- SpillingTableTest.cpp - A table that spills rows to a folder -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The oracle is a table in memory that does the same without eviction.
//
//===----------------------------------------------------------------------===//

#include "Support/TestFolder.h"
#include "Table/RocksLibrary.h"
#include "pdlabi/hash.h"
#include "pdlrt/State/TableBound.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/RowStore.h"
#include "pdlrt/Table/TableSnapshot.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace pdlrt;

namespace {

/// The bytes of each row.
using Content = std::map<int64_t, std::string>;

TableOptions optionsOf(const TableLife &life) {
  TableOptions options;
  options.name = "t";
  options.id = 5;
  options.width = 3;
  options.seed = 11;
  options.initializer = {PDL_INIT_UNIFORM, -1, 1};
  options.life = life;
  options.life.isBounded = true;
  // A count, and the period.
  if (life.hasPeriods()) {
    options.slotInitialValues = {0, 0};
    options.rowSlotCount = 2;
  }
  return options;
}

Content contentOf(const EmbeddingTable &table) {
  Content content;
  RowList rows;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectShard(s, rows);
    EXPECT_EQ(int64_t(rows.size()), table.shardSize(s));
    EXPECT_TRUE(std::ranges::is_sorted(rows, {}, &TableRow::key));
    for (const TableRow &row : rows)
      content[row.key].assign(static_cast<const char *>(row.row),
                              table.rowBytes());
  }
  return content;
}

class SpillingTableTest : public testing::Test {
protected:
  void SetUp() override {
    if (const auto library = rocks::openLibrary(); !library)
      GTEST_SKIP() << library.status().message();
  }

  /// Updates both tables: each key's row gets other numbers. Keys must be
  /// distinct.
  void update(std::vector<int64_t> keys) {
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    const std::vector<int64_t> once(keys.size(), 1);
    const float change = std::uniform_real_distribution<float>()(random);
    for (EmbeddingTable *table : {plain.get(), spilling.get()}) {
      std::vector<void *> rows(keys.size());
      int64_t inserted = 0;
      ASSERT_TRUE(table
                      ->admit(int64_t(keys.size()), keys.data(), once.data(),
                              rows.data(), scratch, inserted)
                      .ok());
      if (TableSnapshot *snapshot = table->snapshot())
        for (size_t i = 0; i < keys.size(); ++i)
          if (rows[i])
            snapshot->preserve(1, &keys[i], &rows[i]);
      for (void *row : rows) {
        if (!row)
          continue;
        auto *numbers = static_cast<float *>(row);
        numbers[0] += change;
        if (table->options().rowSlotCount > 0)
          numbers[3] += 1;
        table->layout().headerOf(row).noteUpdate(table->time());
        if (table->options().life.hasPeriods())
          table->options().setPeriod(row, table->period());
      }
    }
  }

  std::vector<int64_t> draw(size_t count, int64_t most) {
    std::vector<int64_t> keys(count);
    for (int64_t &key : keys)
      key = std::uniform_int_distribution<int64_t>(-most, most)(random);
    return keys;
  }

  void expectEqual() {
    EXPECT_EQ(spilling->size(), plain->size());
    EXPECT_EQ(contentOf(*spilling), contentOf(*plain));
  }

  TestFolder folder;
  const std::string place = folder.file("store");
  std::shared_ptr<RowStore> store;
  std::unique_ptr<EmbeddingTable> plain, spilling;
  std::mt19937_64 random{7};
  TableScratch scratch;

  void make(const TableLife &life = {}) {
    // A store has one table for each id.
    spilling.reset();
    store.reset();
    // A few blocks, so that most are read from files.
    constexpr size_t bufferBytes = 1 << 14;
    auto opened = RowStore::open(place, bufferBytes);
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    store = *std::move(opened);
    // Calls are divided.
    plain = createHashTable(optionsOf(life), 100);
    spilling = createSpillingTable(optionsOf(life), store, 100);
  }
};

} // namespace

TEST_F(SpillingTableTest, HasTheRowsOfATableInMemory) {
  make();
  for (int step = 0; step < 60; ++step) {
    update(draw(400, 3000));
    if (step % 3 == 0)
      spilling->evict(spilling->heldRows() * 2 / 3,
                      step % 2 ? Eviction::LeastRecent
                               : Eviction::LeastFrequent);
    if (step % 7 == 0) {
      const std::vector<int64_t> keys = draw(50, 3000);
      EXPECT_EQ(spilling->erase(int64_t(keys.size()), keys.data(), scratch),
                plain->erase(int64_t(keys.size()), keys.data(), scratch));
    }
    spilling->quiesce(uint16_t(step));
    plain->quiesce(uint16_t(step));
    if (step % 10 == 0)
      expectEqual();
  }
  // Most rows are not in memory.
  spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
  EXPECT_EQ(spilling->heldRows(), 0);
  EXPECT_GT(spilling->size(), 2000);
  expectEqual();
  EXPECT_EQ(spilling->heldRows(), 0);
}

/// Memory for spilled rows counts towards the limit, and is not freed with
/// rows.
TEST_F(SpillingTableTest, ABoundIsReachedWhateverIsNotedOfRowsElsewhere) {
  make();
  update(draw(20000, 1 << 30));
  spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
  const size_t elsewhere = spilling->bytesInUse();
  EXPECT_EQ(elsewhere,
            size_t(spilling->size()) * spilling->bytesOfEvictedRow());
  EmbeddingTable *const tables[] = {nullptr, spilling.get()};
  update(draw(20000, 1 << 30));
  // Memory for the index when all rows are spilled.
  const auto noted =
      double(spilling->size()) * double(spilling->bytesOfEvictedRow());
  for (const double most : {1.5, 1.1, 1.0}) {
    const TableBound bound = {size_t(most * noted), Eviction::LeastRecent,
                              place};
    EXPECT_GT(bytesInUse(tables), bound.maxBytes);
    keepWithin(bound, tables);
    if (most > 1)
      EXPECT_GT(spilling->heldRows(), 0);
    else
      EXPECT_EQ(spilling->heldRows(), 0);
    EXPECT_LE(bytesInUse(tables), bound.maxBytes);
  }
  expectEqual();
}

TEST_F(SpillingTableTest, FindsAndLooks) {
  make();
  update(draw(2000, 100000));
  spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
  const int64_t held = spilling->heldRows();
  std::vector<int64_t> keys = draw(5000, 100000);
  const Content content = contentOf(*plain);
  for (const auto &[key, bytes] : content)
    keys.push_back(key);
  // Some keys occur twice.
  keys.insert(keys.end(), keys.begin(), keys.begin() + 100);
  std::vector<void *> rows(keys.size());
  RowImages images;
  const auto check = [&](int64_t missing) {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto found = content.find(keys[i]);
      ASSERT_EQ(rows[i] != nullptr, found != content.end());
      if (rows[i])
        EXPECT_EQ(
            std::string(static_cast<char *>(rows[i]), spilling->rowBytes()),
            found->second);
      missing -= rows[i] == nullptr;
    }
    EXPECT_EQ(missing, 0);
  };
  check(spilling->look(int64_t(keys.size()), keys.data(), rows.data(), scratch,
                       images));
  EXPECT_EQ(spilling->heldRows(), held);
  check(
      spilling->find(int64_t(keys.size()), keys.data(), rows.data(), scratch));
  EXPECT_EQ(spilling->heldRows(), spilling->size());
  expectEqual();
}

TEST_F(SpillingTableTest, PeriodsEndForAllRows) {
  for (const bool hasScores : {false, true}) {
    TableLife life;
    life.shrinkEvery = 4;
    life.shrinkUnseen = 3;
    if (hasScores) {
      life.scoreWeights = {1, 0};
      life.shrinkDecay = 0.7;
      life.shrinkLeast = 0.4;
    }
    make(life);
    for (int step = 1; step < 80; ++step) {
      update(draw(100, 1500));
      if (step % 4 == 0)
        EXPECT_EQ(spilling->beginPeriod(step / 4),
                  plain->beginPeriod(step / 4));
      spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
      spilling->quiesce(0);
      plain->quiesce(0);
      if (step % 10 == 0)
        expectEqual();
    }
    EXPECT_LT(spilling->size(), 1500);
  }
}

TEST_F(SpillingTableTest, KeysWaitAsInMemory) {
  TableLife life;
  life.admission = PDL_ADMIT_COUNT;
  life.admissionCount = 3;
  make(life);
  for (int step = 0; step < 30; ++step) {
    update(draw(200, 1500));
    spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
    spilling->quiesce(0);
    EXPECT_EQ(spilling->waitingCount(), plain->waitingCount());
  }
  expectEqual();
  EXPECT_GT(spilling->waitingCount(), 0);
}

/// Checks the rows that a reader of a snapshot saves.
TEST_F(SpillingTableTest, SnapshotsAndChanges) {
  TableLife life;
  life.shrinkEvery = 5;
  life.shrinkUnseen = 4;
  life.scoreWeights = {1, 0};
  life.shrinkDecay = 0.9;
  life.shrinkLeast = 0.2;
  make(life);
  // Base and deltas together.
  Content saved;
  spilling->trackErased(true);
  int period = 0;
  for (int save = 0; save < 12; ++save) {
    for (int step = 0; step < 6; ++step) {
      update(draw(120, 1200));
      spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
    }
    const SavedRows which = save == 0 ? SavedRows::Base : SavedRows::Changed;
    const Content now = contentOf(*plain);
    for (int64_t key : spilling->takeErased())
      saved.erase(key);
    TableSnapshot &snapshot = spilling->beginSnapshot(size_t(1) << 30, which);
    for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
      // Training continues.
      if (s % 100 == 0) {
        update(draw(60, 1200));
        if (s % 300 == 0) {
          ++period;
          EXPECT_EQ(spilling->beginPeriod(period), plain->beginPeriod(period));
        }
        spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
        spilling->quiesce(0);
        plain->quiesce(0);
      }
      RowList rows;
      snapshot.collectShard(s, rows);
      if (which == SavedRows::Base)
        EXPECT_EQ(int64_t(rows.size()), snapshot.shardSize(s));
      snapshot.read(rows, [&](std::span<const TableRow> some) {
        for (const TableRow &row : some)
          saved[row.key].assign(static_cast<const char *>(row.row),
                                spilling->rowBytes());
      });
      snapshot.pass(s, rows);
    }
    spilling->endSnapshot();
    EXPECT_EQ(saved, now) << save;
    expectEqual();
  }
}

/// Fewer rows count as changed than exist.
TEST_F(SpillingTableTest, WhatWasSavedHasNotChanged) {
  make();
  update(draw(1000, 100000));
  spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
  const auto changed = [&] {
    std::set<int64_t> keys;
    RowList rows;
    for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
      spilling->collectChanged(s, rows);
      for (const TableRow &row : rows)
        keys.insert(row.key);
    }
    return keys;
  };
  EXPECT_EQ(int64_t(changed().size()), spilling->size());
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    spilling->noteShardSaved(s);
  EXPECT_TRUE(changed().empty());
  // Rows that return to memory and stay unchanged do not count as changed, also
  // after they are spilled again.
  const std::vector<int64_t> some = {contentOf(*plain).begin()->first};
  std::vector<void *> rows(1);
  EXPECT_EQ(spilling->find(1, some.data(), rows.data(), scratch), 0);
  EXPECT_TRUE(changed().empty());
  spilling->evict(1, Eviction::LeastRecent);
  EXPECT_TRUE(changed().empty());
  update(some);
  EXPECT_EQ(changed(), std::set<int64_t>(some.begin(), some.end()));
  spilling->evict(1, Eviction::LeastRecent);
  EXPECT_EQ(spilling->heldRows(), 0);
  EXPECT_EQ(changed(), std::set<int64_t>(some.begin(), some.end()));
}

/// Rows are loaded for a step while a save has copies of them.
TEST_F(SpillingTableTest, RowsBroughtInDuringASaveAreSaved) {
  make();
  const std::vector<int64_t> all = draw(500, 100000);
  update(all);
  spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
  const auto changed = [&] {
    std::set<int64_t> keys;
    RowList rows;
    for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
      spilling->collectChanged(s, rows);
      for (const TableRow &row : rows)
        keys.insert(row.key);
    }
    return keys;
  };
  for (const SavedRows which : {SavedRows::Base, SavedRows::Changed}) {
    std::vector<RowList> found(EmbeddingTable::shardCount);
    TableSnapshot &snapshot = spilling->beginSnapshot(size_t(1) << 30, which);
    for (int s = 0; s < EmbeddingTable::shardCount; ++s)
      snapshot.collectShard(s, found[size_t(s)]);
    spilling->bringIn(int64_t(all.size()), all.data(), scratch);
    // They have changed since.
    const std::vector<int64_t> some(all.begin(), all.begin() + 20);
    update(some);
    for (int s = 0; s < EmbeddingTable::shardCount; ++s)
      snapshot.pass(s, found[size_t(s)]);
    EXPECT_EQ(snapshot.copiedBytes(), 0u);
    spilling->endSnapshot();
    EXPECT_EQ(changed(), std::set<int64_t>(some.begin(), some.end()));
    spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
    EXPECT_EQ(changed(), std::set<int64_t>(some.begin(), some.end()));
  }
}

/// A table that is restored shard by shard never has all rows in memory.
TEST_F(SpillingTableTest, RestoredRowsTakeMemoryInTurn) {
  make();
  TableOptions options = optionsOf({});
  options.id = 6;
  options.width = 64;
  const std::unique_ptr<EmbeddingTable> table =
      createSpillingTable(options, store);
  constexpr int64_t keyCount = 100000;
  std::vector<std::vector<int64_t>> keys(EmbeddingTable::shardCount);
  for (int64_t key = 0; key < keyCount; ++key)
    keys[size_t(EmbeddingTable::shardOf(key))].push_back(key);
  constexpr int shardsAtOnce = 24;
  std::vector<void *> rows(keyCount);
  for (int first = 0; first < EmbeddingTable::shardCount;
       first += shardsAtOnce) {
    const int end = std::min(first + shardsAtOnce, EmbeddingTable::shardCount);
    for (int s = first; s < end; ++s)
      ASSERT_TRUE(table
                      ->insertShard(s, int64_t(keys[size_t(s)].size()),
                                    keys[size_t(s)].data(), rows.data(),
                                    NewRow::Initial)
                      .ok());
    table->spillRestored(first, end);
  }
  EXPECT_EQ(table->size(), keyCount);
  EXPECT_EQ(table->heldRows(), 0);
  // Unfilled blocks need 4 KiB per shard, and the index of stored blocks a few
  // bytes per row.
  EXPECT_LT(table->memoryBytes(), EmbeddingTable::shardCount * size_t(5000) +
                                      size_t(keyCount) * table->rowBytes() / 4);
  std::vector<float> initial(64);
  for (int64_t key = 0; key < keyCount; key += 997) {
    void *row = nullptr;
    ASSERT_EQ(table->find(1, &key, &row, scratch), 0);
    table->initialValue(key, initial.data());
    EXPECT_EQ(std::memcmp(row, initial.data(), table->valueBytes()), 0);
  }
  // Freed memory is reused.
  const size_t before = table->memoryBytes();
  int64_t inserted = 0;
  std::vector<int64_t> others(5000);
  for (size_t i = 0; i < others.size(); ++i)
    others[i] = -1 - int64_t(i);
  rows.resize(others.size());
  ASSERT_TRUE(table
                  ->findOrInsert(int64_t(others.size()), others.data(),
                                 rows.data(), scratch, inserted)
                  .ok());
  EXPECT_EQ(inserted, int64_t(others.size()));
  EXPECT_LT(table->memoryBytes(), before + (size_t(2) << 20));
  for (size_t i = 0; i < others.size(); ++i) {
    table->initialValue(others[i], initial.data());
    EXPECT_EQ(std::memcmp(rows[i], initial.data(), table->valueBytes()), 0);
  }
}

TEST_F(SpillingTableTest, RowsThatAreRestoredAreReplaced) {
  make();
  update(draw(500, 2000));
  spilling->spillRestored(0, EmbeddingTable::shardCount);
  EXPECT_EQ(spilling->heldRows(), 0);
  // Add rows like a delta after its base.
  for (const auto &[key, bytes] : contentOf(*plain)) {
    if (key % 2)
      continue;
    for (EmbeddingTable *table : {plain.get(), spilling.get()}) {
      void *row = nullptr;
      ASSERT_TRUE(table
                      ->insertShard(EmbeddingTable::shardOf(key), 1, &key, &row,
                                    NewRow::Open)
                      .ok());
      std::memset(row, 1, table->rowBytes());
    }
  }
  expectEqual();
  spilling->spillRestored(0, EmbeddingTable::shardCount);
  expectEqual();
}

/// Rows are loaded on one thread while others are spilled on another, as for
/// steps that are prepared during an update.
TEST_F(SpillingTableTest, RowsComeInWhileOthersLeave) {
  make();
  update(draw(3000, 2000));
  std::atomic<bool> ends{false};
  std::thread prepares([&] {
    std::mt19937_64 own(3);
    TableScratch ownScratch;
    while (!ends) {
      std::vector<int64_t> keys(200);
      for (int64_t &key : keys)
        key = std::uniform_int_distribution<int64_t>(-2000, 2000)(own);
      spilling->bringIn(int64_t(keys.size()), keys.data(), ownScratch);
    }
  });
  for (int step = 0; step < 150; ++step) {
    update(draw(100, 2000));
    spilling->evict(spilling->heldRows() / 2, Eviction::LeastRecent);
    // A prepared step may look up rows that were loaded.
    spilling->quiesce(0);
  }
  ends = true;
  prepares.join();
  expectEqual();
}

/// A row that one thread loads is found by another thread that has missed it,
/// even if the store has no other row of its shard.
TEST_F(SpillingTableTest, TwoMayBringInTheSameRows) {
  make();
  const std::vector<int64_t> all = draw(300, 1000000);
  update(all);
  const auto findAll = [&] {
    TableScratch own;
    std::vector<void *> rows(all.size());
    return spilling->find(int64_t(all.size()), all.data(), rows.data(), own);
  };
  for (int turn = 0; turn < 300; ++turn) {
    spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
    int64_t missing = -1;
    std::thread other([&] { missing = findAll(); });
    EXPECT_EQ(findAll(), 0);
    other.join();
    EXPECT_EQ(missing, 0);
    spilling->quiesce(0);
  }
}

/// A row that was loaded for the next step stays in memory if others can be
/// spilled.
TEST_F(SpillingTableTest, WhatHasJustComeInStays) {
  make();
  const std::vector<int64_t> all = draw(20000, 1000000);
  update(all);
  spilling->evict(spilling->heldRows(), Eviction::LeastRecent);
  update(draw(20000, 1000000));
  const std::vector<int64_t> some(all.begin(), all.begin() + 1000);
  spilling->bringIn(int64_t(some.size()), some.data(), scratch);
  const int64_t held = spilling->heldRows();
  spilling->evict(held / 2, Eviction::LeastFrequent);
  const int64_t left = spilling->heldRows();
  spilling->bringIn(int64_t(some.size()), some.data(), scratch);
  EXPECT_EQ(spilling->heldRows(), left);
  // This holds for one eviction only.
  spilling->evict(left / 2, Eviction::LeastFrequent);
  spilling->evict(left, Eviction::LeastFrequent);
  EXPECT_EQ(spilling->heldRows(), 0);
  expectEqual();
}

// Each call visits few shards, wherever rows are: a server may have one shard
// of four.
TEST_F(SpillingTableTest, AsManyLeaveAsRequested) {
  for (const int every : {1, 4}) {
    make();
    std::vector<int64_t> keys;
    for (int64_t key = 0; keys.size() < 20'000; ++key)
      if (pdlabi::shardOfMixedKey(pdlabi::mixKey(uint64_t(key))) % every == 0)
        keys.push_back(key);
    update(keys);
    int64_t held = spilling->heldRows();
    ASSERT_EQ(held, int64_t(keys.size()));
    for (const int64_t count : {1, 100, 1500, 1500, 1500, 1500, 7000, 4000}) {
      EXPECT_EQ(spilling->evict(count, Eviction::LeastRecent), count);
      held -= count;
      EXPECT_EQ(spilling->heldRows(), held);
    }
    EXPECT_EQ(spilling->evict(1 << 30, Eviction::LeastFrequent), held);
    EXPECT_EQ(spilling->evict(5, Eviction::LeastFrequent), 0);
    expectEqual();
  }
}

TEST_F(SpillingTableTest, LeavesNoFolder) {
  make();
  update(draw(100, 2000));
  spilling->evict(50, Eviction::LeastRecent);
  const auto countOf = [&] {
    return std::distance(std::filesystem::directory_iterator(place),
                         std::filesystem::directory_iterator());
  };
  EXPECT_EQ(countOf(), 1);
  spilling.reset();
  store.reset();
  EXPECT_EQ(countOf(), 0);
  // Files of a killed process, and files of a user.
  std::filesystem::create_directories(place + "/pdl-rows-1-abcdef/rows");
  std::filesystem::create_directories(place + "/other");
  auto opened = RowStore::open(place);
  ASSERT_TRUE(opened.ok());
  EXPECT_FALSE(std::filesystem::exists(place + "/pdl-rows-1-abcdef"));
  EXPECT_TRUE(std::filesystem::exists(place + "/other"));
  // A folder that is in use is kept.
  auto second = RowStore::open(place);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(countOf(), 3);
}

TEST(RowStore, RefusesAFolderThatCannotBe) {
  if (!rocks::openLibrary())
    GTEST_SKIP() << "RocksDB is not there";
  const auto opened = RowStore::open("/dev/null/rows");
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().message().find("rows cannot be kept in "
                                           "/dev/null/rows (--table-spill)"),
            std::string::npos)
      << opened.status().message();
}

// Many small buffers and files, with shards that are written and read
// concurrently.
TEST(RowStore, HasTheBlocksThatWerePutLast) {
  if (!rocks::openLibrary())
    GTEST_SKIP() << "RocksDB is not there";
  constexpr size_t blockBytes = 1000, bufferBytes = 20 * blockBytes;
  constexpr uint32_t maxNumbers = 100;
  constexpr int shards = 3;
  const TestFolder folder;
  const auto opened = RowStore::open(folder.file("store"), bufferBytes);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const RowStore &store = **opened;
  const auto work = [&](int shard) {
    std::mt19937 random{unsigned(shard)};
    std::map<uint32_t, std::string> expected;
    const auto put = [&](uint32_t number) {
      std::string block(blockBytes, char(random()));
      block[size_t(random() % blockBytes)] = char(random());
      store.put(7, shard, number, block);
      expected[number] = std::move(block);
    };
    for (int step = 0; step < 200; ++step) {
      for (int i = 0; i < 8; ++i)
        put(uint32_t(random() % maxNumbers));
      std::vector<RowStore::BlockName> names;
      for (const auto &[number, block] : expected)
        if (random() % 2)
          names.push_back({shard, number});
      store.get(7, names, blockBytes, [&](size_t i, const char *block) {
        EXPECT_EQ(std::string_view(block, blockBytes),
                  expected[names[i].number]);
      });
      if (step % 20 != 0)
        continue;
      RowStore::Reader reader(store, 7, shard, blockBytes);
      const std::map<uint32_t, std::string> then = expected;
      for (int i = 0; i < 60; ++i)
        put(uint32_t(random() % maxNumbers));
      for (const auto &[number, block] : then)
        EXPECT_EQ(std::string_view(reader.at(number), blockBytes), block);
    }
  };
  std::vector<std::thread> threads;
  for (int shard = 0; shard < shards; ++shard)
    threads.emplace_back(work, shard);
  for (std::thread &thread : threads)
    thread.join();
}

/// A missing block means that rows are lost.
TEST(RowStoreDeathTest, ABlockThatIsGoneEndsTheProcess) {
  if (!rocks::openLibrary())
    GTEST_SKIP() << "RocksDB is not there";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TestFolder folder;
  const auto opened = RowStore::open(folder.file("store"));
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const RowStore &store = **opened;
  store.put(1, 2, 3, "three");
  constexpr RowStore::BlockName kept = {2, 3}, gone = {2, 4};
  const auto get = [&](const RowStore::BlockName &name, size_t bytes) {
    size_t found = 0;
    store.get(1, {&name, 1}, bytes, [&](size_t, const char *) { ++found; });
    return found;
  };
  EXPECT_EQ(get(kept, 5), 1u);
  constexpr const char *message = "^error: rows could not be read from .* "
                                  "\\(--table-spill\\): a part of them is "
                                  "missing; go on from the last checkpoint, "
                                  "with a folder on another disk";
  EXPECT_EXIT(get(gone, 5), testing::ExitedWithCode(1), message);
  EXPECT_EXIT(get(kept, 6), testing::ExitedWithCode(1), message);
  EXPECT_EXIT(RowStore::Reader(store, 1, 2, 5).at(4),
              testing::ExitedWithCode(1), message);
}

// The writer of files detects this, concurrently with writers of blocks.
TEST(RowStoreDeathTest, ADiskThatIsFullEndsTheProcess) {
  if (!rocks::openLibrary())
    GTEST_SKIP() << "RocksDB is not there";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const TestFolder folder;
  const auto fill = [&] {
    const auto opened = RowStore::open(folder.file("store"), 1 << 16);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1 << 15, 1 << 15};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint32_t number = 0; opened.ok(); ++number)
      (*opened)->put(1, 2, number, std::string(1 << 12, 'x'));
  };
  EXPECT_EXIT(fill(), testing::ExitedWithCode(3),
              "^error: rows could not be written to .* \\(--table-spill\\): .*"
              "; go on from the last checkpoint, with a folder on a disk that "
              "has room");
}
