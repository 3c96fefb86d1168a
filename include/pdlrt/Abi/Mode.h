//===- Mode.h - What the mode of a program means ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mode is a bundle of properties. Code asks for these, never for a mode; what
// each mode has is one row of the table in Mode.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_MODE_H
#define PDLRT_ABI_MODE_H

#include "pdlabi/abi.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

/// In whose processes owners of state are.
enum class OwnerPlace { Servers, Trainers };

/// The properties of a mode.
struct Mode {
  /// PDL_MODE_...
  int32_t id;
  /// As `--mode` takes it.
  const char *name;
  /// State, and the rules that update it, are dealt to owners, which trainers
  /// reach by messages; else all is in one process.
  bool hasServers;
  /// Of a mode with owners: where those of parameters and states are, and those
  /// of tables.
  OwnerPlace parametersWith, tablesWith;
  /// Each trainer has a copy of the state and applies the rules to it; servers
  /// have values alone, and add up what trainers have changed.
  bool trainersApply;
  /// A step is a round of all trainers, who wait for each other and all see the
  /// same outcome; else servers apply what comes, when it comes.
  bool stepsAreRounds;
  /// Each worker of a trainer sends by itself; else the sums of a trainer's
  /// workers travel together.
  bool workersSend;
  /// Who sends a gradient forms the norms of its clips; else servers do, of the
  /// sum over all.
  bool sendersFormNorms;
  /// A step is a round that is closed when some trainers have come: the others
  /// count in the next one, or not at all.
  bool closesWithQuorum;
  /// Who sends a gradient clips it by its own norm: nobody ever sees the whole
  /// of what is applied.
  bool sendersClip;
  /// A new start of a trainer can go on among the requests of an earlier one,
  /// because each of its senders would send the same ones in the same order.
  bool newStartsGoOn;

  /// Whether each trainer's process has an owner, whose state dies with it.
  bool trainersOwn() const {
    return hasServers && (parametersWith == OwnerPlace::Trainers ||
                          tablesWith == OwnerPlace::Trainers);
  }
  /// Whether a job has servers: owners with a process of their own.
  bool needsServers() const {
    return hasServers && (parametersWith == OwnerPlace::Servers ||
                          tablesWith == OwnerPlace::Servers);
  }
};

/// The mode of a descriptor that has passed `checkDescriptor`.
const Mode &modeOf(const pdl_descriptor &descriptor);

/// The mode with that id; null if there is none.
const Mode *findMode(int64_t id);

/// The mode of that name; null if there is none.
const Mode *findModeNamed(std::string_view name);

/// Its name; of an id that is no mode's, the number.
std::string modeName(int64_t id);

/// The flags that translate a model for several processes, for messages:
/// "--mode=sync or --mode=async".
std::string serverModeFlags();

} // namespace pdlrt

#endif // PDLRT_ABI_MODE_H
