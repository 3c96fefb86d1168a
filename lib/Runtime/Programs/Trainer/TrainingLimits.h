//===- TrainingLimits.h - Limits of a training ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGLIMITS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGLIMITS_H

#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <limits>

namespace pdlrt {

/// Limits of a training: --steps and --epochs.
class TrainingLimits {
public:
  explicit TrainingLimits(const SessionOptions &options)
      : maxSteps(options.steps.value_or(std::numeric_limits<int64_t>::max())),
        maxEpochs(options.epochs.value_or(
            options.steps ? std::numeric_limits<int64_t>::max() : 1)) {}

  /// Returns the number of epochs of all runs.
  int64_t epochs() const { return maxEpochs; }
  /// Returns the number of steps that may follow the first `steps` steps.
  int64_t stepsLeft(int64_t steps) const { return maxSteps - steps; }
  bool areExhausted(int64_t steps) const { return stepsLeft(steps) <= 0; }
  /// Returns true if `epoch` is the last epoch. `steps`: number of steps of all
  /// runs when it has ended.
  bool isLast(int64_t epoch, int64_t steps) const {
    return epoch + 1 >= maxEpochs || areExhausted(steps);
  }

private:
  int64_t maxSteps, maxEpochs;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGLIMITS_H
