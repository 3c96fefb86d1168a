//===- QuiescentPointsTest.cpp - Quiescent points among workers -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/QuiescentPoints.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace pdlrt;

namespace {

/// Returns true if a call creates a point.
bool passes(QuiescentPoints &points, size_t worker) {
  bool made = false;
  points.pass(worker, /*rests=*/false, [&] { made = true; });
  return made;
}
bool rests(QuiescentPoints &points, size_t worker) {
  bool made = false;
  points.pass(worker, /*rests=*/true, [&] { made = true; });
  return made;
}

} // namespace

TEST(QuiescentPoints, WaitForTwoStepsOfAllThatWork) {
  QuiescentPoints points(2);
  // No other worker is active.
  EXPECT_FALSE(passes(points, 0));
  EXPECT_TRUE(passes(points, 0));
  EXPECT_FALSE(passes(points, 1));
  EXPECT_FALSE(passes(points, 1));
  EXPECT_FALSE(passes(points, 0));
  EXPECT_TRUE(passes(points, 0));
  EXPECT_FALSE(passes(points, 0));
  EXPECT_FALSE(passes(points, 0));
  EXPECT_TRUE(rests(points, 1));
  const size_t third = points.add();
  EXPECT_EQ(third, 2u);
  EXPECT_FALSE(passes(points, 0));
  EXPECT_TRUE(passes(points, 0));
  EXPECT_FALSE(passes(points, third));
  EXPECT_FALSE(rests(points, 0));
  EXPECT_TRUE(rests(points, third));
}

// A batch that is prepared ahead holds rows through one end of a step.
TEST(QuiescentPoints, ABatchPreparedAheadKeepsItsRows) {
  const auto table = createHashTable({});
  QuiescentPoints points(2);
  TableScratch scratch;
  const auto pass = [&](size_t worker) {
    points.pass(worker, /*rests=*/false, [&] { table->quiesce(0); });
  };
  const auto rowOf = [&](int64_t key) {
    void *row = nullptr;
    int64_t inserted = 0;
    EXPECT_TRUE(table->findOrInsert(1, &key, &row, scratch, inserted).ok());
    return row;
  };
  pass(0);
  pass(1);
  void *held = rowOf(7);
  const int64_t key = 7;
  EXPECT_EQ(table->erase(1, &key, scratch), 1);
  pass(1);
  pass(0);
  for (int i = 0; i < 5; ++i) {
    pass(1);
    EXPECT_NE(rowOf(7), held);
    EXPECT_EQ(table->erase(1, &key, scratch), 1);
  }
  bool isUsedAgain = false;
  for (int i = 0; i < 8; ++i) {
    pass(0);
    pass(1);
    isUsedAgain |= rowOf(7) == held;
    EXPECT_EQ(table->erase(1, &key, scratch), 1);
  }
  EXPECT_TRUE(isUsedAgain);
}

// Workers hold the rows that they find for their next step until the end of
// this one. The memory of such a row may not be given to another key.
TEST(QuiescentPoints, NoRowIsReusedWhileItIsHeld) {
  constexpr int workers = 3, steps = 3000;
  constexpr int64_t keys = 40, width = 128;
  TableOptions options;
  options.elementType = PDL_F64;
  options.width = width;
  const auto table = createHashTable(options);
  QuiescentPoints points(workers);
  std::atomic<int> wrong{0}, erased{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      const auto makePoint = [&] { table->quiesce(0); };
      TableScratch scratch;
      uint64_t state = uint64_t(w) + 1;
      const auto draw = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // Each worker uses its own keys, so that only it writes their rows.
        return int64_t((state >> 33) % keys) * workers + w;
      };
      const auto pull = [&](int64_t key) {
        RowHandle handle;
        int64_t inserted = 0;
        wrong += !table->pull(1, &key, &handle, scratch, inserted).ok();
        return handle;
      };
      points.pass(size_t(w), /*rests=*/false, makePoint);
      int64_t nextKey = draw();
      RowHandle next = pull(nextKey);
      for (int step = 0; step < steps; ++step) {
        const int64_t key = nextKey;
        const RowHandle handle = next;
        nextKey = draw();
        next = pull(nextKey);
        const int64_t gone = draw();
        erased += int(table->erase(1, &gone, scratch));
        void *row = nullptr;
        table->rowsOf(1, &handle, &row);
        auto &value = *static_cast<double *>(row);
        for (int i = 0; i < 20; ++i) {
          value = double(key * 100 + i);
          std::this_thread::yield();
          wrong += value != double(key * 100 + i);
        }
        points.pass(size_t(w), /*rests=*/false, makePoint);
      }
      points.pass(size_t(w), /*rests=*/true, makePoint);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  // Memory of erased rows is reused.
  EXPECT_GT(erased, 2000);
  EXPECT_LT(table->memoryBytes(),
            size_t(erased) * width * sizeof(double) / 2 + (size_t(4) << 20));
}
