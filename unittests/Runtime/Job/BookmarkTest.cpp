//===- BookmarkTest.cpp - What workers leave with their requests ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/Bookmark.h"

#include <gmock/gmock.h>

#include <string>

using namespace pdlrt;

static WorkerBookmark example() {
  WorkerBookmark bookmark;
  bookmark.process.place = Bookmark::Place::Step;
  bookmark.process.epoch = 3;
  bookmark.process.totalSteps = 71;
  bookmark.process.agreedSteps = 60;
  bookmark.process.passSteps = 11;
  bookmark.process.stepsEnded = true;
  bookmark.process.report.lossSum = 0.125;
  bookmark.process.metrics.sums = {4, 5};
  bookmark.mark = {
      13, true, {{{0.5, 64, 0}, 64, false}, {{0.25, 0, 1}, 8, true}}};
  bookmark.positions.resize(1);
  bookmark.positions[0].epoch = 3;
  bookmark.positions[0].batch = 26;
  bookmark.badRows = 2;
  bookmark.metrics = {1, 2, 3};
  return bookmark;
}

TEST(WorkerBookmark, GoesBothWays) {
  const Expected<WorkerBookmark> read =
      decodeWorkerBookmark(encodeBookmark(example()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->process.epoch, 3);
  EXPECT_EQ(read->process.totalSteps, 71);
  EXPECT_EQ(read->process.agreedSteps, 60);
  EXPECT_EQ(read->process.passSteps, 11);
  EXPECT_TRUE(read->process.stepsEnded);
  EXPECT_EQ(read->process.report.lossSum, 0.125);
  EXPECT_THAT(read->process.metrics.sums, testing::ElementsAre(4, 5));
  EXPECT_EQ(read->mark.done, 13);
  EXPECT_TRUE(read->mark.hasNext);
  ASSERT_EQ(read->mark.results.size(), 2U);
  EXPECT_EQ(read->mark.results[0].lossSum, 0.5);
  EXPECT_EQ(read->mark.results[1].samples, 8);
  EXPECT_TRUE(read->mark.results[1].skipped);
  ASSERT_EQ(read->positions.size(), 1U);
  EXPECT_EQ(read->positions[0].batch, 26);
  EXPECT_EQ(read->badRows, 2);
  EXPECT_THAT(read->metrics, testing::ElementsAre(1, 2, 3));
}

// Any bytes are safe; the same number of them is not enough.
TEST(WorkerBookmark, DamageIsRefusedOrHarmless) {
  const std::string whole = encodeBookmark(example()).toString();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        decodeWorkerBookmark(Message::ofString(whole.substr(0, size))).ok());
  for (size_t at = 0; at < whole.size(); ++at)
    for (const char bit : {1, 0x40, -0x80}) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ bit);
      (void)decodeWorkerBookmark(Message::ofString(damaged));
    }
}
