//===- Metrics.h - Sums of a program's metrics ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations on the sums of metrics, to which `pdlrt_observe` adds;
// pdlabi/metrics.h defines the sums. All functions are pure or write only to
// their arguments. Only `MetricSums` allocates memory.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_METRICS_H
#define PDLRT_KERNELS_METRICS_H

#include "pdlabi/abi/descriptor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Returns the number of sums that one replica has for `metric`.
int64_t metricSumSize(const pdl_metric &metric);

/// Adds the sums `from` of one replica to `into`, which has the same size. Sums
/// are f64, so the result depends on the order: callers must add in the order
/// of replicas.
void addMetric(std::span<const double> from, std::span<double> into);

/// Returns the value of a metric with the sums `sums`. Returns NaN if the
/// metric has observed nothing, or if an AUC metric has observed only one
/// class.
double metricValue(const pdl_metric &metric, std::span<const double> sums);

/// The sums of all metrics of a descriptor for several replicas. Their order is
/// by metric, then by replica. Messages and checkpoints have the same order.
struct MetricSums {
  MetricSums() = default;
  /// Initializes all sums to zero.
  MetricSums(const pdl_descriptor &descriptor, int64_t replicas);

  std::vector<double> sums;
};

/// Position of one metric in `MetricSums`.
struct MetricBlock {
  /// Index of the metric in the descriptor.
  int32_t index;
  /// Number of sums that one replica has.
  int64_t size;
  /// Sums of the first replica. The sums of the others follow.
  double *sums;

  std::span<double> of(int64_t replica) const {
    return {sums + replica * size, static_cast<size_t>(size)};
  }
};

/// Calls visit(const MetricBlock &) for each metric in order. `all` must have
/// been created for `replicas` replicas.
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
