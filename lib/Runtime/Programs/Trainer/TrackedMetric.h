//===- TrackedMetric.h - Metric whose best value is tracked -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRACKEDMETRIC_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRACKEDMETRIC_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Checkpoint/EvaluationProgress.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// A metric of the evaluations of a training.
struct TrackedMetric {
  /// Values that are better than others: higher values, lower values, or values
  /// closer to 1.
  enum class Goal { Highest, Lowest, One };

  /// Index of the metric in the descriptor.
  int32_t index = 0;
  /// Name for users, such as "@auc".
  std::string name;
  Goal goal = Goal::Lowest;

  /// Finds the metric with the name `name`, with or without "@". If `name` is
  /// empty, finds the first AUC; without an AUC, the first metric. Returns an
  /// error that lists the metrics if there is none of this name. `program`: the
  /// program that evaluates.
  static Expected<TrackedMetric> find(const pdl_descriptor &descriptor,
                                      const pdl_program &program,
                                      const std::string &name);

  /// Returns the value in an evaluation, or NaN if it has none.
  double valueIn(const PassReport &report) const;
  /// Returns a text with the value, with as many digits as in reports.
  std::string describe(const pdl_descriptor &descriptor, double value) const;

  /// Compares the value of the evaluation after `steps` steps with `best`.
  /// Replaces `best` and returns true if the value is better by more than
  /// `minDelta`, or if there is none yet. Otherwise counts a miss. NaN and
  /// infinite values are never better.
  bool note(double value, int64_t steps, double minDelta,
            BestValue &best) const;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRACKEDMETRIC_H
