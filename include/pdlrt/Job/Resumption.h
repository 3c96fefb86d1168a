//===- Resumption.h - Shared progress of a resumed job ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only one process of a job reads and writes checkpoints. Positions of readers
// and metrics of the other processes are sent as sums over processes: each
// process has its own elements, and zeros elsewhere.
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

/// Progress from which a training resumes, in addition to its state.
struct Resumption {
  uint64_t seed = 0;
  TrainingProgress progress;
  /// Counts for the replicas of this job.
  RunningEpoch running;
  /// Replicas to which the positions of a running epoch belong.
  EpochDivision division;
};

/// Returns true if an epoch is divided among the same replicas as those of
/// `layout`.
inline bool isSame(const EpochDivision &division, const ReplicaLayout &layout) {
  return division.groups == layout.groups && division.workers == layout.workers;
}

/// Returns to all processes what the first one found (`from`), or nothing if
/// that is null. All processes of the job must call this.
Expected<std::optional<Resumption>>
shareResumption(const pdl_descriptor &descriptor, const ReplicaLayout &layout,
                const Checkpoint *from, Job &job);

/// Sums `badRows` and `epochSamples`, and collects the positions of all groups
/// and the metrics of all replicas. Before the call, `progress.positions` has
/// the positions of the local groups, or none between two epochs. All processes
/// of the job must call this.
Status gatherProgress(const ReplicaLayout &layout, TrainingProgress &progress,
                      RunningEpoch &running, Job &job);

} // namespace pdlrt

#endif // PDLRT_JOB_RESUMPTION_H
