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

namespace pdlrt {

/// The properties of a mode.
struct Mode {
  /// PDL_MODE_...
  int32_t id;
  /// As `--mode` takes it.
  const char *name;
  /// State, and the rules that update it, are on servers; else all is in one
  /// process.
  bool hasServers;
  /// A step is a round of all trainers, who wait for each other and all see the
  /// same outcome; else servers apply what comes, when it comes.
  bool stepsAreRounds;
  /// Each worker of a trainer sends by itself; else the sums of a trainer's
  /// workers travel together.
  bool workersSend;
  /// Who sends a gradient forms the norms of its clips; else servers do, of the
  /// sum over all.
  bool sendersFormNorms;
  /// A new start of a trainer can go on among the requests of an earlier one,
  /// because each of its senders would send the same ones in the same order.
  bool newStartsGoOn;
};

/// The mode of a descriptor that has passed `checkDescriptor`.
const Mode &modeOf(const pdl_descriptor &descriptor);

/// The mode with that id; null if there is none.
const Mode *findMode(int64_t id);

/// Its name; of an id that is no mode's, the number.
std::string modeName(int64_t id);

/// The flags that translate a model for servers, for messages:
/// "--mode=sync or --mode=async".
std::string serverModeFlags();

} // namespace pdlrt

#endif // PDLRT_ABI_MODE_H
