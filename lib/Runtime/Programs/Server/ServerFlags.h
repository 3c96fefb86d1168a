//===- ServerFlags.h - Flags of a compiled server ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H
#define LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/TableBound.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// What the command line says.
struct ServerFlags {
  int64_t rank = 0, trainers = 1, threads = 1;
  std::vector<std::string> servers;
  std::string bind, job, tokenFile, readerTokenFile, placement = "least-loaded";
  std::optional<uint64_t> seed;
  std::string initFrom, checkpoint, emergencyCheckpoint, logApplied, trace;
  bool resume = false, initValuesOnly = false, acceptOldLayout = false;
  std::optional<int64_t> maxStaleness, quorum;
  std::optional<std::string> late;
  std::string packGradients = "none";
  std::string onFailure = "abort";
  double silenceLimit = 10, joinPatience = 600;

  // What `checkServerFlags` makes of them.
  PlacementPolicy policy = PlacementPolicy::LeastLoaded;
  GradientPacking packing = GradientPacking::None;
  /// Where to listen, and whether other machines may take part without a
  /// secret.
  std::string address;
  bool isOpenToAll = false;
  std::string token;
  /// Absent: no flag was given.
  std::optional<std::string> readerToken;
  StepBounds bounds;
  TableBound tableBound;
};

/// Adds all flags to `app`; those of other modes than the program's (null: not
/// known) are not in its help.
void addServerFlags(CLI::App &app, const Mode *mode, ServerFlags &flags);

/// Checks flags against each other and against the program, and reads the
/// tokens.
Status checkServerFlags(const pdl_descriptor &descriptor, ServerFlags &flags);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H
