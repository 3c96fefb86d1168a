//===- Observe.cpp - Metric accumulators and their values -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi.h"

#include <cmath>

namespace {

constexpr double leastProbability = 1e-7;

bool isPositive(double label) { return label > 0.5; }

/// A prediction outside [0, 1] counts in the nearest bucket, NaN in the first.
int64_t bucketOf(double prediction, int64_t bucketCount) {
  const double scaled = prediction * static_cast<double>(bucketCount);
  if (!(scaled > 0.0))
    return 0;
  if (scaled >= static_cast<double>(bucketCount))
    return bucketCount - 1;
  return static_cast<int64_t>(scaled);
}

template <typename T>
void observe(int32_t kind, int64_t bucketCount, int64_t count,
             const T *predictions, const T *labels,
             const pdl_metric_data &metric) {
  if (kind == PDL_METRIC_AUC) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t bucket =
          bucketOf(static_cast<double>(predictions[i]), bucketCount);
      const bool positive = isPositive(static_cast<double>(labels[i]));
      ++metric.counts[bucket + (positive ? bucketCount : 0)];
    }
  } else if (kind == PDL_METRIC_LOG_LOSS) {
    for (int64_t i = 0; i < count; ++i) {
      double p = static_cast<double>(predictions[i]);
      p = p < leastProbability ? leastProbability : p;
      p = p > 1.0 - leastProbability ? 1.0 - leastProbability : p;
      const bool positive = isPositive(static_cast<double>(labels[i]));
      metric.sums[0] += -std::log(positive ? p : 1.0 - p);
      metric.sums[1] += 1.0;
    }
  } else {
    for (int64_t i = 0; i < count; ++i) {
      metric.sums[0] += static_cast<double>(labels[i]);
      metric.sums[1] += static_cast<double>(predictions[i]);
    }
  }
}

} // namespace

void pdlrt_observe(int32_t type, int32_t metricKind, int64_t bucketCount,
                   int64_t count, const void *predictions, const void *labels,
                   const pdl_metric_data *metric) {
  if (type == PDL_F64)
    observe(metricKind, bucketCount, count,
            static_cast<const double *>(predictions),
            static_cast<const double *>(labels), *metric);
  else
    observe(metricKind, bucketCount, count,
            static_cast<const float *>(predictions),
            static_cast<const float *>(labels), *metric);
}
