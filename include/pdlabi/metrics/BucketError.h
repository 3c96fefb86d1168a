//===- BucketError.h - Relative error of click rates ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_BUCKETERROR_H
#define PDLABI_METRICS_BUCKETERROR_H

#include "pdlabi/metrics/ClickHistogram.h"

#include <cmath>

namespace pdlabi {

/// The mean relative error of predicted click rates, over ranges of predictions
/// with enough samples.
///
/// Ranges consist of buckets, in ascending order. The prediction of a bucket is
/// its lower bound. A range ends when it has enough samples: when its expected
/// relative error, sqrt((1 - p) / (p * n)) for n samples with mean prediction
/// p, is below 0.05. Then its error |clicks / (n * p) - 1| is added to the mean
/// with weight n. A range also ends, without being counted, before a bucket
/// that is more than 0.01 above its first one.
struct BucketError : ClickHistogram {
  static constexpr int32_t kind = PDL_METRIC_BUCKET_ERROR;
  static constexpr const char *spelling = "#nn.bucket_error<buckets = N>";
  static constexpr int digits = 4;
  static std::string title(double) { return "bucket error"; }

  static double value(double parameter, const double *sums) {
    constexpr double widestSpan = 0.01, largestExpectedError = 0.05;
    const int64_t buckets = static_cast<int64_t>(parameter);
    double spanBegin = 0, samples = 0, predicted = 0, clicks = 0;
    bool isOpen = false;
    double errors = 0, counted = 0;
    for (int64_t i = 0; i < buckets; ++i) {
      const double border = static_cast<double>(i) / parameter;
      if (!isOpen || border - spanBegin > widestSpan) {
        isOpen = true;
        spanBegin = border;
        samples = predicted = clicks = 0;
      }
      const double ofBucket = sums[i] + sums[buckets + i];
      samples += ofBucket;
      predicted += border * ofBucket;
      clicks += sums[buckets + i];
      // Without samples, or with mean prediction 0, the error is not defined.
      if (!(samples > 0 && predicted > 0))
        continue;
      const double mean = predicted / samples;
      if (!(std::sqrt((1 - mean) / predicted) < largestExpectedError))
        continue;
      errors += std::abs(clicks / predicted - 1) * samples;
      counted += samples;
      isOpen = false;
    }
    return counted > 0 ? errors / counted : undefinedMetric;
  }

  static const char *whyUndefined(double, const double *) {
    return "no span of predictions holds enough samples";
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_BUCKETERROR_H
