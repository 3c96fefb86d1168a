//===- pdlabi/modes.h - Properties of the distributed modes -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mode is a set of properties: a row of the table below. Compiler and runtime
// check properties, never the mode itself.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_MODES_H
#define PDLABI_MODES_H

#include "pdlabi/abi/codes.h"

#include <cstdint>

namespace pdlabi {

/// Processes that contain the owners of state.
enum class OwnerPlace { Servers, Trainers };

/// The properties of a mode.
struct Mode {
  /// PDL_MODE_...
  int32_t id;
  /// Value of `--mode`.
  const char *name;
  /// True if state, and the rules that update it, are distributed over owners,
  /// which trainers reach by messages. The module is then split into roles.
  /// Otherwise one process has everything.
  bool hasServers = false;
  /// If the mode has owners: the processes with the owners of parameters and
  /// other state, and with the owners of tables.
  OwnerPlace parametersWith = OwnerPlace::Servers;
  OwnerPlace tablesWith = OwnerPlace::Servers;
  /// True if each trainer has a copy of the state and applies the rules to it.
  /// Servers then have only values, and add up the model deltas of the
  /// trainers.
  bool trainersApply = false;
  /// True if a step is a round of all trainers: they wait for each other, and
  /// all get the same result. Otherwise servers apply a push when it arrives.
  bool stepsAreRounds = false;
  /// True if each worker of a trainer pushes separately. Otherwise a trainer
  /// pushes the sums of its workers.
  bool workersSend = false;
  /// True if the sender of a gradient computes the norms of its clips.
  /// Otherwise servers compute them for the sum over all trainers, from partial
  /// norms.
  bool sendersFormNorms = false;
  /// True if a step is a round that closes when enough trainers have arrived.
  /// The pushes of the others count in the next round, or not at all.
  bool closesWithQuorum = false;
  /// True if the sender of a gradient clips it by its own norm, because no
  /// process has the whole gradient that is applied.
  bool sendersClip = false;
  /// True if a restarted trainer can resume among the requests of its previous
  /// incarnation, because each of its senders would send the same requests in
  /// the same order.
  bool restartsContinue = false;

  /// Returns true if each trainer's process has an owner, whose state is lost
  /// with the process. Its executable then contains both roles.
  constexpr bool trainersOwn() const {
    return hasServers && (parametersWith == OwnerPlace::Trainers ||
                          tablesWith == OwnerPlace::Trainers);
  }
  /// Returns true if a job has servers: owners with their own process and
  /// executable.
  constexpr bool needsServers() const {
    return hasServers && (parametersWith == OwnerPlace::Servers ||
                          tablesWith == OwnerPlace::Servers);
  }
  /// Returns true if dense gradients may be sent before the step is completely
  /// computed: the sum of a trainer's workers goes to owners unchanged.
  constexpr bool gradientsMayLeaveEarly() const {
    return hasServers && !trainersApply && !workersSend && !sendersClip;
  }
  /// Returns true if each push is a separate step of the optimizer rule. Other
  /// pushes may have been applied since its sender read the state.
  constexpr bool pushesAreSteps() const {
    return !stepsAreRounds && !closesWithQuorum && !trainersApply;
  }
  /// Returns the number of senders in a job that push separate steps; 1 if a
  /// step sums all pushes.
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
