//===- EvaluationMetrics.h - Registered metrics of evaluations --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EVALUATIONMETRICS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EVALUATIONMETRICS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Engine/PassReport.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pdlrt {

/// Metrics of the process with the results of the evaluations of a training.
class EvaluationMetrics {
public:
  /// `program`: the program that evaluates. The arguments must outlive the
  /// object.
  EvaluationMetrics(const pdl_descriptor &descriptor,
                    const pdl_program &program);

  /// Records the results of the evaluation after `steps` steps, which took
  /// `seconds`.
  void set(const PassReport &report, int64_t steps, double seconds);

private:
  void setValue(std::optional<Gauge> &gauge, const char *name, double value);

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Counter count;
  Histogram duration;
  Gauge trainingSteps;
  // Without a gauge until there is a value.
  std::vector<std::optional<Gauge>> metrics;
};

/// Declares the metrics, so that lists of metrics contain them before the first
/// evaluation.
void declareEvaluationMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EVALUATIONMETRICS_H
