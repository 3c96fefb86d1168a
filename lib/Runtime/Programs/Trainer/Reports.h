//===- Reports.h - Lines of a command's report ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_REPORTS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_REPORTS_H

#include "Engine/ProgramRun.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Engine/ReplicaSet.h"

#include <string>

namespace pdlrt {

/// Prints a line to the standard output.
void printLine(const std::string &line);

/// If `report`, of an epoch or test, has bad rows, warns of the first ones that
/// this process has read. If `printsFigures`, also prints their number in the
/// job.
void reportBadRows(const char *label, const ProgramRun &run,
                   const PassReport &report, bool printsFigures = true);

/// If ids of unknown keys were looked up, prints their number and that of all
/// ids. Warns if there are too many of them.
void reportKeys(const char *label, const PullCounts &counts);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_REPORTS_H
