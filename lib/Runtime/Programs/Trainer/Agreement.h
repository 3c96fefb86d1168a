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

/// Checks that all trainers were started with the same flags. All processes of
/// the job must call this. Otherwise they would wait for each other, or train
/// on samples twice. The error names the flag. Does nothing in a job with one
/// process.
Status checkAgreement(const SessionOptions &options, Job &job);

/// Numbers by which a process describes its copies of some files; they are
/// summed over processes. They are a digest and 1, or zeros if there are no
/// files, or if a file cannot be read or has changed its size.
using ContentCounts = std::array<int64_t, 2>;
ContentCounts countContent(const CopiedFiles &files);

/// Returns an error if all of `processes` processes can read their copies of
/// `files` and the contents differ. `own` is this process's result of
/// `countContent`, and `sums` is the sum over all processes.
Status checkSameContent(const CopiedFiles &files, const ContentCounts &own,
                        std::span<const int64_t> sums, int64_t processes);

/// Returns a digest of the flags that all trainers must have in common.
int64_t digestOfFlags(const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
