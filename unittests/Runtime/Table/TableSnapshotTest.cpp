//===- TableSnapshotTest.cpp - Snapshots of rows during writes ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/TableSnapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <malloc.h>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <thread>
#include <vector>

using namespace pdlrt;

namespace {

constexpr int64_t width = 3;
/// A row: the value and one slot.
using Row = std::array<float, 2 * width>;
using Rows = std::map<int64_t, Row>;

std::unique_ptr<EmbeddingTable> makeTable(int64_t valueWidth = width,
                                          const std::vector<double> &slots = {
                                              0.125}) {
  TableOptions options;
  options.name = "emb";
  options.width = valueWidth;
  options.initializer = {PDL_INIT_UNIFORM, -1, 1};
  options.slotInitialValues = slots;
  options.seed = 5;
  return createHashTable(options);
}

std::vector<void *> insert(EmbeddingTable &table,
                           const std::vector<int64_t> &keys) {
  std::vector<void *> rows(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  EXPECT_TRUE(table
                  .findOrInsert(int64_t(keys.size()), keys.data(), rows.data(),
                                scratch, inserted)
                  .ok());
  return rows;
}

/// Changes all values of each row, like an update.
void update(EmbeddingTable &table, const std::vector<int64_t> &keys,
            const std::vector<void *> &rows, float by) {
  if (TableSnapshot *snapshot = table.snapshot())
    snapshot->preserve(int64_t(keys.size()), keys.data(), rows.data());
  for (void *row : rows)
    for (size_t i = 0; i < 2 * width; ++i)
      static_cast<float *>(row)[i] += by;
}

Rows contentOf(const EmbeddingTable &table) {
  Rows content;
  RowList rows;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectShard(s, rows);
    for (const TableRow &row : rows)
      std::memcpy(content[row.key].data(), row.row, sizeof(Row));
  }
  return content;
}

/// Reads the rows of one shard, and passes the shard.
void readShard(TableSnapshot &snapshot, int shard, Rows &content) {
  RowList rows;
  snapshot.collectShard(shard, rows);
  EXPECT_EQ(int64_t(rows.size()), snapshot.shardSize(shard));
  int64_t last = std::numeric_limits<int64_t>::min();
  snapshot.read(rows, [&](std::span<const TableRow> some) {
    for (const TableRow &row : some) {
      EXPECT_LE(last, row.key);
      last = row.key;
      std::memcpy(content[row.key].data(), row.row, sizeof(Row));
    }
  });
  snapshot.pass(shard, {});
}

std::vector<int64_t> keysFrom(int64_t first, int64_t count) {
  std::vector<int64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  for (size_t i = 0; i < keys.size(); i += 2)
    keys[i] *= -977;
  return keys;
}

} // namespace

TEST(TableSnapshot, RowsAreThoseOfTheSnapshot) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 5000);
  const std::vector<void *> rows = insert(*table, keys);
  update(*table, keys, rows, 1);
  for (int round = 0; round < 2; ++round) {
    const Rows expected = contentOf(*table);
    EXPECT_EQ(table->snapshot(), nullptr);
    TableSnapshot &snapshot = table->beginSnapshot(size_t(1) << 20);
    EXPECT_EQ(table->snapshot(), &snapshot);
    Rows found;
    for (int s = 0; s < EmbeddingTable::shardCount / 2; ++s)
      readShard(snapshot, s, found);
    // Some keys occur twice; some are new and are written as well.
    update(*table, keys, rows, 2);
    const size_t once = snapshot.copiedBytes();
    EXPECT_GT(once, size_t(2000) * sizeof(Row));
    update(*table, {keys.begin(), keys.begin() + 100},
           {rows.begin(), rows.begin() + 100}, 3);
    EXPECT_EQ(snapshot.copiedBytes(), once);
    const std::vector<int64_t> more = keysFrom(100'000 * (round + 1), 3000);
    update(*table, more, insert(*table, more), 4);
    EXPECT_GT(snapshot.copiedBytes(), once);
    for (int s = EmbeddingTable::shardCount / 2; s < EmbeddingTable::shardCount;
         ++s)
      readShard(snapshot, s, found);
    EXPECT_EQ(snapshot.copiedBytes(), size_t(0));
    table->endSnapshot();
    EXPECT_EQ(found, expected);
    EXPECT_NE(contentOf(*table), expected);
  }
}

