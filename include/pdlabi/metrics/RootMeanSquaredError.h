//===- RootMeanSquaredError.h - RMSE ----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_ROOTMEANSQUAREDERROR_H
#define PDLABI_METRICS_ROOTMEANSQUAREDERROR_H

#include "pdlabi/metrics/Metric.h"

#include <cmath>

namespace pdlabi {

/// The square root of the mean of (prediction - label)^2.
struct RootMeanSquaredError : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_RMSE;
  static constexpr const char *spelling = "#nn.rmse";
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr int digits = 6;
  static std::string title(double) { return "RMSE"; }

  static void observe(double, double prediction, double label, double weight,
                      double *sums) {
    const double error = prediction - label;
    add(error * error, weight, sums);
  }
  static double value(double parameter, const double *sums) {
    return std::sqrt(QuotientMetric::value(parameter, sums));
  }
  static const char *whyUndefined(double, const double *sums) {
    return sums[1] == 0.0 ? "the weights sum to 0"
                          : "the mean of the squares is below 0: a weight is "
                            "negative";
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_ROOTMEANSQUAREDERROR_H
