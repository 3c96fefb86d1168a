//===- CheckpointFlags.h - Flags of checkpoints -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H

#include "pdlrt/Core/Flags.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <vector>

namespace pdlrt {

/// Returns the rows of flags about checkpoints of a training.
std::vector<Flag> checkpointFlags(SessionOptions &session);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H
