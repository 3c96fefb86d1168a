//===- Agreement.h - Trainers started alike ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>

namespace pdlrt {

/// All processes of the job: refuses to begin where trainers were started with
/// different flags, and names the flag: they would wait for each other, or
/// train on samples twice. Does nothing in a job of one process.
Status checkAgreement(const SessionOptions &options, Job &job);

/// A number of the flags that all trainers must have in common.
int64_t digestOfFlags(const SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_AGREEMENT_H
