//===- TableLifeTest.cpp - Admission and eviction of keys -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/admission.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

using namespace pdlrt;

namespace {

/// Returns a table with rows of three numbers, and the slot of periods if used.
std::unique_ptr<EmbeddingTable> tableOf(const TableLife &life,
                                        int64_t keysAtOnce = 100) {
  TableOptions options;
  options.name = "t";
  options.id = 5;
  options.width = 3;
  options.seed = 11;
  options.initializer = {PDL_INIT_UNIFORM, -1, 1};
  if (life.hasPeriods()) {
    options.slotInitialValues = {0};
    options.rowSlotCount = 1;
  }
  options.life = life;
  // Calls are divided.
  return createHashTable(options, keysAtOnce);
}

/// Updates the rows of keys. Each key has the given number of occurrences.
std::vector<void *> update(EmbeddingTable &table,
                           const std::vector<int64_t> &keys,
                           const std::vector<int64_t> &occurrences) {
  std::vector<void *> rows(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  const int64_t before = table.size();
  EXPECT_TRUE(table
                  .admit(int64_t(keys.size()), keys.data(), occurrences.data(),
                         rows.data(), scratch, inserted)
                  .ok());
  EXPECT_EQ(table.size(), before + inserted);
  for (void *row : rows)
    if (row && table.options().life.hasPeriods())
      table.options().setPeriod(row, table.period());
  return rows;
}

std::map<int64_t, int64_t> waitingOf(EmbeddingTable &table, bool onlyChanged,
                                     bool areSaved = false) {
  std::map<int64_t, int64_t> found;
  std::vector<WaitingKey> keys;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectWaiting(s, onlyChanged, areSaved, keys);
    for (const WaitingKey &each : keys)
      found[each.key] = each.bits.count();
  }
  return found;
}

} // namespace

TEST(WaitingBits, KeepWhatTheyAreGiven) {
  const WaitingBits bits(WaitingBits::maxCount, 40000, true);
  EXPECT_LT(bits.bits(), 1u << 30);
  EXPECT_EQ(bits.count(), 16383);
  EXPECT_TRUE(bits.isDirty());
  EXPECT_FALSE(bits.saved().isDirty());
  EXPECT_EQ(bits.saved().count(), 16383);
  EXPECT_EQ(bits.age(40007), 7);
  // Times continue after 2^15.
  EXPECT_EQ(WaitingBits(1, 32767, false).age(32769), 2);
}

TEST(TableLife, KeysGetRowsByCount) {
  const auto table = tableOf({PDL_ADMIT_COUNT, 5, 0, 0, 0});
  std::mt19937_64 draw(3);
  std::map<int64_t, int64_t> counts;
  for (int step = 0; step < 40; ++step) {
    std::vector<int64_t> keys(300), occurrences(keys.size());
    std::iota(keys.begin(), keys.end(), int64_t(draw() % 500) - 100);
    for (int64_t &each : occurrences)
      each = int64_t(draw() % 3);
    const std::vector<void *> rows = update(*table, keys, occurrences);
    for (size_t i = 0; i < keys.size(); ++i) {
      counts[keys[i]] += occurrences[i];
      EXPECT_EQ(rows[i] != nullptr, counts[keys[i]] >= 5) << keys[i];
      if (!rows[i])
        continue;
      float initial[3];
      table->initialValue(keys[i], initial);
      EXPECT_EQ(0, std::memcmp(initial, rows[i], sizeof(initial)));
    }
  }
  std::map<int64_t, int64_t> waiting;
  int64_t rowCount = 0;
  // A key without occurrences is not stored, because a file could not represent
  // it.
  for (const auto &[key, count] : counts)
    if (count >= 5)
      ++rowCount;
    else if (count > 0)
      waiting[key] = count;
  EXPECT_FALSE(waiting.empty());
  EXPECT_EQ(waitingOf(*table, false), waiting);
  EXPECT_EQ(table->waitingCount(), int64_t(waiting.size()));
  EXPECT_EQ(table->size(), rowCount);
}

