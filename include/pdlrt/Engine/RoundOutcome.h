//===- RoundOutcome.h - What a round of steps came to -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ROUNDOUTCOME_H
#define PDLRT_ENGINE_ROUNDOUTCOME_H

#include "pdlrt/Sum/Contribution.h"

#include <cstdint>

namespace pdlrt {

/// The sums of a step over the replicas that took part.
struct StepSums {
  /// Of the program's first objective, whose loss is that of the program.
  double lossSum = 0;
  double weightSum = 0;
  /// The weights of its other objectives, added up.
  double otherWeights = 0;

  void take(const Contribution &merged) {
    lossSum = merged.objectives.front().loss;
    weightSum = merged.objectives.front().weight;
    otherWeights = merged.otherWeights();
  }
  bool hasNoWeight() const { return !(weightSum > 0 || otherWeights > 0); }
};

/// What a round came to: equal on all trainers that take part in it.
struct RoundOutcome : StepSums {
  /// Trainers that have a batch for the next step.
  int64_t contributingNext = 0;
  /// Whether any trainer was asked to stop.
  bool stop = false;
  /// Whether any trainer wants a checkpoint after this step.
  bool save = false;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ROUNDOUTCOME_H
