//===- ServerCommunicator.h - The state is on servers -----------*- C++ -*-===//
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

/// Checks that `program` can run with its state on servers: each table has at
/// most one lookup.
Status checkRemoteProgram(const pdl_descriptor &descriptor,
                          const pdl_program &program);

/// The communicator of a program whose state is `state`, of which `model` is a
/// mirror, for one local group. All outlive it. A training program's exchange
/// carries the keys of the next step; whether it is part of a round is the
/// mode's (`Mode::stepsAreRounds`). A frozen one pulls rows for each batch, and
/// does not wait for others.
std::unique_ptr<Communicator>
createServerCommunicator(Model &model, const pdl_program &program,
                         RemoteState &state);

} // namespace pdlrt

#endif // PDLRT_ENGINE_SERVERCOMMUNICATOR_H
