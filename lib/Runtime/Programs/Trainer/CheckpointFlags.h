//===- CheckpointFlags.h - Flags of checkpoints -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H

#include "pdlrt/Programs/Trainer/Session.h"

#include <CLI/CLI.hpp>
#include <cstdint>

namespace pdlrt {

/// What the command line says of checkpoints, where `SessionOptions` has an
/// optional value.
struct CheckpointFlags {
  int64_t steps = 0;
  double minutes = 0;
};

/// Adds the flags of checkpoints to a command that trains. `initFrom`: the flag
/// that excludes a resume.
void addCheckpointFlags(CLI::App &command, CheckpointFlags &flags,
                        SessionOptions &session, CLI::Option *initFrom);

/// Brings what was read into the options.
void takeCheckpointFlags(CLI::App &command, const CheckpointFlags &flags,
                         SessionOptions &options);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTFLAGS_H
