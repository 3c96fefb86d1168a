//===- Metric.h - What metrics have in common -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A metric is a struct of static members, in a file of its own:
//
//   int32_t kind                 its pdl_metric_kind
//   const char *spelling         how a model writes it
//   const char *domain           what its parameter may be; null if it has none
//   bool accepts(parameter)      whether the parameter is one of those
//   MetricInput input            what it observes of a sample
//   int digits                   behind the point, in reports
//   std::string title(parameter) what reports call it
//   int64_t sumCount(parameter)  how many f64 sums it keeps
//   bool sumCountTellsParameter  whether other parameters have other sums
//   void observe(parameter, ..., weight, sums)
//                                adds one finite sample; `...` is a value, a
//                                prediction and a label, or a RankedList
//   double value(parameter, sums)
//                                what the sums come to; NaN: nothing
//   const char *whyUndefined(parameter, sums)
//                                why finite sums, not all 0, come to nothing
//   std::string remark(parameter, sums)
//                                optional: what reports add to the value
//   bool expectsProbabilities    optional: predictions outside of [0, 1] are
//                                counted, in one more sum behind the others
//
// The sums of replicas are added element by element, so a metric is what a sum
// over samples can say. Its parameter is one number: buckets, a threshold, k.
// Only a metric of groups keeps the samples themselves, and sums when they are
// all there (GroupedAreaUnderCurve.h).
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_METRIC_H
#define PDLABI_METRICS_METRIC_H

#include "pdlabi/abi.h"

#include <cstdint>
#include <limits>
#include <string>

namespace pdlabi {

/// What a metric observes of a sample.
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

/// Whether a label counts as a click, or an item as relevant.
inline bool isPositiveLabel(double label) { return label > 0.5; }

/// Of metrics without a parameter.
struct WithoutParameter {
  static constexpr const char *domain = nullptr;
  static bool accepts(double) { return true; }
};

/// Of metrics that are a weighted mean over samples, or another quotient of two
/// sums.
struct QuotientMetric {
  static constexpr bool sumCountTellsParameter = false;
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
