//===- Replica.h - One logical worker of a program --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REPLICA_H
#define PDLRT_ENGINE_REPLICA_H

#include "pdlrt/Engine/BatchContext.h"
#include "pdlrt/Kernels/Metrics.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// One logical worker: a ring of batch contexts that share one set of metrics.
/// While the gradients of one batch are being sent, the next one can be
/// prepared. A replica is not thread-safe; different replicas can run
/// concurrently.
class Replica {
public:
  /// `model` and `program` must outlive the replica. `ringSize`: number of
  /// batches that are alive at the same time. `number`: index of the replica in
  /// its process.
  Replica(Model &model, const pdl_program &program, int ringSize, int number);

  /// Returns the context whose batch is computed next, or was computed last.
  BatchContext &current() { return *ring[place]; }
  const BatchContext &current() const { return *ring[place]; }
  /// Returns BatchContext::deviceNeeds of the batch that was computed last.
  Expected<BatchContext::DeviceNeeds> deviceNeeds() const {
    return current().deviceNeeds(ring.size());
  }
  /// Returns the next context in the ring.
  BatchContext &following() { return *ring[(place + 1) % ring.size()]; }
  const BatchContext &following() const {
    return *ring[(place + 1) % ring.size()];
  }
  /// Makes the following context the current one.
  void advance() { place = (place + 1) % ring.size(); }

  /// Registers the listener that is called when a gradient of this replica is
  /// complete. `number` identifies the replica in the call.
  void reportGradients(GradientListener *who, int number) {
    for (const std::unique_ptr<BatchContext> &context : ring)
      context->reportGradients(who, number);
  }

  /// Returns the sums of a descriptor metric since the last reset,
  /// `metricSumSize` elements.
  double *metric(int32_t index) const { return metrics[index]; }
  /// Returns the samples of a descriptor metric since the last reset; empty if
  /// it is not a metric of groups.
  pdlabi::GroupedSamples &groups(int32_t index) {
    return groupedSamples[index];
  }
  const pdlabi::GroupedSamples &groups(int32_t index) const {
    return groupedSamples[index];
  }
  /// Returns the number of samples that the metrics of groups keep.
  int64_t groupedCount() const;
  /// Starts copying the observations of metrics, on the host.
  void keepObserved();
  /// Observations of the batch that was computed last; null if nothing is
  /// copied.
  const ObservedSamples *observed() const { return observedSamples.get(); }
  /// Counters of its pulls since the last reset.
  PullCounts pullCounts() const;
  /// Resets metrics and pull counters, and discards the samples of groups.
  void resetCounters();

private:
  MetricSums metricSums;
  /// Indexed by descriptor metric; points into `metricSums`.
  std::vector<double *> metrics;
  std::vector<pdlabi::GroupedSamples> groupedSamples;
  std::unique_ptr<ObservedSamples> observedSamples;
  ComputeBuffers buffers;
  std::vector<std::unique_ptr<BatchContext>> ring;
  size_t place = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICA_H
