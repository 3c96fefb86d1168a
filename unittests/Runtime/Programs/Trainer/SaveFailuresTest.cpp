//===- SaveFailuresTest.cpp - Failures of saves ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/SaveFailures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

using namespace pdlrt;
using std::chrono::seconds;

static const SaveSchedule::Time start =
    SaveSchedule::Time() + std::chrono::hours(1);

static Status fullDisk() { return Status::ioError("the disk is full"); }

TEST(SaveFailures, StopsAfterTooManyThatCount) {
  SaveSchedule schedule(std::nullopt, start, 0);
  SaveFailures failures(2, schedule);
  EXPECT_FALSE(failures.note(fullDisk(), 0, start));
  EXPECT_TRUE(failures.isUnsaved());
  // During the pause after a failure, another one does not count.
  EXPECT_FALSE(failures.note(fullDisk(), 0, start + seconds(1)));
  EXPECT_FALSE(failures.note(fullDisk(), 0, start + seconds(100)));
  EXPECT_TRUE(failures.note(fullDisk(), 0, start + seconds(1000)));
  EXPECT_EQ(failures.failure().message(), "the disk is full");
}

TEST(SaveFailures, ForgetsThemAfterACompletedSave) {
  SaveSchedule schedule(std::nullopt, start, 0);
  SaveFailures failures(0, schedule);
  EXPECT_TRUE(failures.note(fullDisk(), 0, start));
  // The result of a later call is of no save.
  EXPECT_FALSE(failures.note({}, 0, start));
  EXPECT_TRUE(failures.isUnsaved());
  EXPECT_FALSE(failures.note({}, 1, start + seconds(1)));
  EXPECT_FALSE(failures.isUnsaved());
  EXPECT_TRUE(failures.failure().ok());
  EXPECT_EQ(schedule.failures(), 0);
}

// The command fails with the reason, although the end was saved.
TEST(SaveFailures, KeepsTheOneThatStoppedTheTraining) {
  SaveSchedule schedule(std::nullopt, start, 0);
  SaveFailures failures(0, schedule);
  EXPECT_TRUE(failures.note(fullDisk(), 0, start));
  failures.giveUp();
  EXPECT_FALSE(failures.note({}, 1, start + seconds(1)));
  EXPECT_TRUE(failures.hasGivenUp());
  EXPECT_FALSE(failures.isUnsaved());
  EXPECT_EQ(failures.failure().message(), "the disk is full");
}

TEST(SaveFailures, DoesNotStopATrainingThatHasEnded) {
  SaveSchedule schedule(std::nullopt, start, 0);
  SaveFailures failures(0, schedule);
  failures.noteTrained();
  EXPECT_FALSE(failures.note(fullDisk(), 0, start));
  EXPECT_TRUE(failures.isUnsaved());
  EXPECT_EQ(schedule.failures(), 0);
}
