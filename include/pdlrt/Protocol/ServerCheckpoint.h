//===- ServerCheckpoint.h - State on servers to a checkpoint ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERCHECKPOINT_H
#define PDLRT_PROTOCOL_SERVERCHECKPOINT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Transport/Message.h"

#include <vector>

namespace pdlrt {

/// The answer to a Save request: what the server wrote, or why it could not.
Message encodeSaved(const Expected<CheckpointManifest> &written);
/// The other way; any bytes are safe.
Expected<CheckpointManifest> decodeSaved(const Message &answer);

/// Takes in what servers answered: their parts to `writer`, the description of
/// the model to `manifest`. An error where one has failed, or where they have
/// not applied the same steps.
Status joinSaved(const std::vector<Message> &answers, CheckpointWriter &writer,
                 CheckpointManifest &manifest);

/// Of trainer 0, between two steps: has all servers write their parts into the
/// writer's folder, which they share, and takes them in.
Status saveOnServers(ServerGroup &servers, CheckpointWriter &writer,
                     CheckpointManifest &manifest);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERCHECKPOINT_H
