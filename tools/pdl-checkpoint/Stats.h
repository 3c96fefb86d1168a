//===- Stats.h - The command stats ------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_STATS_H
#define PDL_TOOLS_PDL_CHECKPOINT_STATS_H

#include "pdlrt/Core/Flags.h"

#include <string>

/// Flags of `stats`.
struct StatsFlags {
  std::string checkpoint, table;
  bool isJson = false;
};

pdlrt::CommandTable statsTable(StatsFlags &flags);

/// Prints the distributions of all tables, or of one. Returns the exit status.
int showStats(const StatsFlags &flags);

#endif // PDL_TOOLS_PDL_CHECKPOINT_STATS_H