// The snapshot has exactly the changed rows with their old values. Rows written
// meanwhile count as changed since.
TEST(TableSnapshot, ReadsWhatHasChanged) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 5000);
  const std::vector<void *> rows = insert(*table, keys);
  const auto write = [&](size_t first, size_t end, float by) {
    update(*table, {keys.begin() + first, keys.begin() + end},
           {rows.begin() + first, rows.begin() + end}, by);
    for (size_t i = first; i < end; ++i)
      table->layout().headerOf(rows[i]).noteUpdate(1);
  };
  const auto erase = [&](size_t first, size_t end) {
    TableScratch scratch;
    EXPECT_EQ(table->erase(int64_t(end - first), keys.data() + first, scratch),
              int64_t(end - first));
  };
  const auto keysOf = [&](size_t first, size_t end) {
    return std::set<int64_t>(keys.begin() + first, keys.begin() + end);
  };
  for (void *row : rows)
    table->layout().headerOf(row).noteSaved();
  write(0, 1000, 1);
  const Rows all = contentOf(*table);
  TableSnapshot &snapshot =
      table->beginSnapshot(size_t(1) << 20, SavedRows::Changed);
  RowList ofShard;
  std::set<int64_t> found;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    // Change some rows before any read, and some between reading a list and its
    // rows.
    if (s == 0) {
      write(800, 1500, 2);
      erase(900, 950);
      erase(1400, 1450);
      // New rows, and rows that return.
      std::vector<int64_t> some = keysFrom(100'000, 100);
      some.push_back(keys[900]);
      some.push_back(keys[1400]);
      insert(*table, some);
    }
    snapshot.collectShard(s, ofShard);
    if (s == EmbeddingTable::shardCount / 2) {
      write(700, 800, 3);
      write(2000, 2100, 3);
      erase(700, 710);
    }
    snapshot.read(ofShard, [&](std::span<const TableRow> some) {
      for (const TableRow &row : some) {
        EXPECT_TRUE(found.insert(row.key).second);
        EXPECT_EQ(std::memcmp(row.row, all.at(row.key).data(), sizeof(Row)), 0);
      }
    });
    snapshot.pass(s, ofShard);
  }
  table->endSnapshot();
  EXPECT_EQ(found, keysOf(0, 1000));
  std::set<int64_t> since;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table->collectChanged(s, ofShard);
    for (const TableRow &row : ofShard)
      since.insert(row.key);
  }
  std::set<int64_t> expected = keysOf(710, 900);
  expected.merge(keysOf(950, 1400));
  expected.merge(keysOf(1450, 1500));
  expected.merge(keysOf(2000, 2100));
  expected.insert({keys[900], keys[1400]});
  for (int64_t key : keysFrom(100'000, 100))
    expected.insert(key);
  EXPECT_EQ(since, expected);
}

// Erased rows belong to the snapshot, whatever happens to their memory, and so
// do keys that return.
TEST(TableSnapshot, RowsMayBeErased) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 3000);
  update(*table, keys, insert(*table, keys), 1);
  const Rows expected = contentOf(*table);
  TableSnapshot &snapshot = table->beginSnapshot(size_t(1) << 20);
  Rows found;
  for (int s = 0; s < EmbeddingTable::shardCount / 4; ++s)
    readShard(snapshot, s, found);
  // A reader that has started, and continues after other changes.
  const int begun = EmbeddingTable::shardCount / 4;
  RowList rows;
  snapshot.collectShard(begun, rows);
  TableScratch scratch;
  EXPECT_EQ(table->erase(int64_t(keys.size()), keys.data(), scratch), 3000);
  for (uint16_t time = 1; time <= 3; ++time)
    table->quiesce(time);
  const std::vector<int64_t> more = keysFrom(100'000, 3000);
  update(*table, more, insert(*table, more), 1);
  const std::vector<int64_t> back(keys.begin(), keys.begin() + 1000);
  const std::vector<void *> again = insert(*table, back);
  for (void *row : again)
    static_cast<float *>(row)[0] = 17;
  EXPECT_EQ(table->erase(500, back.data(), scratch), 500);
  snapshot.read(rows, [&](std::span<const TableRow> some) {
    for (const TableRow &row : some)
      std::memcpy(found[row.key].data(), row.row, sizeof(Row));
  });
  snapshot.pass(begun, {});
  for (int s = begun + 1; s < EmbeddingTable::shardCount; ++s)
    readShard(snapshot, s, found);
  table->endSnapshot();
  EXPECT_EQ(found, expected);
}

