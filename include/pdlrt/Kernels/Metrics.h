//===- Metrics.h - Metric accumulators and their values ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of the accumulators that `pdlrt_observe` fills. All functions
// are pure or write only what is named; none allocates, but for `MetricSums`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_METRICS_H
#define PDLRT_KERNELS_METRICS_H

#include "pdlabi/abi.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Elements of `pdl_metric_data::counts` for `metric`; 0 if it has none.
int64_t metricCountSize(const pdl_metric &metric);

/// Elements of `pdl_metric_data::sums` for `metric`; 0 if it has none.
int64_t metricSumSize(const pdl_metric &metric);

/// Adds the accumulators of one replica to another's. Counts are exact; sums
/// are f64, so the caller adds in replica order.
void addMetric(const pdl_metric &metric, const pdl_metric_data &from,
               pdl_metric_data &into);

/// Replaces the accumulators of one replica by another's.
void copyMetric(const pdl_metric &metric, const pdl_metric_data &from,
                pdl_metric_data &into);

/// The accumulators of all metrics of a descriptor, of a number of replicas:
/// metric by metric, in it replica by replica. So they travel and are saved.
struct MetricSums {
  MetricSums() = default;
  /// Zeros.
  MetricSums(const pdl_descriptor &descriptor, int64_t replicas);

  std::vector<int64_t> counts;
  std::vector<double> sums;
};

/// Where `MetricSums` has one metric.
struct MetricBlock {
  /// Its index in the descriptor.
  int32_t index;
  /// Elements of one replica.
  int64_t countSize, sumSize;
  /// Of the first replica.
  int64_t *counts;
  double *sums;

  pdl_metric_data of(int64_t replica) const {
    return {counts + replica * countSize, sums + replica * sumSize};
  }
};

/// Calls visit(const MetricBlock &) for each metric in order. `all` was made
/// for that many replicas.
template <typename Visit>
void forEachMetric(const pdl_descriptor &descriptor, int64_t replicas,
                   MetricSums &all, Visit visit) {
  int64_t *counts = all.counts.data();
  double *sums = all.sums.data();
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    const pdl_metric &metric = descriptor.metrics[m];
    const MetricBlock block = {m, metricCountSize(metric),
                               metricSumSize(metric), counts, sums};
    visit(block);
    counts += replicas * block.countSize;
    sums += replicas * block.sumSize;
  }
}

/// The area under the ROC curve of the histogram, `counts` as
/// `pdl_metric_data` lays them out: the share of (positive, negative) pairs
/// that stand in the right order, pairs within one bucket counting half. Exact
/// up to the final division. NaN where one of the classes is empty.
double aucOfHistogram(int64_t bucketCount, const int64_t *counts);

/// The metric's value: the AUC, the mean log loss, or clicks over predicted
/// clicks. NaN where nothing was observed (AUC: where a class is empty).
double metricValue(const pdl_metric &metric, const pdl_metric_data &data);

} // namespace pdlrt

#endif // PDLRT_KERNELS_METRICS_H
