//===- LogLoss.h - Mean log loss --------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_LOGLOSS_H
#define PDLABI_METRICS_LOGLOSS_H

#include "pdlabi/metrics/Metric.h"

#include <cmath>

namespace pdlabi {

/// The mean of -log(p) for positives and -log(1 - p) for negatives, with p
/// limited to [1e-7, 1 - 1e-7].
struct LogLoss : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_LOG_LOSS;
  static constexpr const char *spelling = "#nn.log_loss";
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr int digits = 4;
  static constexpr const char *meaningOutside = nearestProbability;
  static std::string title(double) { return "log loss"; }

  static void observe(double, double prediction, double label, double weight,
                      double *sums) {
    constexpr double least = 1e-7;
    double p = prediction < least ? least : prediction;
    p = p > 1.0 - least ? 1.0 - least : p;
    add(-std::log(isPositiveLabel(label) ? p : 1.0 - p), weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_LOGLOSS_H
