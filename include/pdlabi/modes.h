//===- pdlabi/modes.h - Properties of the distributed modes -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mode is defined by its properties: by a row of the table below. Compiler
// and runtime test these properties, never the identity of a mode.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_MODES_H
#define PDLABI_MODES_H

#include "pdlabi/abi/codes.h"

#include <cstdint>

namespace pdlabi {

/// Kind of process that contains owners of state.
enum class OwnerPlace { Servers, Trainers };

/// The properties of a mode.
struct Mode {
  /// PDL_MODE_...
  int32_t id;
  /// Value of `--mode`.
  const char *name;
  /// True if the state, and the optimizer rules that update it, are distributed
  /// over owners, to which trainers send messages. The module is then split
  /// into roles. False if one process has everything.
  bool hasServers = false;
  /// If the mode has owners: `parametersWith` is the kind of process that owns
  /// parameters and other state, and `tablesWith` the kind that owns tables.
  OwnerPlace parametersWith = OwnerPlace::Servers;
  OwnerPlace tablesWith = OwnerPlace::Servers;
  /// True if each trainer has a copy of the state and applies the optimizer
  /// rules to it. Servers then have only values, and add the model deltas of
  /// trainers to them.
  bool trainersApply = false;
  /// True if a step is a round of all trainers: they wait for each other, and
  /// all get the same result. If false, trainers do not wait for all others in
  /// a step.
  bool stepsAreRounds = false;
  /// True if each worker of a trainer pushes its own gradients. If false, a
  /// trainer pushes the sums over its workers.
  bool workersSend = false;
  /// True if the sender of gradients computes the norms for clips. If false,
  /// they are computed from the partial norms of the sum over all trainers,
  /// which owners compute.
  bool sendersFormNorms = false;
  /// True if a step is a round that is closed when the gradients of enough
  /// trainers have arrived. Later gradients are added to the next round, or
  /// dropped.
  bool closesWithQuorum = false;
  /// True if the sender of gradients clips them by their own norm, because no
  /// process has the whole gradient that is applied.
  bool sendersClip = false;
  /// True if a restarted trainer can continue with the requests of its previous
  /// incarnation. This requires that each of its senders sends the same
  /// requests in the same order as before.
  bool restartsContinue = false;

  /// Returns true if each trainer process contains an owner, whose state is
  /// lost with the process. The executable then contains both roles.
  constexpr bool trainersOwn() const {
    return hasServers && (parametersWith == OwnerPlace::Trainers ||
                          tablesWith == OwnerPlace::Trainers);
  }
  /// Returns true if a job has servers: owners that are processes with an
  /// executable of their own.
  constexpr bool needsServers() const {
    return hasServers && (parametersWith == OwnerPlace::Servers ||
                          tablesWith == OwnerPlace::Servers);
  }
  /// Returns true if dense gradients may be sent before the end of the step's
  /// computation. This requires that the sum over a trainer's workers is sent
  /// to owners unchanged.
  constexpr bool gradientsMayLeaveEarly() const {
    return hasServers && !trainersApply && !workersSend && !sendersClip;
  }
  /// Returns true if each push is a separate step of the optimizer rule. Then
  /// other pushes may have been applied since the sender has read the state.
  constexpr bool pushesAreSteps() const {
    return !stepsAreRounds && !closesWithQuorum && !trainersApply;
  }
  /// Returns the number of senders in a job whose pushes are separate steps; 1
  /// if a step sums all pushes.
  constexpr double senderCount(int64_t trainers, int64_t workers) const {
    return !pushesAreSteps() ? 1
           : workersSend     ? double(trainers) * double(workers)
                             : double(trainers);
  }
  /// Returns the number of owners in a job.
  constexpr int32_t ownerCount(int32_t servers, int32_t trainers) const {
    return servers + (trainersOwn() ? trainers : 0);
  }
};

inline constexpr Mode modes[] = {
    {.id = PDL_MODE_LOCAL, .name = "local", .stepsAreRounds = true},
    {.id = PDL_MODE_SYNC,
     .name = "sync",
     .hasServers = true,
     .stepsAreRounds = true,
     .restartsContinue = true},
    // A worker's pushes depend only on its data and on the responses it got,
    // which servers keep, however the pushes of other workers interleave.
    {.id = PDL_MODE_ASYNC,
     .name = "async",
     .hasServers = true,
     .workersSend = true,
     .sendersFormNorms = true,
     .restartsContinue = true},
    // A trainer's pushes depend only on its data and on the responses it got,
    // which servers keep.
    {.id = PDL_MODE_HALF_ASYNC,
     .name = "half-async",
     .hasServers = true,
     .sendersFormNorms = true,
     .restartsContinue = true},
    {.id = PDL_MODE_QUORUM,
     .name = "quorum",
     .hasServers = true,
     .sendersFormNorms = true,
     .closesWithQuorum = true,
     .sendersClip = true,
     .restartsContinue = true},
    // A trainer's state is lost with its process, so a restarted trainer cannot
    // resume.
    {.id = PDL_MODE_COLLECTIVE,
     .name = "collective",
     .hasServers = true,
     .parametersWith = OwnerPlace::Trainers,
     .tablesWith = OwnerPlace::Trainers,
     .stepsAreRounds = true},
    {.id = PDL_MODE_HYBRID,
     .name = "hybrid",
     .hasServers = true,
     .parametersWith = OwnerPlace::Trainers,
     .stepsAreRounds = true},
    // A trainer's copy of the state, with its slots, is lost with its process.
    {.id = PDL_MODE_GEO,
     .name = "geo",
     .hasServers = true,
     .trainersApply = true,
     .sendersFormNorms = true},
};

/// Returns the mode with this id; null if there is none.
constexpr const Mode *findMode(int64_t id) {
  for (const Mode &mode : modes)
    if (mode.id == id)
      return &mode;
  return nullptr;
}

} // namespace pdlabi

#endif // PDLABI_MODES_H
