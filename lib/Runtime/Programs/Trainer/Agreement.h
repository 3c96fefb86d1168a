//===- Agreement.h - Trainers started alike ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H

#include "Data/ContentDigest.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <array>
#include <cstdint>
#include <span>

namespace pdlrt {

/// All processes of the job: refuses to begin where trainers were started with
/// different flags, and names the flag: they would wait for each other, or
/// train on samples twice. Does nothing in a job of one process.
Status checkAgreement(const SessionOptions &options, Job &job);

/// What a process tells of its copies of some files, to be added up: their
/// digest, and 1. Zeros: there are none, or they cannot be read, or have other
/// sizes than before.
using ContentCounts = std::array<int64_t, 2>;
ContentCounts countContent(const CopiedFiles &files);

/// Returns an error if all of `processes` processes can read their copies of
/// `files`, and what they tell, which adds up to `sums`, differs from `own`.
Status checkSameContent(const CopiedFiles &files, const ContentCounts &own,
                        std::span<const int64_t> sums, int64_t processes);

/// A number of the flags that all trainers must have in common.
int64_t digestOfFlags(const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
