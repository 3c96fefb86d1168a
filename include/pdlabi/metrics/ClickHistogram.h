//===- ClickHistogram.h - Histogram of labels by prediction -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_CLICKHISTOGRAM_H
#define PDLABI_METRICS_CLICKHISTOGRAM_H

#include "pdlabi/metrics/Metric.h"

namespace pdlabi {

/// Base of metrics that use a histogram of predictions in [0, 1]. The sums are
/// the weights of the negative samples in each bucket, followed by the weights
/// of the positive samples in each bucket.
struct ClickHistogram {
  static constexpr MetricInput input = MetricInput::Pair;
  static constexpr const char *domain = "between 2 and 16777216 buckets";
  static constexpr bool sumCountDefinesParameter = true;
  static constexpr const char *meaningOutside = nearestProbability;
  static bool accepts(double buckets) {
    return buckets >= 2 && buckets <= 16777216;
  }
  static int64_t sumCount(double buckets) {
    return 2 * static_cast<int64_t>(buckets);
  }
  /// Returns the bucket of a finite prediction: min(buckets - 1, floor(p *
  /// buckets)), or 0 if p is negative.
  static int64_t bucketOf(double prediction, double buckets) {
    const double scaled = prediction * buckets;
    if (!(scaled > 0.0))
      return 0;
    if (scaled >= buckets)
      return static_cast<int64_t>(buckets) - 1;
    return static_cast<int64_t>(scaled);
  }
  static void observe(double buckets, double prediction, double label,
                      double weight, double *sums) {
    count(bucketOf(prediction, buckets), buckets, label, weight, sums);
  }

protected:
  static void count(int64_t bucket, double buckets, double label, double weight,
                    double *sums) {
    sums[bucket + (isPositiveLabel(label) ? static_cast<int64_t>(buckets)
                                          : 0)] += weight;
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_CLICKHISTOGRAM_H
