//===- JobGroups.h - Samples of group metrics in a job ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_JOBGROUPS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_JOBGROUPS_H

#include "Programs/Trainer/TrainingParts.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Core/Status.h"

#include <vector>

namespace pdlrt {

/// Restores the samples of group metrics from a checkpoint. All processes must
/// call this. `all`: indexed by metric, then by replica of the job; empty
/// except in the process of rank 0. A process may then store its restored
/// samples and an equal part of what is left of the limit of the job.
Status restoreJobGroups(const TrainingParts &parts,
                        std::vector<pdlabi::GroupedSamples> all);

/// Gathers the samples of group metrics in the process of rank 0. All processes
/// must call this. The result is indexed by metric, then by replica. The entry
/// of replica 0 has the samples of the whole job, and all other entries are
/// empty.
Expected<std::vector<pdlabi::GroupedSamples>>
gatherJobGroups(const TrainingParts &parts);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_JOBGROUPS_H
