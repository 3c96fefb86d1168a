//===- Accuracy.h - Accuracy at a threshold ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_ACCURACY_H
#define PDLABI_METRICS_ACCURACY_H

#include "pdlabi/metrics/Metric.h"

#include <cmath>

namespace pdlabi {

/// The fraction of samples that are classified correctly: the prediction is
/// above the threshold if and only if the label is positive.
struct Accuracy : QuotientMetric {
  static constexpr int32_t kind = PDL_METRIC_ACCURACY;
  static constexpr const char *spelling = "#nn.accuracy<threshold = X>";
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr const char *domain = "a finite threshold";
  static constexpr int digits = 4;
  static bool accepts(double threshold) { return std::isfinite(threshold); }
  static std::string title(double) { return "accuracy"; }

  static void observe(double threshold, double prediction, double label,
                      double weight, double *sums) {
    const bool isRight = (prediction > threshold) == isPositiveLabel(label);
    add(isRight ? 1.0 : 0.0, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_ACCURACY_H
