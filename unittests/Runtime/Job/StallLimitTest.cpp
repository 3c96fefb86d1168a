//===- StallLimitTest.cpp - Limit for work without progress ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/StallLimit.h"

#include <gtest/gtest.h>

using namespace pdlrt;

TEST(StallLimitTest, OnlyWorkWithoutProgressIsLimited) {
  const auto at = [](int seconds) {
    return ClockTime(std::chrono::seconds(seconds));
  };
  StallLimit limit(at(10), at(100));
  EXPECT_FALSE(limit.isExceeded(0, at(110)));
  EXPECT_TRUE(limit.isExceeded(0, at(111)));
  EXPECT_FALSE(limit.isExceeded(1, at(115)));
  EXPECT_FALSE(limit.isExceeded(1, at(125)));
  EXPECT_FALSE(limit.isExceeded(2, at(126)));
  EXPECT_FALSE(limit.isExceeded(2, at(136)));
  EXPECT_TRUE(limit.isExceeded(2, at(137)));
}
