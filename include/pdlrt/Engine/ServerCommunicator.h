//===- ServerCommunicator.h - Exchanges with servers ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_SERVERCOMMUNICATOR_H
#define PDLRT_ENGINE_SERVERCOMMUNICATOR_H

#include "pdlrt/Engine/Communicator.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/State/Model.h"

#include <memory>

namespace pdlrt {

/// Checks that `program` can run with its state on servers: each table may have
/// at most one lookup.
Status checkRemoteProgram(const pdl_descriptor &descriptor,
                          const pdl_program &program);

/// Creates the communicator of `program` for one local replica group. `state`
/// is the state on the servers; `model` holds the trainer's copy of the
/// parameters. All arguments must outlive the communicator. If the program
/// trains, each exchange also sends the keys of the next step, and the mode
/// defines whether the exchange is part of a round (`Mode::stepsAreRounds`). A
/// frozen program pulls the rows of each batch and does not wait for other
/// trainers.
std::unique_ptr<Communicator>
createServerCommunicator(Model &model, const pdl_program &program,
                         RemoteState &state);

} // namespace pdlrt

#endif // PDLRT_ENGINE_SERVERCOMMUNICATOR_H
