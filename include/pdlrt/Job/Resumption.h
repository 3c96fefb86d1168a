//===- Resumption.h - Shared progress of a resumed job ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only the first process of a job reads and writes the progress of a training
// in checkpoints. The other processes get and send theirs by `Job::sum`: each
// process passes its own positions and metrics, and zeros in the place of those
// of others.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_RESUMPTION_H
#define PDLRT_JOB_RESUMPTION_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"

#include <cstdint>
#include <optional>

namespace pdlrt {

/// Progress from which a training resumes, in addition to parameters and
/// tables.
struct Resumption {
  uint64_t seed = 0;
  TrainingProgress progress;
  /// Accumulators for the replicas of this job.
  RunningEpoch running;
  /// Replicas to which the positions in `progress` belong.
  EpochDivision division;
};

/// Returns true if `division` and `layout` have the same numbers of groups and
/// workers.
inline bool isSame(const EpochDivision &division, const ReplicaLayout &layout) {
  return division.groups == layout.groups && division.workers == layout.workers;
}

/// Distributes the progress in the checkpoint `from` of the first process to
/// all processes, and returns it. Returns nullopt if `from` of the first
/// process is null. All processes of the job must call this.
Expected<std::optional<Resumption>>
shareResumption(const pdl_descriptor &descriptor, const ReplicaLayout &layout,
                const Checkpoint *from, Job &job);

/// Collects the progress of all processes. Replaces `badRows` and
/// `epochSamples` of `progress` by their sums. Sets `progress.positions` to the
/// positions of all groups; before the call, it has the positions of the local
/// groups, or none between two epochs. Sets `running` to the metrics of all
/// replicas. All processes of the job must call this.
Status gatherProgress(const ReplicaLayout &layout, TrainingProgress &progress,
                      RunningEpoch &running, Job &job);

} // namespace pdlrt

#endif // PDLRT_JOB_RESUMPTION_H
