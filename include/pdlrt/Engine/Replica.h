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

/// One logical worker. It has a ring of batch contexts, so that the next batch
/// can be prepared while the current one is computed or its gradients are sent.
/// All contexts share one set of metrics. A replica is not thread-safe, but
/// different replicas can be used concurrently.
class Replica {
public:
  /// `ringSize` is the number of batches that exist at the same time. `number`
  /// is the index of the replica in its process. `model` and `program` must
  /// outlive the replica.
  Replica(Model &model, const pdl_program &program, int ringSize, int number);

  /// Returns the context whose batch is computed next, or was computed last.
  BatchContext &current() { return *ring[place]; }
  const BatchContext &current() const { return *ring[place]; }
  /// Returns `BatchContext::deviceNeeds` of the batch that was computed last.
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
  /// complete. It gets `number` to identify the replica.
  void reportGradients(GradientListener *who, int number) {
    for (const std::unique_ptr<BatchContext> &context : ring)
      context->reportGradients(who, number);
  }

  /// Returns the sums since the last reset of the metric with index `index` in
  /// the descriptor: `metricSumSize` elements.
  double *metric(int32_t index) const { return metrics[index]; }
  /// Returns the samples since the last reset of the metric with index `index`
  /// in the descriptor. Empty if it is not a grouped metric.
  pdlabi::GroupedSamples &groups(int32_t index) {
    return groupedSamples[index];
  }
  const pdlabi::GroupedSamples &groups(int32_t index) const {
    return groupedSamples[index];
  }
  /// Returns the number of samples that all grouped metrics of this replica
  /// store.
  int64_t groupedCount() const;
  /// From now on, copies the samples that metrics observe to host memory
  /// (`observed`).
  void keepObserved();
  /// Returns the samples that metrics observed in the batch that was computed
  /// last; null if `keepObserved` was not called.
  const ObservedSamples *observed() const { return observedSamples.get(); }
  /// Returns the counters of the pulls of all contexts since the last reset.
  PullCounts pullCounts() const;
  /// Resets metrics and pull counters, and discards the samples of grouped
  /// metrics.
  void resetCounters();

private:
  MetricSums metricSums;
  /// Address of each metric's sums in `metricSums`, by metric of the
  /// descriptor.
  std::vector<double *> metrics;
  std::vector<pdlabi::GroupedSamples> groupedSamples;
  std::unique_ptr<ObservedSamples> observedSamples;
  ComputeBuffers buffers;
  std::vector<std::unique_ptr<BatchContext>> ring;
  size_t place = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICA_H
