//===- GatherGroups.h - Samples of a metric of groups, of a job -*- C++ -*-===//
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

/// Called by all processes of a job, `processes` of them: the samples that they
/// keep for `metric`, a metric of groups, by rank; `own` are those of this one.
/// They travel as sums, to which the others add zeros, 65,536 at a time: each
/// server hears of 32 bytes a sample from each process, and each process gets
/// all of them. Out of memory is an error.
Expected<pdlabi::GroupedSamples>
gatherGroups(Job &job, int processes, const std::string &metric,
             std::span<const pdlabi::GroupedSamples *const> own);

} // namespace pdlrt

#endif // PDLRT_JOB_GATHERGROUPS_H
