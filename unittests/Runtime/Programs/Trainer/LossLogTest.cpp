//===- LossLogTest.cpp - Log of the losses of steps -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/LossLog.h"

#include "Support/TestFolder.h"

#include <gtest/gtest.h>

using namespace pdlrt;

static StepResult stepOf(double lossSum, double weightSum) {
  StepResult result;
  result.lossSum = lossSum;
  result.weightSum = weightSum;
  return result;
}

TEST(LossLog, HasTheMeanLossOfEachStep) {
  TestFolder folder;
  LossLog log;
  EXPECT_FALSE(log.lines().has_value());
  ASSERT_TRUE(log.open(folder.file("losses")).ok());
  log.add(stepOf(3, 2));
  log.add(stepOf(0, 0));
  EXPECT_EQ(log.lines(), 2);
  log.close();
  EXPECT_EQ(folder.read("losses"), "1.5\nnan\n");
  EXPECT_FALSE(log.lines().has_value());
}

TEST(LossLog, ContinuesAfterTheResumedSteps) {
  TestFolder folder;
  const std::string path = folder.write("losses", "1\n2\n3\n");
  LossLog log;
  ASSERT_TRUE(log.resume(path, 2, 2).ok());
  EXPECT_EQ(log.lines(), 2);
  log.add(stepOf(8, 2));
  log.flush();
  EXPECT_EQ(folder.read("losses"), "1\n2\n4\n");
}

TEST(LossLog, DoesNothingWithoutAFile) {
  LossLog log;
  log.add(stepOf(1, 1));
  log.flush();
  log.flushQuietly();
  log.close();
  EXPECT_FALSE(log.lines().has_value());
}

// The training continues without the log.
TEST(LossLog, ClosesAFileThatCannotBeWritten) {
  LossLog log;
  ASSERT_TRUE(log.open("/dev/full").ok());
  log.add(stepOf(1, 1));
  log.flush();
  EXPECT_FALSE(log.lines().has_value());
}
