//===- Resumption.h - Where the processes of a job go on --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One process of a job reads and writes checkpoints. What they say of readers
// and metrics of the others travels as sums over processes, in which each has
// its own places and zeros elsewhere.
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

/// What a training goes on from, beside its state.
struct Resumption {
  uint64_t seed = 0;
  TrainingProgress progress;
  RunningEpoch running;
};

/// All processes of the job: what the first one found, `from`; none where it
/// found nothing (null).
Expected<std::optional<Resumption>>
shareResumption(const pdl_descriptor &descriptor, const ReplicaLayout &layout,
                const Checkpoint *from, Job &job);

/// All processes of the job: adds up `badRows` and `epochSamples`, puts the
/// positions of all groups together, and the metrics of all replicas. Before,
/// `progress.positions` holds those of the local groups, or none between two
/// epochs.
Status gatherProgress(const ReplicaLayout &layout, TrainingProgress &progress,
                      RunningEpoch &running, Job &job);

} // namespace pdlrt

#endif // PDLRT_JOB_RESUMPTION_H
