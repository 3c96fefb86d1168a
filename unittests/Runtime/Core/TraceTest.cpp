//===- TraceTest.cpp - Traces of threads ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

using namespace pdlrt;

TEST(Trace, KeepsSpansOfAllThreadsWhileItIsOn) {
  {
    const TraceSpan before("before");
  }
  Trace::start();
  Trace::nameThread("tester");
  {
    const TraceSpan outer("outer", {3, 4});
    const TraceSpan inner("inner");
  }
  std::thread([] {
    Trace::nameThread("other");
    const TraceSpan span("elsewhere");
  }).join();
  const Trace::Recorded recorded = Trace::stop();
  {
    const TraceSpan after("after");
  }
  EXPECT_EQ(recorded.lost, 0);
  ASSERT_EQ(recorded.threads.size(), 2u);
  const ThreadTrace &own = recorded.threads[0];
  EXPECT_EQ(own.name, "tester");
  // Events are in the order in which they ended.
  ASSERT_EQ(own.events.size(), 2u);
  const TraceEvent &inner = own.events[0], &outer = own.events[1];
  EXPECT_STREQ(inner.name, "inner");
  EXPECT_STREQ(outer.name, "outer");
  EXPECT_THAT(outer.numbers, testing::ElementsAre(3, 4, 0));
  EXPECT_LE(recorded.begin, outer.begin);
  EXPECT_LE(outer.begin, inner.begin);
  EXPECT_LE(inner.begin, inner.end);
  EXPECT_LE(inner.end, outer.end);
  EXPECT_EQ(recorded.threads[1].name, "other");
  ASSERT_EQ(recorded.threads[1].events.size(), 1u);
  EXPECT_STREQ(recorded.threads[1].events[0].name, "elsewhere");
  Trace::start();
  for (const ThreadTrace &thread : Trace::stop().threads)
    EXPECT_TRUE(thread.events.empty());
}

TEST(Trace, HasTracksOfWhatIsNoThread) {
  TraceTrack track("a machine");
  track.record({"before", 1, 2, {}});
  Trace::start();
  track.record({"work", 3, 5, {7}});
  const Trace::Recorded recorded = Trace::stop();
  track.record({"after", 6, 7, {}});
  const auto found =
      std::ranges::find(recorded.threads, "a machine", &ThreadTrace::name);
  ASSERT_NE(found, recorded.threads.end());
  ASSERT_EQ(found->events.size(), 1u);
  EXPECT_STREQ(found->events[0].name, "work");
  EXPECT_EQ(found->events[0].begin, 3);
  EXPECT_EQ(found->events[0].end, 5);
}

TEST(Trace, CountsWhatItHasNoRoomFor) {
  Trace::start();
  for (int64_t i = 0; i < Trace::maxEvents + 5; ++i)
    const TraceSpan span("one");
  const Trace::Recorded recorded = Trace::stop();
  EXPECT_EQ(recorded.lost, 5);
}
