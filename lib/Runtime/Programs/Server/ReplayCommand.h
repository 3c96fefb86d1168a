//===- ReplayCommand.h - Command `pserver replay` ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_SERVER_REPLAYCOMMAND_H
#define LIB_RUNTIME_PROGRAMS_SERVER_REPLAYCOMMAND_H

#include "pdlabi/abi/descriptor.h"

namespace pdlrt {

/// Runs the command `replay`, which applies logs again. `argv[0]` is the word
/// `replay`; flags follow it. Returns the exit status of the process. May throw
/// std::bad_alloc.
int runReplayCommand(int argc, char **argv, const pdl_descriptor &descriptor);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_SERVER_REPLAYCOMMAND_H
