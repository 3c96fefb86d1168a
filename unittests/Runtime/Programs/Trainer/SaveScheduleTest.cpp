//===- SaveScheduleTest.cpp - Schedule of saves by time and request -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/SaveSchedule.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

using namespace pdlrt;
using std::chrono::seconds;

static const SaveSchedule::Time start =
    SaveSchedule::Time() + std::chrono::hours(1);

TEST(SaveSchedule, CountsMinutesFromTheLastSave) {
  SaveSchedule schedule(2.0, start, 0);
  EXPECT_FALSE(schedule.isDue(start + seconds(119), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(120), 0));
  schedule.noteSave(start + seconds(100), 0);
  EXPECT_FALSE(schedule.isDue(start + seconds(219), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(220), 0));
}

TEST(SaveSchedule, TakesEachRequestOnce) {
  SaveSchedule schedule(std::nullopt, start, 3);
  EXPECT_FALSE(schedule.isDue(start, 3));
  EXPECT_TRUE(schedule.isDue(start, 4));
  schedule.noteSave(start, 4);
  EXPECT_FALSE(schedule.isDue(start + seconds(1000000), 4));
}

TEST(SaveSchedule, TriesAgainAfterPausesThatDouble) {
  SaveSchedule schedule(std::nullopt, start, 0);
  EXPECT_TRUE(schedule.noteFailure(start));
  EXPECT_FALSE(schedule.isDue(start + seconds(9), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(10), 0));
  schedule.noteSave(start + seconds(10), 0);
  EXPECT_TRUE(schedule.noteFailure(start + seconds(10)));
  EXPECT_FALSE(schedule.isDue(start + seconds(29), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(30), 0));
  schedule.noteSuccess();
  EXPECT_EQ(schedule.failures(), 0);
  EXPECT_FALSE(schedule.isDue(start + seconds(1000), 0));
  EXPECT_EQ(SaveSchedule::pauseAfter(3), seconds(40));
  EXPECT_EQ(SaveSchedule::pauseAfter(1000), seconds(640));
}

// Steps are fast: saves after every few steps would reach the allowed number of
// failures within a second.
TEST(SaveSchedule, CountsOneFailureInEachPause) {
  SaveSchedule schedule(std::nullopt, start, 0);
  EXPECT_TRUE(schedule.noteFailure(start));
  for (const int second : {0, 1, 9}) {
    schedule.noteSave(start + seconds(second), 0);
    EXPECT_FALSE(schedule.noteFailure(start + seconds(second)));
    // The next attempt is not delayed.
    EXPECT_TRUE(schedule.isDue(start + seconds(10), 0));
  }
  EXPECT_EQ(schedule.failures(), 1);
  EXPECT_TRUE(schedule.noteFailure(start + seconds(10)));
  EXPECT_FALSE(schedule.noteFailure(start + seconds(29)));
  EXPECT_TRUE(schedule.noteFailure(start + seconds(30)));
  EXPECT_EQ(schedule.failures(), 3);
  schedule.noteSuccess();
  EXPECT_TRUE(schedule.noteFailure(start + seconds(31)));
  EXPECT_EQ(schedule.failures(), 1);
}

TEST(SaveSchedule, PlansMeetingsSomeSecondsApart) {
  SaveSchedule schedule(std::nullopt, start, 0);
  EXPECT_EQ(schedule.lastPlanned(), 1);
  // The speed is not known at first; then it is 100 steps per second.
  EXPECT_EQ(schedule.planMeeting(start, 0), 1);
  int64_t steps = 0, plan = 1;
  SaveSchedule::Time now = start;
  for (const int64_t expected : {4, 16, 64, 256, 500, 500}) {
    steps += plan;
    now += std::chrono::milliseconds(10 * plan);
    plan = schedule.planMeeting(now, steps);
    EXPECT_EQ(plan, expected);
  }
  EXPECT_EQ(schedule.lastPlanned(), 500);
  // Slow steps have a meeting each.
  EXPECT_EQ(schedule.planMeeting(now + seconds(1000), steps + 1), 1);
  // A short interval has four meetings.
  SaveSchedule often(4.0 / 60, start, 0);
  often.planMeeting(start, 0);
  for (plan = 1, steps = 0, now = start; plan < 100;) {
    steps += plan;
    now += std::chrono::milliseconds(10 * plan);
    plan = often.planMeeting(now, steps);
  }
  EXPECT_EQ(plan, 100);
}
