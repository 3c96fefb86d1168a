//===- CommandLine.h - Flags of a compiled trainer --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_COMMANDLINE_H
#define PDLRT_PROGRAMS_TRAINER_COMMANDLINE_H

#include "pdlabi/abi/descriptor.h"

namespace pdlrt {

/// Runs the whole program: reads flags, runs the command, and returns the exit
/// status (pdlabi/exit_code.h). The status is 128 + n if signal n has ended the
/// command early; all output was written nevertheless. `query` is the compiled
/// program's `pdl_program_query`. `ownerQuery` is its `pdl_owner_query`, or
/// null if it has none. Catches all exceptions.
int runCommandLine(int argc, char **argv,
                   const pdl_descriptor *(*query)(uint32_t version),
                   const pdl_descriptor *(*ownerQuery)(uint32_t version));

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_COMMANDLINE_H
