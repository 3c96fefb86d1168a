//===- QuiescentPointsTest.cpp - Points among workers ---------------------===//
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

TEST(QuiescentPoints, WaitForAllThatWork) {
  QuiescentPoints points(2);
  // Nobody else works.
  EXPECT_TRUE(points.pass(0));
  EXPECT_TRUE(points.pass(0));
  EXPECT_FALSE(points.pass(1));
  EXPECT_FALSE(points.pass(1));
  EXPECT_TRUE(points.pass(0));
  EXPECT_FALSE(points.pass(0));
  EXPECT_TRUE(points.rest(1));
  EXPECT_TRUE(points.pass(0));
  const size_t third = points.add();
  EXPECT_EQ(third, 2u);
  EXPECT_TRUE(points.pass(0));
  EXPECT_FALSE(points.pass(third));
  EXPECT_TRUE(points.rest(0));
  EXPECT_TRUE(points.rest(third));
}

// Workers hold what they found through one step; nobody may give the memory of
// such a row to another key, however points fall.
TEST(QuiescentPoints, NoRowIsUsedAgainWhileSomebodyHoldsIt) {
  constexpr int workers = 3, steps = 3000;
  constexpr int64_t keys = 40;
  TableOptions options;
  options.elementType = PDL_F64;
  options.width = 1;
  const auto table = createHashTable(options);
  QuiescentPoints points(workers);
  std::atomic<int> wrong{0}, used{0};
  std::vector<std::thread> threads;
  for (int w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      TableScratch scratch;
      uint64_t state = uint64_t(w) + 1;
      const auto draw = [&] {
        state = state * 6364136223846793005u + 1442695040888963407u;
        // Of each worker's own keys, so that it alone writes their rows.
        return int64_t((state >> 33) % keys) * workers + w;
      };
      const auto pass = [&] {
        if (points.pass(size_t(w)))
          table->quiesce(0);
      };
      pass();
      for (int step = 0; step < steps; ++step) {
        const int64_t key = draw();
        int64_t inserted = 0;
        RowHandle handle;
        void *row = nullptr;
        if (!table->pull(1, &key, &handle, scratch, inserted).ok())
          ++wrong;
        const int64_t gone = draw();
        used += int(table->erase(1, &gone, scratch));
        table->rowsOf(1, &handle, &row);
        auto &value = *static_cast<double *>(row);
        for (int i = 0; i < 20; ++i) {
          value = double(key * 100 + i);
          std::this_thread::yield();
          wrong += value != double(key * 100 + i);
        }
        pass();
      }
      if (points.rest(size_t(w)))
        table->quiesce(0);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(used, 0);
  // Rows are used again: not each one that was erased is new memory.
  EXPECT_LT(table->memoryBytes(), size_t(8) << 20);
}