// A row that was read in a shard that was not passed is still preserved.
TEST(TableSnapshot, RowsMayBeReadAgain) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 3000);
  const std::vector<void *> rows = insert(*table, keys);
  const Rows expected = contentOf(*table);
  TableSnapshot &snapshot = table->beginSnapshot(size_t(1) << 20);
  RowList all, ofShard;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    snapshot.collectShard(s, ofShard);
    all.insert(all.end(), ofShard.begin(), ofShard.end());
  }
  for (int pass = 0; pass < 3; ++pass) {
    Rows found;
    snapshot.read(all, [&](std::span<const TableRow> some) {
      for (const TableRow &row : some)
        std::memcpy(found[row.key].data(), row.row, sizeof(Row));
    });
    EXPECT_EQ(found, expected);
    update(*table, keys, rows, 1);
  }
  table->endSnapshot();
}

TEST(TableSnapshot, WhoWritesWaitsWhereThereIsNoRoom) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 5000);
  const std::vector<void *> rows = insert(*table, keys);
  const Rows expected = contentOf(*table);
  // Less than one more row needs.
  constexpr size_t most = 4000, less = 200;
  TableSnapshot &snapshot = table->beginSnapshot(most);
  std::atomic<bool> isWritten{false};
  std::thread writer([&] {
    update(*table, keys, rows, 1);
    isWritten = true;
  });
  while (snapshot.copiedBytes() < most - less)
    std::this_thread::yield();
  // The writer waits until there is memory for the last rows.
  Rows found;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    if (s < EmbeddingTable::shardCount / 2)
      EXPECT_FALSE(isWritten);
    readShard(snapshot, s, found);
  }
  writer.join();
  EXPECT_LE(snapshot.maxCopiedBytes(), most);
  table->endSnapshot();
  EXPECT_EQ(found, expected);
}

// If a reader fails, no writer keeps waiting.
TEST(TableSnapshot, ItsEndLetsWritersGo) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 1000);
  const std::vector<void *> rows = insert(*table, keys);
  Rows expected = contentOf(*table);
  table->beginSnapshot(1);
  std::thread writer([&] { update(*table, keys, rows, 1); });
  table->endSnapshot();
  writer.join();
  for (auto &[key, row] : expected)
    for (float &element : row)
      element += 1;
  EXPECT_EQ(contentOf(*table), expected);
}

