//===- SchedulerTest.cpp - Index ranges on threads ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sched/Scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

using namespace pdlrt;

TEST(Scheduler, RunsEachTaskOnce) {
  for (int threads : {1, 2, 7}) {
    Scheduler scheduler(threads);
    EXPECT_EQ(scheduler.threadCount(), threads);
    for (int64_t count : {0, 1, 2, 3, 100, 10000}) {
      std::vector<int> calls(count);
      scheduler.parallelFor(count, [&](int64_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1));
    }
  }
}

// Many short calls in a row: a thread that wakes late must not touch the task
// of a call that has returned.
TEST(Scheduler, DisturbedCallsRunEachTaskOnceInAnotherOrder) {
  for (int64_t count : {2, 3, 7, 64, 1000}) {
    Scheduler scheduler(1, /*disturbance=*/count);
    std::vector<int64_t> order, ordered(count);
    std::iota(ordered.begin(), ordered.end(), 0);
    for (int call = 0; call < 3; ++call) {
      std::vector<int64_t> taken;
      scheduler.parallelFor(count, [&](int64_t i) { taken.push_back(i); });
      order.insert(order.end(), taken.begin(), taken.end());
      std::sort(taken.begin(), taken.end());
      EXPECT_EQ(taken, ordered);
    }
    if (count > 3)
      EXPECT_FALSE(std::equal(ordered.begin(), ordered.end(), order.begin()));
  }
  Scheduler scheduler(4, /*disturbance=*/1);
  std::vector<std::atomic<int>> calls(500);
  scheduler.parallelFor(500, [&](int64_t i) { ++calls[i]; });
  for (const std::atomic<int> &count : calls)
    EXPECT_EQ(count, 1);
}

TEST(Scheduler, SurvivesManyShortCalls) {
  Scheduler scheduler(4);
  int64_t sum = 0;
  for (int round = 0; round < 20000; ++round) {
    std::atomic<int64_t> local{0};
    scheduler.parallelFor(3, [&](int64_t i) { local += i; });
    sum += local;
  }
  EXPECT_EQ(sum, 60000);
}

TEST(Scheduler, NestedCallsRunInOrderOnTheCaller) {
  Scheduler scheduler(3);
  std::vector<std::vector<int64_t>> orders(6);
  scheduler.parallelFor(6, [&](int64_t i) {
    std::thread::id self = std::this_thread::get_id();
    scheduler.parallelFor(4, [&](int64_t j) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      orders[i].push_back(j);
    });
  });
  for (const std::vector<int64_t> &order : orders)
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Scheduler, CallersTakeTurns) {
  Scheduler scheduler(2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round)
        scheduler.parallelFor(10, [&](int64_t i) { sum += i; });
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 200 * 45);
}
