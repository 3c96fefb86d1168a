//===- Replica.h - One logical worker of one program ------------*- C++ -*-===//
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

/// A ring of batch contexts that share one set of metrics: while the gradients
/// of one batch still travel, the next one is prepared. One thread at a time;
/// replicas run beside each other.
class Replica {
public:
  /// Both outlive the replica. `ringSize`: batches that are alive at once.
  /// `number`: of the replica in its process.
  Replica(Model &model, const pdl_program &program, int ringSize, int number);

  /// The context whose batch is computed next, or was last.
  BatchContext &current() { return *ring[place]; }
  const BatchContext &current() const { return *ring[place]; }
  /// See BatchContext; of the batch that was computed last.
  Expected<BatchContext::DeviceNeeds> deviceNeeds() const {
    return current().deviceNeeds(ring.size());
  }
  /// The one behind it in the ring.
  BatchContext &following() { return *ring[(place + 1) % ring.size()]; }
  const BatchContext &following() const {
    return *ring[(place + 1) % ring.size()];
  }
  /// Makes that the current one.
  void advance() { place = (place + 1) % ring.size(); }

  /// Who is told when one of its gradients is all written, and that it is of
  /// replica `number`.
  void tellOfGradients(GradientListener *who, int number) {
    for (const std::unique_ptr<BatchContext> &context : ring)
      context->tellOfGradients(who, number);
  }

  /// By descriptor metric: its sums since the last reset, `metricSumSize` many.
  double *metric(int32_t index) const { return metrics[index]; }
  /// By descriptor metric: the samples since the last reset, none where it is
  /// no metric of groups.
  pdlabi::GroupedSamples &groups(int32_t index) {
    return groupedSamples[index];
  }
  const pdlabi::GroupedSamples &groups(int32_t index) const {
    return groupedSamples[index];
  }
  /// How many samples metrics of groups keep.
  int64_t groupedCount() const;
  /// From now on copies what metrics observe, on the host.
  void keepObserved();
  /// That of the batch that was computed last; null where nothing is copied.
  const ObservedSamples *observed() const { return observedSamples.get(); }
  /// What its pulls met since the last reset.
  PullCounts pullCounts() const;
  /// Zeroes metrics and pull counts, and forgets samples of groups.
  void resetCounters();

private:
  MetricSums metricSums;
  /// By descriptor metric, in `metricSums`.
  std::vector<double *> metrics;
  std::vector<pdlabi::GroupedSamples> groupedSamples;
  std::unique_ptr<ObservedSamples> observedSamples;
  ComputeBuffers buffers;
  std::vector<std::unique_ptr<BatchContext>> ring;
  size_t place = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPLICA_H
