//===- TrainingLimitsTest.cpp - Limits of a training ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingLimits.h"

#include <gtest/gtest.h>

using namespace pdlrt;

TEST(TrainingLimits, AreOneEpochByDefault) {
  const TrainingLimits limits{SessionOptions()};
  EXPECT_EQ(limits.epochs(), 1);
  EXPECT_FALSE(limits.areExhausted(1'000'000));
  EXPECT_TRUE(limits.isLast(0, 10));
}

TEST(TrainingLimits, LetStepsNeedAnyNumberOfEpochs) {
  SessionOptions options;
  options.steps = 10;
  const TrainingLimits limits(options);
  EXPECT_FALSE(limits.isLast(1'000'000, 9));
  EXPECT_TRUE(limits.isLast(0, 10));
  EXPECT_EQ(limits.stepsLeft(7), 3);
  EXPECT_FALSE(limits.areExhausted(9));
  EXPECT_TRUE(limits.areExhausted(10));
  // A checkpoint may have more steps than requested.
  EXPECT_TRUE(limits.areExhausted(11));
}

TEST(TrainingLimits, EndAtTheFirstOfBoth) {
  SessionOptions options;
  options.steps = 10;
  options.epochs = 2;
  const TrainingLimits limits(options);
  EXPECT_FALSE(limits.isLast(0, 9));
  EXPECT_TRUE(limits.isLast(1, 9));
  EXPECT_TRUE(limits.isLast(0, 10));
}