// Several readers; writers of the same rows, one after another, and new keys.
TEST(TableSnapshot, ManyWriteDuringManyReads) {
  for (const size_t most : {size_t(1) << 20, size_t(10'000)}) {
    auto table = makeTable();
    const std::vector<int64_t> keys = keysFrom(1, 20'000);
    const std::vector<void *> rows = insert(*table, keys);
    const Rows expected = contentOf(*table);
    TableSnapshot &snapshot = table->beginSnapshot(most);
    std::atomic<int> next{0};
    std::vector<Rows> found(2);
    std::vector<std::thread> threads;
    for (size_t reader = 0; reader < 2; ++reader)
      threads.emplace_back([&, reader] {
        for (int s; (s = next++) < EmbeddingTable::shardCount;)
          readShard(snapshot, s, found[reader]);
      });
    // Each writer has its own rows.
    constexpr size_t writers = 3;
    for (size_t writer = 0; writer < writers; ++writer)
      threads.emplace_back([&, writer] {
        std::mt19937 random{unsigned(writer)};
        for (int step = 0; step < 300; ++step) {
          std::vector<int64_t> some;
          std::vector<void *> where;
          for (int i = 0; i < 32; ++i) {
            const size_t row =
                random() % (keys.size() / writers) * writers + writer;
            some.push_back(keys[row]);
            where.push_back(rows[row]);
          }
          update(*table, some, where, 1);
          // Writers use as much memory as they need.
          if (most < size_t(1) << 20)
            continue;
          const std::vector<int64_t> more =
              keysFrom(int64_t(1'000'000 * (writer + 1) + 10 * step), 10);
          update(*table, more, insert(*table, more), 1);
        }
      });
    for (std::thread &thread : threads)
      thread.join();
    EXPECT_LE(snapshot.maxCopiedBytes(), most);
    table->endSnapshot();
    found[0].merge(found[1]);
    EXPECT_EQ(found[0], expected);
  }
}

/// Returns the bytes that the heap has allocated; 0 if that is unknown.
static size_t heapInUse() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

static bool heapSays() {
  constexpr size_t bytes = size_t(1) << 20;
  const size_t before = heapInUse();
  // Volatile, so that the compiler does not remove it.
  void *volatile some = std::malloc(bytes);
  const bool says = some && heapInUse() >= before + bytes;
  std::free(some);
  return says;
}

// Includes the maps of keys, which are larger than short rows.
TEST(TableSnapshot, CopiedBytesAreThoseOfTheHeap) {
  if (!heapSays())
    GTEST_SKIP() << "the heap does not say what it has given";
  for (const int64_t valueWidth : {1, 64}) {
    auto table = makeTable(valueWidth, {});
    const std::vector<int64_t> keys = keysFrom(1, 100'000);
    const std::vector<void *> rows = insert(*table, keys);
    TableSnapshot &snapshot = table->beginSnapshot(size_t(1) << 30);
    const size_t before = heapInUse();
    snapshot.preserve(int64_t(keys.size()), keys.data(), rows.data());
    const auto held = double(heapInUse() - before);
    EXPECT_GT(held, double(keys.size() * (table->rowBytes() + 24)));
    EXPECT_NEAR(double(snapshot.copiedBytes()), held, held / 20);
    EXPECT_GE(snapshot.maxCopiedBytes(), snapshot.copiedBytes());
    table->endSnapshot();
    EXPECT_EQ(snapshot.copiedBytes(), size_t(0));
    EXPECT_LT(double(heapInUse()), double(before) + held / 20);
  }
}

// Their memory counts, and every writer waits.
TEST(TableSnapshot, NewKeysTakeRoom) {
  auto table = makeTable();
  const std::vector<int64_t> keys = keysFrom(1, 5000);
  insert(*table, keys);
  const Rows expected = contentOf(*table);
  constexpr size_t most = 10'000;
  TableSnapshot &snapshot = table->beginSnapshot(most);
  const std::vector<int64_t> more = keysFrom(100'000, 20'000);
  const std::vector<void *> rows = insert(*table, more);
  EXPECT_GT(snapshot.copiedBytes(), size_t(20'000) * 24);
  std::atomic<bool> isWritten{false};
  std::thread writer([&] {
    update(*table, more, rows, 1);
    isWritten = true;
  });
  Rows found;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    // The memory that is free now may suffice.
    if (snapshot.copiedBytes() > most)
      EXPECT_FALSE(isWritten);
    readShard(snapshot, s, found);
  }
  writer.join();
  table->endSnapshot();
  EXPECT_EQ(found, expected);
}

// A writer of all of them continues after one has been read.
TEST(TableSnapshot, SeveralTablesShareTheirRoom) {
  constexpr size_t number = 4, most = 50'000;
  const std::vector<int64_t> keys = keysFrom(1, 5000);
  std::vector<std::unique_ptr<EmbeddingTable>> tables;
  std::vector<std::vector<void *>> rows;
  std::vector<Rows> expected, found(number);
  std::vector<TableSnapshot *> snapshots;
  for (size_t t = 0; t < number; ++t) {
    tables.push_back(makeTable());
    rows.push_back(insert(*tables[t], keys));
    expected.push_back(contentOf(*tables[t]));
    snapshots.push_back(&tables[t]->beginSnapshot(most));
    if (t > 0)
      snapshots[t]->shareRoomOf(*snapshots[0]);
  }
  std::atomic<size_t> written{0};
  std::thread writer([&] {
    for (size_t i = 0; i < keys.size(); ++i, ++written)
      for (size_t t = 0; t < number; ++t)
        update(*tables[t], {keys[i]}, {rows[t][i]}, 1);
  });
  const auto stopsAfter = [&] {
    constexpr size_t less = 200;
    while (snapshots[0]->copiedBytes() < most - less)
      std::this_thread::yield();
    return written.load();
  };
  const size_t before = stopsAfter();
  for (size_t t = 0; t < number; ++t) {
    for (int s = 0; s < EmbeddingTable::shardCount; ++s)
      readShard(*snapshots[t], s, found[t]);
    // A quarter of the memory, for rows of three tables.
    if (t == 0)
      EXPECT_GT(stopsAfter(), before + before / 5);
  }
  writer.join();
  EXPECT_LE(snapshots[0]->maxCopiedBytes(), most);
  for (const TableSnapshot *snapshot : snapshots)
    EXPECT_EQ(snapshot->copiedBytes(), size_t(0));
  for (const std::unique_ptr<EmbeddingTable> &table : tables)
    table->endSnapshot();
  EXPECT_EQ(found, expected);
}

TEST(TableSnapshot, AnEmptyTableHasOne) {
  auto table = makeTable();
  TableSnapshot &snapshot = table->beginSnapshot(0);
  const std::vector<int64_t> keys = keysFrom(1, 100);
  update(*table, keys, insert(*table, keys), 1);
  Rows found;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    readShard(snapshot, s, found);
  table->endSnapshot();
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(table->size(), 100);
}
