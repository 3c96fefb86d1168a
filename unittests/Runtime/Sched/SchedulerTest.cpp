//===- SchedulerTest.cpp - Index ranges on threads ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sched/Scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <sched.h>
#include <set>
#include <system_error>
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

// Many short calls in a row: a thread that wakes late must not run the task of
// a call that has returned.
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

TEST(Scheduler, TasksWithoutThreadsRunTheirOwnInOrder) {
  Scheduler scheduler(3);
  std::vector<std::vector<int64_t>> orders(6);
  scheduler.parallelFor(6, [&](int64_t i) {
    std::thread::id self = std::this_thread::get_id();
    EXPECT_EQ(parallelWidth(), 1);
    parallelFor(4, [&](int64_t j) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      orders[i].push_back(j);
    });
  });
  for (const std::vector<int64_t> &order : orders)
    EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(parallelWidth(), 1);
}

// The threads to which a task gives its own tasks meet, so that neither can end
// without the other.
TEST(Scheduler, TasksShareWhatTheyAreAllowedTo) {
  Scheduler scheduler(3);
  std::atomic<int> together{0};
  scheduler.parallelFor(
      1,
      [&](int64_t) {
        EXPECT_EQ(parallelWidth(), 2);
        parallelFor(2, [&](int64_t) {
          EXPECT_EQ(parallelWidth(), 1);
          ++together;
          while (together < 2)
            std::this_thread::yield();
        });
      },
      /*width=*/2);
  EXPECT_EQ(together, 2);
  EXPECT_EQ(parallelWidth(), 1);
  Scheduler alone(1);
  alone.parallelFor(
      1, [&](int64_t) { EXPECT_EQ(parallelWidth(), 1); }, /*width=*/4);
}

TEST(Scheduler, NoMoreThreadsThanAllowedShareACall) {
  Scheduler scheduler(6);
  std::atomic<int> now{0}, most{0};
  scheduler.parallelFor(
      1,
      [&](int64_t) {
        parallelFor(200, [&](int64_t) {
          const int here = ++now;
          for (int seen = most; seen < here;)
            most.compare_exchange_weak(seen, here);
          std::this_thread::yield();
          --now;
        });
      },
      /*width=*/2);
  EXPECT_LE(most, 2);
}

// As for a batch that is prepared while another one is computed.
TEST(Scheduler, NestedCallsRunEachTaskOnce) {
  for (std::optional<uint64_t> disturbance :
       {std::optional<uint64_t>(), std::optional<uint64_t>(5)}) {
    auto scheduler = disturbance ? std::make_unique<Scheduler>(4, *disturbance)
                                 : std::make_unique<Scheduler>(4);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::vector<std::atomic<int>>> calls(3);
      for (auto &inner : calls)
        inner = std::vector<std::atomic<int>>(40);
      scheduler->parallelFor(
          3,
          [&](int64_t i) {
            parallelFor(40, [&](int64_t j) { ++calls[i][j]; });
          },
          /*width=*/3);
      for (const auto &inner : calls)
        for (const std::atomic<int> &count : inner)
          ASSERT_EQ(count, 1);
    }
  }
}

TEST(Scheduler, PinsThreadsToProcessorsOfTheirOwn) {
  // Runs on a separate thread, which stays pinned.
  std::thread([] {
    cpu_set_t all;
    ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    const int processors = CPU_COUNT(&all);
    try {
      Scheduler scheduler(processors + 1, Pinning::Processors);
      FAIL() << "there are too few processors";
    } catch (const std::system_error &error) {
      EXPECT_THAT(
          error.what(),
          testing::HasSubstr(std::to_string(processors + 1) +
                             " threads cannot be pinned to " +
                             std::to_string(processors) +
                             " processors; give fewer --threads, or leave "
                             "--pin-threads out"));
    }
    Scheduler scheduler(processors, Pinning::Processors);
    std::mutex mutex;
    std::map<std::thread::id, int> cpus;
    std::atomic<int> together{0};
    scheduler.parallelFor(processors, [&](int64_t) {
      cpu_set_t own;
      EXPECT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
      EXPECT_EQ(CPU_COUNT(&own), 1);
      ++together;
      while (together < processors)
        std::this_thread::yield();
      const std::lock_guard lock(mutex);
      cpus[std::this_thread::get_id()] = sched_getcpu();
    });
    std::set<int> distinct;
    for (const auto &[thread, cpu] : cpus)
      distinct.insert(cpu);
    EXPECT_EQ(int(distinct.size()), processors);
  }).join();
}

TEST(Scheduler, SeveralThreadsCall) {
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
