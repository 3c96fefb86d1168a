//===- MeanAbsoluteError.h - MAE --------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_MEANABSOLUTEERROR_H
#define PDLABI_METRICS_MEANABSOLUTEERROR_H

#include "pdlabi/metrics/Metric.h"

#include <cmath>

namespace pdlabi {

/// The mean of |prediction - label|.
struct MeanAbsoluteError : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_MAE;
  static constexpr const char *spelling = "#nn.mae";
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr int digits = 6;
  static std::string title(double) { return "MAE"; }

  static void observe(double, double prediction, double label, double weight,
                      double *sums) {
    add(std::abs(prediction - label), weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_MEANABSOLUTEERROR_H