TEST(Admission, ScoresAreWholeUnits) {
  using pdlabi::admissionUnits;
  using pdlabi::scoreUnits;
  EXPECT_EQ(scoreUnits(2, 2), admissionUnits);
  EXPECT_EQ(scoreUnits(1, 2), admissionUnits / 2);
  EXPECT_EQ(scoreUnits(1e30, 2), admissionUnits);
  EXPECT_EQ(scoreUnits(1e-30, 2), 1);
  for (const double none : {0.0, -1.0, -HUGE_VAL, std::nan("")})
    EXPECT_EQ(scoreUnits(none, 2), 0);
  // Occurrences that count 1/n each reach a score of 1 after n of them.
  for (int parts = 1; parts <= 100; ++parts) {
    const int64_t part = scoreUnits(1.0 / parts, 1);
    EXPECT_GE(parts * part, admissionUnits) << parts;
    EXPECT_LT((parts - 1) * part, admissionUnits) << parts;
  }
  EXPECT_EQ(pdlabi::decayedUnits(16383, 0.5), 8191);
  EXPECT_EQ(pdlabi::decayedUnits(1, 0.999), 0);
  EXPECT_EQ(pdlabi::decayedUnits(16383, 1), 16383);
}

TEST(TableLife, KeysGetRowsByScore) {
  TableLife life = {PDL_ADMIT_SCORE, pdlabi::admissionUnits, 0, 10, 3};
  life.shrinkDecay = 0.5;
  const auto table = tableOf(life);
  table->trackErased(true);
  EXPECT_EQ(update(*table, {1, 2, 3, 4}, {5000, 16384, 1, 0})[1] != nullptr,
            true);
  EXPECT_EQ(table->size(), 1);
  // A key without a score is not stored.
  EXPECT_EQ(waitingOf(*table, true, /*areSaved=*/true),
            (std::map<int64_t, int64_t>{{1, 5000}, {3, 1}}));
  // Half of the score remains and has changed; a score of zero is removed.
  table->beginPeriod(1);
  EXPECT_EQ(waitingOf(*table, true), (std::map<int64_t, int64_t>{{1, 2500}}));
  EXPECT_EQ(table->waitingCount(), 1);
  EXPECT_EQ(table->takeErased(), (std::vector<int64_t>{3}));
  EXPECT_EQ(update(*table, {1}, {13883}).front(), nullptr);
  EXPECT_NE(update(*table, {1}, {1}).front(), nullptr);
  EXPECT_EQ(table->waitingCount(), 0);
}

TEST(TableLife, KeysAreDrawn) {
  const auto table = tableOf({PDL_ADMIT_PROBABILITY, 0, 0.25, 0, 0});
  std::vector<int64_t> keys(10000), occurrences(keys.size(), 1);
  std::iota(keys.begin(), keys.end(), int64_t(0));
  const std::vector<void *> rows = update(*table, keys, occurrences);
  const auto drawn = std::ranges::count_if(rows, [](void *row) { return row; });
  EXPECT_NEAR(double(drawn), 2500, 150);
  for (size_t i = 0; i < keys.size(); ++i)
    EXPECT_EQ(rows[i] != nullptr, pdlabi::isDrawn(0.25, 11, 5, keys[i]));
  // Permanently.
  EXPECT_EQ(update(*table, keys, occurrences), rows);
  EXPECT_EQ(table->waitingCount(), 0);
}

