//===- RunningEpoch.h - What an epoch has counted so far --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_RUNNINGEPOCH_H
#define PDLRT_CHECKPOINT_RUNNINGEPOCH_H

#include "pdlabi/abi.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Kernels/Metrics.h"

#include <string>
#include <vector>

namespace pdlrt {

/// Loss and metric accumulators of a running epoch, of all replicas of a job.
struct RunningEpoch {
  double lossSum = 0;
  double weightSum = 0;
  MetricSums metrics;
  /// Metrics that a checkpoint did not have, or of another kind: zeros so far.
  std::vector<std::string> newMetrics;
  /// The samples of metrics of groups: by metric of the descriptor, in it by
  /// replica. Empty where there are none.
  std::vector<pdlabi::GroupedSamples> groups = {};
};

Status saveRunningEpoch(const pdl_descriptor &descriptor,
                        const RunningEpoch &running, int replicas,
                        CheckpointWriter &writer);
/// An error where the checkpoint is of another number of replicas.
Expected<RunningEpoch> loadRunningEpoch(const pdl_descriptor &descriptor,
                                        int replicas,
                                        const Checkpoint &checkpoint);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_RUNNINGEPOCH_H
