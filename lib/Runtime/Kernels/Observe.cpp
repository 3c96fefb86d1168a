//===- Observe.cpp - Metric accumulators and their values -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Metrics.h"

#include <cmath>
#include <limits>

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

namespace pdlrt {

int64_t metricCountSize(const pdl_metric &metric) {
  return metric.kind == PDL_METRIC_AUC ? 2 * metric.bucket_count : 0;
}

int64_t metricSumSize(const pdl_metric &metric) {
  return metric.kind == PDL_METRIC_AUC ? 0 : 2;
}

void addMetric(const pdl_metric &metric, const pdl_metric_data &from,
               pdl_metric_data &into) {
  for (int64_t i = 0, e = metricCountSize(metric); i < e; ++i)
    into.counts[i] += from.counts[i];
  for (int64_t i = 0, e = metricSumSize(metric); i < e; ++i)
    into.sums[i] += from.sums[i];
}

double aucOfHistogram(int64_t bucketCount, const int64_t *counts) {
  const int64_t *negatives = counts;
  const int64_t *positives = counts + bucketCount;
  // Twice the number of pairs that stand in the right order, a tie being half
  // a pair: an integer, so no rounding until the one division.
  unsigned __int128 doubledPairs = 0;
  uint64_t negativesBelow = 0;
  uint64_t positiveTotal = 0;
  for (int64_t i = 0; i < bucketCount; ++i) {
    const uint64_t negative = static_cast<uint64_t>(negatives[i]);
    const uint64_t positive = static_cast<uint64_t>(positives[i]);
    doubledPairs += static_cast<unsigned __int128>(positive) *
                    (2 * negativesBelow + negative);
    negativesBelow += negative;
    positiveTotal += positive;
  }
  if (negativesBelow == 0 || positiveTotal == 0)
    return std::numeric_limits<double>::quiet_NaN();
  const unsigned __int128 allPairs =
      static_cast<unsigned __int128>(positiveTotal) * negativesBelow;
  return static_cast<double>(doubledPairs) /
         (2.0 * static_cast<double>(allPairs));
}

double metricValue(const pdl_metric &metric, const pdl_metric_data &data) {
  if (metric.kind == PDL_METRIC_AUC)
    return aucOfHistogram(metric.bucket_count, data.counts);
  if (data.sums[1] == 0.0)
    return std::numeric_limits<double>::quiet_NaN();
  return data.sums[0] / data.sums[1];
}

} // namespace pdlrt
