//===- TrainerRecords.h - Progress of trainers from records -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_TRAINERRECORDS_H
#define LIB_RUNTIME_RECOVERY_TRAINERRECORDS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Server/StateServer.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Progress of a training: the part of a checkpoint that is not state.
struct TrainingPlace {
  TrainingProgress progress;
  RunningEpoch running;
  /// Number of replicas in the job.
  int replicas = 0;
  /// Number of training steps at which the running epoch was divided again; 0:
  /// it was not.
  int64_t dividedAt = 0;
};

/// Metrics of a trainer's program, which a server's program does not have.
class ObservedMetrics {
public:
  explicit ObservedMetrics(const std::vector<SavePlan::Metric> &planned);
  ObservedMetrics(const ObservedMetrics &) = delete;
  ObservedMetrics &operator=(const ObservedMetrics &) = delete;

  /// Returns a descriptor with these metrics and nothing else.
  const pdl_descriptor &descriptor() const { return holder; }

private:
  std::vector<SavePlan::Metric> planned;
  std::vector<pdl_metric> metrics;
  pdl_descriptor holder = {};
};

/// Returns the progress of a job in a mode with rounds of steps, from the
/// recovery records that its trainers left at the first server. `marks` and
/// `last` must belong to the same moment. `trainers` is the number of trainers,
/// and `workers` that of each trainer's workers. An error says what is missing.
Expected<TrainingPlace> placeOfTraining(const ObservedMetrics &metrics,
                                        int64_t trainers, int64_t workers,
                                        const std::vector<SenderMark> &marks,
                                        const StateServer::LastStep &last);

/// The same in modes without rounds of steps, while no request arrives. A
/// worker that was ahead of the slowest one of its trainer repeats those steps.
/// `workersSend` is that of the mode.
Expected<TrainingPlace>
placeOfRestingTraining(const ObservedMetrics &metrics, int64_t trainers,
                       int64_t workers, bool workersSend,
                       const std::vector<SenderMark> &marks);

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_TRAINERRECORDS_H