TEST(TableLife, WhatIsUnseenGoes) {
  const auto table = tableOf({PDL_ADMIT_COUNT, 2, 0, 10, 3});
  table->trackErased(true);
  update(*table, {1, 2}, {2, 1});
  table->beginPeriod(1);
  update(*table, {3, 4}, {2, 1});
  EXPECT_EQ(table->beginPeriod(2), 0);
  EXPECT_EQ(table->size(), 2);
  EXPECT_EQ(table->waitingCount(), 2);
  // When this period starts, three whole periods (0 to 2) have passed for keys
  // 1 and 2, which were seen in the first of them.
  EXPECT_EQ(table->beginPeriod(3), 0);
  EXPECT_EQ(table->beginPeriod(4), 1);
  EXPECT_EQ(table->size(), 1);
  EXPECT_EQ(waitingOf(*table, false), (std::map<int64_t, int64_t>{{4, 1}}));
  // Erased rows and erased waiting keys are reported.
  std::vector<int64_t> gone = table->takeErased();
  std::ranges::sort(gone);
  EXPECT_EQ(gone, (std::vector<int64_t>{1, 2}));
  // A key that occurs again starts with its initial values.
  EXPECT_EQ(update(*table, {2}, {1}).front(), nullptr);
  EXPECT_NE(update(*table, {2}, {1}).front(), nullptr);
  // Periods may be skipped.
  EXPECT_EQ(table->beginPeriod(100), 2);
  EXPECT_EQ(table->size() + table->waitingCount(), 0);
}

// A damaged file may contain such values.
TEST(TableLife, PeriodsThatAreNoneAreOld) {
  constexpr float none[] = {std::numeric_limits<float>::quiet_NaN(), -1, 1e30f,
                            -std::numeric_limits<float>::infinity()};
  const auto table = tableOf({PDL_ADMIT_ALL, 0, 0, 10, 3});
  const std::vector<void *> rows =
      update(*table, {1, 2, 3, 4, 5}, {1, 1, 1, 1, 1});
  for (size_t i = 0; i < std::size(none); ++i) {
    std::memcpy(static_cast<char *>(rows[i]) + table->rowBytes() -
                    sizeof(float),
                &none[i], sizeof(float));
    EXPECT_EQ(table->options().periodOf(rows[i]), -1);
  }
  EXPECT_EQ(table->options().periodOf(rows[4]), 0);
  EXPECT_EQ(table->beginPeriod(3), 4);
  EXPECT_EQ(table->size(), 1);
}

TEST(TableLife, ChangesOfWaitingKeysAreReported) {
  const auto table = tableOf({PDL_ADMIT_COUNT, 100, 0, 0, 0});
  update(*table, {1, 2, 3}, {1, 1, 1});
  EXPECT_EQ(waitingOf(*table, true, /*areSaved=*/true).size(), 3u);
  EXPECT_TRUE(waitingOf(*table, true).empty());
  update(*table, {2}, {5});
  EXPECT_EQ(waitingOf(*table, true), (std::map<int64_t, int64_t>{{2, 6}}));
  EXPECT_EQ(waitingOf(*table, false).size(), 3u);
  // Restored keys equal the saved ones.
  const auto other = tableOf({PDL_ADMIT_COUNT, 100, 0, 0, 0});
  std::vector<WaitingKey> keys;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table->collectWaiting(s, false, false, keys);
    for (WaitingKey &each : keys)
      each.bits = each.bits.saved();
    other->restoreWaiting(s, keys);
  }
  EXPECT_EQ(waitingOf(*other, false), waitingOf(*table, false));
  EXPECT_TRUE(waitingOf(*other, true).empty());
  const WaitingKey none = {2, WaitingBits()};
  other->restoreWaiting(EmbeddingTable::shardOf(2), {&none, 1});
  EXPECT_EQ(other->waitingCount(), 2);
}

