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

/// Returns the samples that all processes store for the group metric `metric`,
/// in rank order. All `processes` processes of the job must call this; `own`
/// are the samples of this one. Samples are sent as sums to which the other
/// processes add zeros, 65,536 at a time: each server receives 32 bytes per
/// sample from each process, and each process receives all samples. Returns an
/// error if out of memory.
Expected<pdlabi::GroupedSamples>
gatherGroups(Job &job, int processes, const std::string &metric,
             std::span<const pdlabi::GroupedSamples *const> own);

} // namespace pdlrt

#endif // PDLRT_JOB_GATHERGROUPS_H
