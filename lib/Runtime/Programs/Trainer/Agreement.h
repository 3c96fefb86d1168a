//===- Agreement.h - Agreement of the trainers' flags -----------*- C++ -*-===//
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

/// Checks that all trainers were started with the same flags. With different
/// flags, trainers could wait for each other forever, or train on the same
/// samples twice. All processes of the job must call this. The error names the
/// flag. Does nothing in a job with one process.
Status checkAgreement(const SessionOptions &options, Job &job);

/// Describes this process's copies of some files by two numbers, which are
/// summed over all processes: a digest and 1. Both are 0 if there are no files,
/// or if a file cannot be read or has changed its size.
using ContentCounts = std::array<int64_t, 2>;
ContentCounts countContent(const CopiedFiles &files);

/// Returns an error if the contents of `files` differ between processes. Checks
/// this only if all `processes` processes could read their copies. `own`:
/// result of `countContent` in this process. `sums`: the sum of these results
/// over all processes.
Status checkSameContent(const CopiedFiles &files, const ContentCounts &own,
                        std::span<const int64_t> sums, int64_t processes);

/// Returns a digest of the flags that all trainers must have in common.
int64_t digestOfFlags(const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