TEST(TableLife, ThreadsCountTogether) {
  const auto table = tableOf({PDL_ADMIT_COUNT, 8, 0, 0, 0});
  std::vector<int64_t> keys(5000), occurrences(keys.size(), 1);
  std::iota(keys.begin(), keys.end(), int64_t(0));
  const auto work = [&] {
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(table
                      ->admit(int64_t(keys.size()), keys.data(),
                              occurrences.data(), rows.data(), scratch,
                              inserted)
                      .ok());
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back(work);
  }
  EXPECT_EQ(table->size(), 0);
  const std::map<int64_t, int64_t> waiting = waitingOf(*table, false);
  EXPECT_EQ(waiting.size(), keys.size());
  EXPECT_TRUE(std::ranges::all_of(
      waiting, [](const auto &entry) { return entry.second == 6; }));
  work();
  EXPECT_EQ(table->size(), int64_t(keys.size()));
  EXPECT_EQ(table->waitingCount(), 0);
}

TEST(TableLife, AKeyThatWaitsIsSmall) {
  const auto table = tableOf({PDL_ADMIT_COUNT, 100, 0, 0, 0}, maxKeysAtOnce);
  const size_t before = table->memoryBytes();
  std::vector<int64_t> keys(2000000), occurrences(keys.size(), 1);
  std::iota(keys.begin(), keys.end(), int64_t(0));
  update(*table, keys, occurrences);
  const double bytes = double(table->memoryBytes() - before);
  EXPECT_LT(bytes / double(keys.size()), 15);
}

TEST(TableLife, TheOldestRowsAreEvicted) {
  TableLife life;
  life.isBounded = true;
  for (const Eviction order :
       {Eviction::LeastRecent, Eviction::LeastFrequent}) {
    const auto table = tableOf(life);
    table->trackErased(true);
    // Key k is updated k % 10 + 1 times, the last time in step k % 7.
    std::vector<int64_t> keys(700), ones(keys.size(), 1);
    std::iota(keys.begin(), keys.end(), int64_t(0));
    const std::vector<void *> rows = update(*table, keys, ones);
    for (uint16_t time = 0; time < 7; ++time) {
      table->quiesce(time);
      for (size_t k = time; k < keys.size(); k += 7)
        for (size_t uses = 0; uses <= k % 10; ++uses)
          table->layout().headerOf(rows[k]).noteUpdate(time);
    }
    EXPECT_EQ(table->evict(0, order), 0);
    EXPECT_EQ(table->evict(235, order), 235);
    EXPECT_EQ(table->size(), 465);
    const std::vector<int64_t> gone = table->takeErased();
    std::vector<std::pair<int64_t, int64_t>> ranks;
    const auto rankOf = [&](int64_t key) {
      return order == Eviction::LeastRecent ? std::pair(key % 7, key % 10)
                                            : std::pair(key % 10, key % 7);
    };
    for (int64_t key : keys)
      ranks.push_back(rankOf(key));
    std::ranges::sort(ranks);
    // All rows before the last evicted one are evicted, and none after it.
    std::vector<std::pair<int64_t, int64_t>> ofGone;
    for (int64_t key : gone)
      ofGone.push_back(rankOf(key));
    std::ranges::sort(ofGone);
    ranks.resize(235);
    EXPECT_EQ(ofGone, ranks);
    EXPECT_EQ(table->evict(1000, order), 465);
    EXPECT_EQ(table->size(), 0);
  }
}

TEST(TableLife, RowsThatWereEvictedAreUsedAgain) {
  TableLife life;
  life.isBounded = true;
  const auto table = tableOf(life);
  std::vector<int64_t> keys(1000), ones(keys.size(), 1);
  size_t most = 0;
  for (int64_t step = 0; step < 200; ++step) {
    std::iota(keys.begin(), keys.end(), step * 1000);
    update(*table, keys, ones);
    table->evict(std::max<int64_t>(0, table->size() - 4000),
                 Eviction::LeastRecent);
    table->quiesce(uint16_t(step));
    if (step == 20)
      most = table->memoryBytes();
  }
  EXPECT_EQ(table->size(), 4000);
  EXPECT_LT(double(table->memoryBytes()), 1.2 * double(most));
}
