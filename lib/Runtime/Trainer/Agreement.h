//===- Agreement.h - Trainers started alike ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRAINER_AGREEMENT_H
#define LIB_RUNTIME_TRAINER_AGREEMENT_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Trainer/Job.h"
#include "pdlrt/Trainer/Session.h"

namespace pdlrt {

/// All processes of the job: refuses to begin where trainers were started with
/// different flags, and names the flag: they would wait for each other, or
/// train on samples twice. Does nothing in a job of one process.
Status checkAgreement(const SessionOptions &options, Job &job);

} // namespace pdlrt

#endif // LIB_RUNTIME_TRAINER_AGREEMENT_H
