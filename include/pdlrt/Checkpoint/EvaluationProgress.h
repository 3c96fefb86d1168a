//===- EvaluationProgress.h - Evaluations of a training ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_EVALUATIONPROGRESS_H
#define PDLRT_CHECKPOINT_EVALUATIONPROGRESS_H

#include <cstdint>
#include <string>

namespace pdlrt {

/// Best value of a metric over the evaluations of a training.
struct BestValue {
  /// Name of the metric; empty if no metric is tracked.
  std::string metric = {};
  double value = 0;
  /// Number of training steps at the evaluation with this value; 0: none yet.
  int64_t steps = 0;
  /// Number of evaluations since then, none of which was better.
  int64_t misses = 0;
};

/// Progress of the evaluations of a training, over all runs.
struct EvaluationProgress {
  /// Number of training steps at the last evaluation; 0: none yet.
  int64_t steps = 0;
  /// `monitored`: best value of the metric that early stopping uses. `kept`:
  /// best value of the metric that selects the checkpoint to keep.
  BestValue monitored = {}, kept = {};
};

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_EVALUATIONPROGRESS_H
