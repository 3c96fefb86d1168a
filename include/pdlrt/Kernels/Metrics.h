//===- Metrics.h - The sums of all metrics of a program ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of the sums that `pdlrt_observe` fills; what they mean is in
// pdlabi/metrics.h. All functions are pure or write only what is named; none
// allocates, but for `MetricSums`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_METRICS_H
#define PDLRT_KERNELS_METRICS_H

#include "pdlabi/abi.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Elements of one replica's sums of `metric`.
int64_t metricSumSize(const pdl_metric &metric);

/// Adds the sums of one replica to another's, as many. They are f64, so the
/// caller adds in replica order.
void addMetric(std::span<const double> from, std::span<double> into);

/// The metric's value; NaN where nothing was observed (AUC: where a class is
/// empty).
double metricValue(const pdl_metric &metric, std::span<const double> sums);

/// The sums of all metrics of a descriptor, of a number of replicas: metric by
/// metric, in it replica by replica. So they travel and are saved.
struct MetricSums {
  MetricSums() = default;
  /// Zeros.
  MetricSums(const pdl_descriptor &descriptor, int64_t replicas);

  std::vector<double> sums;
};

/// Where `MetricSums` has one metric.
struct MetricBlock {
  /// Its index in the descriptor.
  int32_t index;
  /// Elements of one replica.
  int64_t size;
  /// Of the first replica.
  double *sums;

  std::span<double> of(int64_t replica) const {
    return {sums + replica * size, static_cast<size_t>(size)};
  }
};

/// Calls visit(const MetricBlock &) for each metric in order. `all` was made
/// for that many replicas.
template <typename Visit>
void forEachMetric(const pdl_descriptor &descriptor, int64_t replicas,
                   MetricSums &all, Visit visit) {
  double *sums = all.sums.data();
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    const MetricBlock block = {m, metricSumSize(descriptor.metrics[m]), sums};
    visit(block);
    sums += replicas * block.size;
  }
}

} // namespace pdlrt

#endif // PDLRT_KERNELS_METRICS_H
