//===- SaveScheduleTest.cpp - When a trainer wants a checkpoint -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/SaveSchedule.h"

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
  schedule.noteFailure(start, 1);
  EXPECT_FALSE(schedule.isDue(start + seconds(9), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(10), 0));
  schedule.noteSave(start + seconds(10), 0);
  schedule.noteFailure(start + seconds(10), 2);
  EXPECT_FALSE(schedule.isDue(start + seconds(29), 0));
  EXPECT_TRUE(schedule.isDue(start + seconds(30), 0));
  schedule.noteSuccess();
  EXPECT_FALSE(schedule.isDue(start + seconds(1000), 0));
  EXPECT_EQ(SaveSchedule::pauseAfter(3), seconds(40));
  EXPECT_EQ(SaveSchedule::pauseAfter(1000), seconds(640));
}

TEST(SaveSchedule, PlansMeetingsSomeSecondsApart) {
  SaveSchedule schedule(std::nullopt, start, 0);
  EXPECT_EQ(schedule.lastPlanned(), 1);
  // Nothing is known of the speed yet; then it is 100 steps a second.
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
  // Steps that take long are one each.
  EXPECT_EQ(schedule.planMeeting(now + seconds(1000), steps + 1), 1);
  // A short interval is looked at four times.
  SaveSchedule often(4.0 / 60, start, 0);
  often.planMeeting(start, 0);
  for (plan = 1, steps = 0, now = start; plan < 100;) {
    steps += plan;
    now += std::chrono::milliseconds(10 * plan);
    plan = often.planMeeting(now, steps);
  }
  EXPECT_EQ(plan, 100);
}
