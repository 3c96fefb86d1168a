//===- pdlabi/modes.h - What the mode of a program means --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mode is a bundle of properties: a row of the table below. Compiler and
// runtime ask for properties, never for a mode.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_MODES_H
#define PDLABI_MODES_H

#include "pdlabi/abi.h"

#include <cstdint>

namespace pdlabi {

/// In whose processes owners of state are.
enum class OwnerPlace { Servers, Trainers };

/// The properties of a mode.
struct Mode {
  /// PDL_MODE_...
  int32_t id;
  /// As `--mode` takes it.
  const char *name;
  /// State, and the rules that update it, are dealt to owners, which trainers
  /// reach by messages; so a module is cut into roles. Else all is in one
  /// process.
  bool hasServers = false;
  /// Of a mode with owners: where those of parameters and states are, and those
  /// of tables.
  OwnerPlace parametersWith = OwnerPlace::Servers;
  OwnerPlace tablesWith = OwnerPlace::Servers;
  /// Each trainer has a copy of the state and applies the rules to it; servers
  /// have values alone, and add up what trainers have changed.
  bool trainersApply = false;
  /// A step is a round of all trainers, who wait for each other and all see the
  /// same outcome; else servers apply what comes, when it comes.
  bool stepsAreRounds = false;
  /// Each worker of a trainer sends by itself; else the sums of a trainer's
  /// workers travel together.
  bool workersSend = false;
  /// Who sends a gradient forms the norms of its clips; else servers do, of the
  /// sum over all, and trainers send them partials.
  bool sendersFormNorms = false;
  /// A step is a round that is closed when some trainers have come: the others
  /// count in the next one, or not at all.
  bool closesWithQuorum = false;
  /// Who sends a gradient clips it by its own norm: nobody ever sees the whole
  /// of what is applied.
  bool sendersClip = false;
  /// A new start of a trainer can go on among the requests of an earlier one,
  /// because each of its senders would send the same ones in the same order.
  bool newStartsGoOn = false;

  /// Whether each trainer's process has an owner, whose state dies with it; its
  /// executable holds both roles.
  constexpr bool trainersOwn() const {
    return hasServers && (parametersWith == OwnerPlace::Trainers ||
                          tablesWith == OwnerPlace::Trainers);
  }
  /// Whether a job has servers: owners with a process, and an executable, of
  /// their own.
  constexpr bool needsServers() const {
    return hasServers && (parametersWith == OwnerPlace::Servers ||
                          tablesWith == OwnerPlace::Servers);
  }
  /// Whether dense gradients may leave before a step is computed: the sum of a
  /// trainer's workers goes to owners as it is.
  constexpr bool gradientsMayLeaveEarly() const {
    return hasServers && !trainersApply && !workersSend && !sendersClip;
  }
  /// Whether what a sender pushes is a step of the rule by itself, which others
  /// may have come before since it has read the state.
  constexpr bool pushesAreSteps() const {
    return !stepsAreRounds && !closesWithQuorum && !trainersApply;
  }
  /// How many senders of a job push such steps; 1 where a step joins what all
  /// send.
  constexpr double pusherCount(int64_t trainers, int64_t workers) const {
    return !pushesAreSteps() ? 1
           : workersSend     ? double(trainers) * double(workers)
                             : double(trainers);
  }
  /// How many owners a job has.
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
     .newStartsGoOn = true},
    // What a worker sends is a function of its data and of what it was
    // answered, which servers keep, however the pushes of others come between.
    {.id = PDL_MODE_ASYNC,
     .name = "async",
     .hasServers = true,
     .workersSend = true,
     .sendersFormNorms = true,
     .newStartsGoOn = true},
    // What a trainer sends is a function of its data and of what it was
    // answered, which servers keep.
    {.id = PDL_MODE_HALF_ASYNC,
     .name = "half-async",
     .hasServers = true,
     .sendersFormNorms = true,
     .newStartsGoOn = true},
    {.id = PDL_MODE_QUORUM,
     .name = "quorum",
     .hasServers = true,
     .sendersFormNorms = true,
     .closesWithQuorum = true,
     .sendersClip = true,
     .newStartsGoOn = true},
    // State dies with a trainer: no new start of it could go on.
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
    // A trainer's copy, with its slots, dies with it.
    {.id = PDL_MODE_GEO,
     .name = "geo",
     .hasServers = true,
     .trainersApply = true,
     .sendersFormNorms = true},
};

/// The mode with that id; null if there is none.
constexpr const Mode *findMode(int64_t id) {
  for (const Mode &mode : modes)
    if (mode.id == id)
      return &mode;
  return nullptr;
}

} // namespace pdlabi

#endif // PDLABI_MODES_H
