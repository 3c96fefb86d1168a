//===- Metric.h - Members of a metric ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A metric is a struct of static members, in its own file:
//
//   int32_t kind                 its pdl_metric_kind
//   const char *spelling         its spelling in a model
//   const char *domain           text: the allowed values of its parameter;
//                                null if it has no parameter
//   bool accepts(parameter)      true if the parameter is allowed
//   MetricInput input            the data of a sample that it observes
//   int digits                   number of decimal places in reports
//   std::string title(parameter) its name in reports
//   int64_t sumCount(parameter)  number of its sums, which are f64
//   bool sumCountDefinesParameter  true if the number of sums differs between
//                                parameters
//   void observe(parameter, ..., weight, sums)
//                                adds one finite sample; `...` is a value, a
//                                prediction and a label, or a RankedList
//   double value(parameter, sums)
//                                the metric's value; NaN: undefined
//   const char *whyUndefined(parameter, sums)
//                                why finite sums, not all 0, have no value
//   std::string remark(parameter, sums)
//                                optional: text that reports add to the value
//   const char *meaningOutside   optional: predictions outside of [0, 1] are
//                                counted, in one more sum after the others;
//                                the text says how the metric treats them
//
// The sums of replicas are added element by element, so a metric must be a
// function of sums over samples. Its parameter is one number: a number of
// buckets, a threshold, or k. Only a grouped metric stores the samples. It
// computes its sums when all samples have arrived (GroupedAreaUnderCurve.h).
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_METRIC_H
#define PDLABI_METRICS_METRIC_H

#include "pdlabi/abi/metric.h"

#include <cstdint>
#include <limits>
#include <string>

namespace pdlabi {

/// Data that a metric observes of a sample.
enum class MetricInput {
  /// One value.
  Value,
  /// A prediction and a label.
  Pair,
  /// The scores of a list of items, and their relevance.
  List,
  /// A prediction, a label, and the group that the sample belongs to.
  GroupedPair
};

inline constexpr double undefinedMetric =
    std::numeric_limits<double>::quiet_NaN();

/// Treatment of a prediction outside [0, 1], for messages of metrics that clamp
/// it.
inline constexpr char nearestProbability[] = "they count as 0 or 1";

/// Returns true if a label counts as a click, or an item as relevant.
inline bool isPositiveLabel(double label) { return label > 0.5; }

/// Base of metrics without a parameter.
struct WithoutParameter {
  static constexpr const char *domain = nullptr;
  static bool accepts(double) { return true; }
};

/// Base of metrics that are a weighted mean over samples, or another quotient
/// of two sums.
struct QuotientMetric {
  static constexpr bool sumCountDefinesParameter = false;
  static int64_t sumCount(double) { return 2; }
  /// Adds a term of a weighted mean.
  static void add(double term, double weight, double *sums) {
    sums[0] += weight * term;
    sums[1] += weight;
  }
  static double value(double, const double *sums) {
    return sums[1] == 0.0 ? undefinedMetric : sums[0] / sums[1];
  }
  static const char *whyUndefined(double, const double *) {
    return "the weights sum to 0";
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_METRIC_H
