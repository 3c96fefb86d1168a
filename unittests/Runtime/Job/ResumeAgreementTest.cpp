//===- ResumeAgreementTest.cpp - Agreement on a checkpoint ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/ResumeAgreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace pdlrt;
using testing::HasSubstr;

using Answer = std::optional<int64_t>;

TEST(ResumeAgreementTest, TheNewestThatAllHaveIsFoundInTurns) {
  ResumeAgreement agreement(3);
  EXPECT_EQ(*agreement.report(0, 40), Answer());
  EXPECT_EQ(*agreement.report(1, 30), Answer());
  EXPECT_EQ(agreement.missing(), std::vector<int64_t>{2});
  // The last server has the oldest checkpoint, and waits for the others.
  EXPECT_EQ(*agreement.report(2, 20), Answer());
  EXPECT_EQ(*agreement.report(0, 40), Answer(20));
  EXPECT_EQ(*agreement.report(1, 30), Answer(20));
  // One server does not have that checkpoint either.
  EXPECT_EQ(*agreement.report(0, 20), Answer());
  EXPECT_EQ(*agreement.report(1, 10), Answer());
  EXPECT_EQ(*agreement.report(0, 20), Answer(10));
  EXPECT_EQ(*agreement.report(2, 20), Answer(10));
  EXPECT_EQ(*agreement.report(0, 10), Answer());
  EXPECT_EQ(*agreement.report(2, 10), Answer(10));
  // Repeated reports get the same response.
  for (int64_t rank = 0; rank < 3; ++rank)
    EXPECT_EQ(*agreement.report(rank, 10), Answer(10));
}

TEST(ResumeAgreementTest, AllMayBegin) {
  ResumeAgreement agreement(2);
  EXPECT_EQ(*agreement.report(1, -1), Answer());
  EXPECT_EQ(*agreement.report(0, -1), Answer(-1));
  EXPECT_EQ(*agreement.report(1, -1), Answer(-1));
}

TEST(ResumeAgreementTest, FoldersThatAreNotSharedAreAnError) {
  ResumeAgreement agreement(2);
  EXPECT_EQ(*agreement.report(0, 40), Answer());
  EXPECT_THAT(agreement.report(1, -1).status().message(),
              HasSubstr("server 1 finds no checkpoint"));
  EXPECT_THAT(agreement.report(0, 40).status().message(),
              HasSubstr("server 0 one of 40 steps"));
}

TEST(ResumeAgreementTest, AServerWithoutAWholeOneEndsAll) {
  ResumeAgreement agreement(2);
  EXPECT_FALSE(
      agreement.report(1, Status::invalidArgument("all damaged")).ok());
  EXPECT_THAT(agreement.report(0, 40).status().message(),
              HasSubstr("server 1 has no checkpoint to resume from: all dam"));
}

TEST(ResumeAgreementTest, ARankThatTheJobDoesNotHaveCountsForNothing) {
  ResumeAgreement agreement(2);
  EXPECT_EQ(*agreement.report(0, 40), Answer());
  for (const int64_t rank : {int64_t(7), int64_t(2), int64_t(-1)}) {
    EXPECT_FALSE(agreement.report(rank, 10).ok());
    EXPECT_FALSE(agreement.report(rank, Status::invalidArgument("none")).ok());
  }
  EXPECT_EQ(*agreement.report(0, 40), Answer());
  EXPECT_EQ(*agreement.report(1, 40), Answer(40));
}
