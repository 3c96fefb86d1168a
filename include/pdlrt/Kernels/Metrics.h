//===- Metrics.h - Sums of a program's metrics ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations on the sums that `pdlrt_observe` fills; pdlabi/metrics.h defines
// them. All functions are pure or write only to their arguments. Only
// `MetricSums` allocates.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_KERNELS_METRICS_H
#define PDLRT_KERNELS_METRICS_H

#include "pdlabi/abi/descriptor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Returns the number of elements of one replica's sums of `metric`.
int64_t metricSumSize(const pdl_metric &metric);

/// Adds the sums of one replica to another's, of the same size. They are f64,
/// so the caller must add in replica order.
void addMetric(std::span<const double> from, std::span<double> into);

/// Returns the metric's value; NaN if nothing was observed (AUC: if a class is
/// empty).
double metricValue(const pdl_metric &metric, std::span<const double> sums);

/// The sums of all metrics of a descriptor, for several replicas: metric by
/// metric, then replica by replica. This is their format in messages and
/// checkpoints.
struct MetricSums {
  MetricSums() = default;
  /// Initializes all sums to zero.
  MetricSums(const pdl_descriptor &descriptor, int64_t replicas);

  std::vector<double> sums;
};

/// Position of one metric in `MetricSums`.
struct MetricBlock {
  /// Its index in the descriptor.
  int32_t index;
  /// Number of elements of one replica.
  int64_t size;
  /// Sums of the first replica.
  double *sums;

  std::span<double> of(int64_t replica) const {
    return {sums + replica * size, static_cast<size_t>(size)};
  }
};

/// Calls visit(const MetricBlock &) for each metric in order. `all` must have
/// been made for this number of replicas.
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
