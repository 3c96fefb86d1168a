//===- GatherGroups.h - Gathers samples of group metrics --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_GATHERGROUPS_H
#define PDLRT_JOB_GATHERGROUPS_H

#include "pdlabi/metrics.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"

#include <cstdint>
#include <span>
#include <string>

namespace pdlrt {

/// Returns the samples that all processes store for the grouped metric
/// `metric`, in the order of ranks. All `processes` processes of the job must
/// call it. `own` has the samples of this process. Each process receives all
/// samples by `Job::sum`, 65,536 samples per call: a process passes its own
/// samples, and zeros in the place of the samples of others. So server 0, which
/// forms the sums, receives 32 bytes per sample from each process. Returns an
/// error if memory is exhausted.
Expected<pdlabi::GroupedSamples>
gatherGroups(Job &job, int processes, const std::string &metric,
             std::span<const pdlabi::GroupedSamples *const> own);

} // namespace pdlrt

#endif // PDLRT_JOB_GATHERGROUPS_H
