//===- Mean.h - Mean of a value ---------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_MEAN_H
#define PDLABI_METRICS_MEAN_H

#include "pdlabi/metrics/Metric.h"

namespace pdlabi {

/// The mean of one value per sample, such as a loss.
struct Mean : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_MEAN;
  static constexpr const char *spelling = "#nn.mean";
  static constexpr MetricInput input = MetricInput::Value;
  static constexpr int digits = 6;
  static std::string title(double) { return "mean"; }

  static void observe(double, double value, double weight, double *sums) {
    add(value, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_MEAN_H
