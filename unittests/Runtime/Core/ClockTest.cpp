//===- ClockTest.cpp - Time and timers ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Clock.h"

#include <future>
#include <gtest/gtest.h>
#include <vector>

using namespace pdlrt;
using namespace std::chrono_literals;

namespace {

TEST(ClockTest, ManualRunsByTimeThenByOrder) {
  ManualClock clock;
  std::vector<int> order;
  clock.runAt(5ms, [&] { order.push_back(3); });
  clock.runAt(2ms, [&] {
    order.push_back(1);
    // A time in the past runs now, after everything that waits for this time.
    clock.runAt(1ms, [&] {
      order.push_back(2);
      EXPECT_EQ(clock.now(), 2ms);
    });
  });
  clock.runAt(5ms, [&] { order.push_back(4); });
  clock.runAt(9ms, [&] { order.push_back(5); });
  clock.advanceTo(7ms);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(clock.now(), 7ms);
  EXPECT_TRUE(clock.runNext());
  EXPECT_EQ(clock.now(), 9ms);
  EXPECT_FALSE(clock.runNext());
}

TEST(ClockTest, RealRunsByTimeOnOneThread) {
  std::vector<int> order;
  std::promise<void> last;
  RealClock clock;
  const ClockTime start = clock.now();
  clock.runAt(start + 30ms, [&] {
    order.push_back(2);
    EXPECT_GE(clock.now(), start + 30ms);
    last.set_value();
  });
  clock.runAt(start + 10ms, [&] { order.push_back(1); });
  last.get_future().wait();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(ClockTest, RealDropsCallsThatAreNotDue) {
  bool ran = false;
  {
    RealClock clock;
    clock.runAfter(1h, [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

} // namespace
