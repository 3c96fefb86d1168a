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

/// Restores the samples of grouped metrics from a checkpoint (collective: call
/// it in all processes). `all` is indexed by metric, then by replica of the
/// job; only rank 0 passes samples. The limit of stored samples of a process is
/// the number of its restored samples plus its share of what the job's limit
/// leaves.
Status restoreJobGroups(const TrainingParts &parts,
                        std::vector<pdlabi::GroupedSamples> all);

/// Gathers the samples of grouped metrics on rank 0 (collective: call it in all
/// processes). The entry of a metric's replica 0 holds the samples of the whole
/// job; all other entries are empty.
Expected<std::vector<pdlabi::GroupedSamples>>
gatherJobGroups(const TrainingParts &parts);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_JOBGROUPS_H
