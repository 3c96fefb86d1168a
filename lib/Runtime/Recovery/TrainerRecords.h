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

/// Progress of a training: what a checkpoint contains in addition to the state.
struct TrainingPlace {
  TrainingProgress progress;
  RunningEpoch running;
  /// Number of replicas in the job.
  int replicas = 0;
  /// If the running epoch was divided among other replicas, the number of
  /// training steps at which it was; otherwise 0.
  int64_t dividedAt = 0;
};

/// Metrics of a trainer's program, which a server's program does not have.
class ObservedMetrics {
public:
  explicit ObservedMetrics(const std::vector<SavePlan::Metric> &planned);
  ObservedMetrics(const ObservedMetrics &) = delete;
  ObservedMetrics &operator=(const ObservedMetrics &) = delete;

  /// Returns a descriptor that has these metrics and nothing else.
  const pdl_descriptor &descriptor() const { return holder; }

private:
  std::vector<SavePlan::Metric> planned;
  std::vector<pdl_metric> metrics;
  pdl_descriptor holder = {};
};

/// Computes the progress of a job from the recovery records of its trainers,
/// for a mode with rounds of steps. `trainers`: number of trainers. `workers`:
/// number of workers of each trainer. `marks` and `last`: state of the first
/// server at one moment. An error says what is missing.
Expected<TrainingPlace> placeOfTraining(const ObservedMetrics &metrics,
                                        int64_t trainers, int64_t workers,
                                        const std::vector<SenderMark> &marks,
                                        const StateServer::LastStep &last);

/// Like `placeOfTraining`, for a mode without rounds of steps. Call while no
/// request arrives. Workers that are ahead of the slowest worker of their
/// trainer will repeat their steps. `workersSend`: `Mode::workersSend` of the
/// mode.
Expected<TrainingPlace>
placeOfRestingTraining(const ObservedMetrics &metrics, int64_t trainers,
                       int64_t workers, bool workersSend,
                       const std::vector<SenderMark> &marks);

/// Adds the remaining rows of an epoch that was divided among other replicas
/// during a resume to `place`, and the division to `manifest`. The rows are
/// read from the newest checkpoint of the trainers in the folder `root`.
/// Returns an error if that checkpoint does not have them.
Status addRest(const std::string &root, TrainingPlace &place,
               CheckpointManifest &manifest);

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_TRAINERRECORDS_H
