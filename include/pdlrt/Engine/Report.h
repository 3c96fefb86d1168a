//===- Report.h - Figures of a pass over data -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REPORT_H
#define PDLRT_ENGINE_REPORT_H

#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Losses and metrics of one pass (an epoch, an evaluation). Losses are those
/// of the job in training.
struct Report {
  int64_t samples = 0;
  int64_t steps = 0;
  int64_t skippedUpdates = 0;
  double seconds = 0;
  double lossSum = 0;
  double weightSum = 0;
  /// By descriptor metric; NaN where nothing was observed.
  std::vector<double> metrics;

  void add(const StepResult &step);
  /// NaN if the weights sum to zero.
  double meanLoss() const;
};

/// The value of the first AUC metric, summed over the replicas of this process;
/// NaN if there is none.
double firstAuc(const pdl_descriptor &descriptor, const ReplicaSet &replicas);

/// Lines such as "test loss 0.312345", "test AUC 0.9155 (@auc)", each of which
/// begins with `label` and what it is; a metric's name follows. Metrics that
/// observed nothing are left out.
std::vector<std::string> reportLines(const std::string &label,
                                     const pdl_descriptor &descriptor,
                                     bool hasLoss, const Report &report);

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPORT_H
