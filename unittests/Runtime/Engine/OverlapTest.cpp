//===- OverlapTest.cpp - Decision to send gradients early -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Overlap.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// 8 MB over a link with 100 Mbit/s, during 400 ms of backward pass.
OverlapMeasures slowLink() {
  return {.parts = 8,
          .bytes = 8'000'000,
          .window = 0.4,
          .travel = 0.64,
          .handing = 0.002,
          .with = 0.9,
          .without = 1.3};
}

TEST(Overlap, PaysWhereTheLinkIsSlowAndMuchIsDense) {
  const OverlapDecision decision = decideOverlap(slowLink());
  EXPECT_TRUE(decision.isOn);
  EXPECT_THAT(
      decision.why,
      HasSubstr(
          "8000000 bytes in 8 parts travel for 640.000 ms, of "
          "which 400.000 ms fit into the time of computing at the price of "
          "2.000 ms; a step takes 900.000 ms with it, 1300.000 "
          "ms without, by chance 0.000 ms more or less"));
}

TEST(Overlap, DoesNotPayForATinyModelOnOneHost) {
  // There are no parts, because none is filled.
  EXPECT_FALSE(decideOverlap({.with = 0.001, .without = 0.001}).isOn);
  // Parts are so small that passing them on takes longer than sending them.
  const OverlapMeasures tiny = {.parts = 2,
                                .bytes = 2000,
                                .window = 0.0002,
                                .travel = 0.00003,
                                .handing = 0.00004,
                                .with = 0.001,
                                .without = 0.00105};
  EXPECT_FALSE(decideOverlap(tiny).isOn);
}

TEST(Overlap, NeedsTimeDuringComputing) {
  // The gradients are ready only at the end of the step.
  OverlapMeasures late = slowLink();
  late.window = 0.001;
  EXPECT_FALSE(decideOverlap(late).isOn);
}

TEST(Overlap, NeedsAGainThatWasSeen) {
  // Computing threads wait for sending ones, so there is no gain.
  OverlapMeasures busy = slowLink();
  busy.with = 1.295;
  EXPECT_FALSE(decideOverlap(busy).isOn);
  busy.with = 1.4;
  EXPECT_FALSE(decideOverlap(busy).isOn);
  // The gain cannot be distinguished from noise.
  OverlapMeasures uneven = slowLink();
  uneven.noise = 0.21;
  EXPECT_FALSE(decideOverlap(uneven).isOn);
  uneven.noise = 0.19;
  EXPECT_TRUE(decideOverlap(uneven).isOn);
}

TEST(Overlap, TriesStepsEachWayInTurn) {
  OverlapTrial trial;
  std::string tried;
  for (int step = 0; step < 20 && !trial.decision(); ++step) {
    const bool tries = trial.tries(step);
    tried += tries ? '+' : '-';
    OverlapMeasures measures = slowLink();
    // The costs of a first step or of a busy moment do not count.
    if (step < 2 || step == 5)
      measures.with = measures.without = 50;
    if (!tries)
      measures = {.without = measures.without};
    trial.note(tries, measures);
  }
  EXPECT_EQ(tried, "--+--++--++--++--+");
  ASSERT_TRUE(trial.decision());
  EXPECT_TRUE(trial.decision()->isOn);
  EXPECT_THAT(trial.decision()->why,
              HasSubstr("900.000 ms with it, 1300.000 ms without, by chance "
                        "0.000 ms more or less"));
}

/// A step takes as long as on the slowest trainer.
TEST(Overlap, TrainersThatWaitForEachOtherTryTheSameSteps) {
  OverlapTrial trials[3];
  for (int step = 0; step < 30; ++step) {
    bool tries[3], all = true;
    for (int t = 0; t < 3; ++t)
      all &= tries[t] = trials[t].tries(step);
    for (int t = 0; t < 3; ++t) {
      // Each trainer has some steps without gradients.
      if ((step + t) % 7 == 3)
        continue;
      OverlapMeasures measures = slowLink();
      measures.with = measures.without = all ? 0.9 : 1.3;
      trials[t].note(tries[t], measures);
    }
  }
  for (const OverlapTrial &trial : trials) {
    ASSERT_TRUE(trial.decision());
    EXPECT_TRUE(trial.decision()->isOn) << trial.decision()->why;
  }
}

TEST(Overlap, IsOffWhereStepsDifferByChance) {
  // The noise is as large as the gain: 10 ms of 100.
  OverlapTrial trial;
  for (int step = 0; !trial.decision(); ++step) {
    OverlapMeasures measures = slowLink();
    const double chance = 0.02 * (step % 5 - 2);
    const bool tries = trial.tries(step);
    if (tries)
      measures.with = 0.09 + chance;
    else
      measures = {.without = 0.1 + chance};
    trial.note(tries, measures);
  }
  EXPECT_FALSE(trial.decision()->isOn);
}

} // namespace
