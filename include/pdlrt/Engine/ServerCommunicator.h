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

/// Returns an error if `program` cannot run with its state on servers: if a
/// table has more than one lookup.
Status checkRemoteProgram(const pdl_descriptor &descriptor,
                          const pdl_program &program);

/// Creates the communicator of `program` for one local group of replicas.
/// `state` is the state on the servers, and `model` has the trainer's copy of
/// the parameters. If the program trains, each exchange sends gradients
/// together with the keys of the next step; the mode defines whether it is a
/// round of all trainers (`Mode::stepsAreRounds`). A frozen program pulls the
/// rows of each batch and does not wait for other trainers. All arguments must
/// outlive the communicator.
std::unique_ptr<Communicator>
createServerCommunicator(Model &model, const pdl_program &program,
                         RemoteState &state);

} // namespace pdlrt

#endif // PDLRT_ENGINE_SERVERCOMMUNICATOR_H
