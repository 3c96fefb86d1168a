//===- ServerFlags.h - Flags of a compiled server ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H
#define LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Flags.h"
#include "pdlrt/Job/JobFlags.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/TableBound.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Values of the flags.
struct ServerFlags : JobFlags {
  ServerFlags() { joinPatience = 600; }

  int64_t threads = 1;
  std::string readerTokenFile;
  std::optional<uint64_t> seed;
  std::string initFrom, checkpoint, emergencyCheckpoint, logApplied, trace,
      metricsAddress, summary, logMetrics;
  /// Interval of lines in `logMetrics`.
  double logMetricsSeconds = 10;
  bool resume = false, initValuesOnly = false, acceptOldLayout = false;
  std::optional<double> checkpointMinutes;
  std::optional<int64_t> maxStaleness, quorum;
  std::optional<LateGradients> late;
  TableBound tableBound;

  // Set by `checkServerFlags` from the flags.
  /// Listening address, and whether other hosts may take part without a secret.
  std::string address;
  bool isOpenToAll = false;
  std::string token;
  /// Absent if the flag was not given.
  std::optional<std::string> readerToken;
  StepBounds bounds;
};

/// Returns the table of all flags. `mode`: mode of the program, or null if it
/// is not known. Flags that belong only to other modes are in the table, but
/// not offered.
FlagTable serverFlags(const Mode *mode, ServerFlags &flags);

/// Checks that the flags fit each other and the program, and reads the files
/// with tokens. Sets the members of `flags` that are derived from others.
Status checkServerFlags(const pdl_descriptor &descriptor, ServerFlags &flags);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_SERVER_SERVERFLAGS_H
