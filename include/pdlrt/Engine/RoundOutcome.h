//===- RoundOutcome.h - Results of a round of steps -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ROUNDOUTCOME_H
#define PDLRT_ENGINE_ROUNDOUTCOME_H

#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>

namespace pdlrt {

/// Sums of the weighted losses and of the sample weights of a step, over the
/// replicas that take part in it.
struct StepSums {
  /// Sums of the program's first objective, whose loss is the loss of the
  /// program.
  double lossSum = 0;
  double weightSum = 0;
  /// Sum of the weights of the other objectives.
  double otherWeights = 0;

  void take(const PartialSum &merged) {
    lossSum = merged.objectives.front().loss;
    weightSum = merged.objectives.front().weight;
    otherWeights = merged.otherWeights();
  }
  bool hasNoWeight() const { return !(weightSum > 0 || otherWeights > 0); }
};

/// The outcome of a round. In modes whose steps are rounds, it is the same on
/// all trainers that take part. In other modes, sums and counts are those of
/// the sender alone.
struct RoundOutcome : StepSums {
  /// Number of trainers that have a batch for the next step.
  int64_t sendersWithNextBatch = 0;
  /// True if any trainer was asked to shut down.
  bool stop = false;
  /// True if a trainer or a server requests a checkpoint after this step.
  bool save = false;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ROUNDOUTCOME_H
