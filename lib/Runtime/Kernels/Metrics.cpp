//===- Metrics.cpp - Sums and values of metrics ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Metrics.h"

#include <algorithm>
#include <limits>

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

void copyMetric(const pdl_metric &metric, const pdl_metric_data &from,
                pdl_metric_data &into) {
  std::copy_n(from.counts, metricCountSize(metric), into.counts);
  std::copy_n(from.sums, metricSumSize(metric), into.sums);
}

MetricSums::MetricSums(const pdl_descriptor &descriptor, int64_t replicas) {
  int64_t countSize = 0, sumSize = 0;
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    countSize += metricCountSize(descriptor.metrics[m]);
    sumSize += metricSumSize(descriptor.metrics[m]);
  }
  counts.resize(replicas * countSize);
  sums.resize(replicas * sumSize);
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
