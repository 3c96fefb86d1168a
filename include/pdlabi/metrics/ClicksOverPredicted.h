//===- ClicksOverPredicted.h - COPC -----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_CLICKSOVERPREDICTED_H
#define PDLABI_METRICS_CLICKSOVERPREDICTED_H

#include "pdlabi/metrics/Metric.h"

namespace pdlabi {

/// Clicks over predicted clicks: the sum of the labels, as numbers, divided by
/// the sum of the predictions.
struct ClicksOverPredicted : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_COPC;
  static constexpr const char *spelling = "#nn.copc";
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr int digits = 4;
  static constexpr const char *meaningOutside =
      "they are added as the numbers that they are";
  static std::string title(double) { return "COPC"; }

  static void observe(double, double prediction, double label, double weight,
                      double *sums) {
    sums[0] += weight * label;
    sums[1] += weight * prediction;
  }
  static const char *whyUndefined(double, const double *) {
    return "the predictions sum to 0";
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_CLICKSOVERPREDICTED_H
