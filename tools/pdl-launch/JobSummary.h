//===- JobSummary.h - Summary of a job --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_JOBSUMMARY_H
#define PDL_TOOLS_PDL_LAUNCH_JOBSUMMARY_H

#include "Supervisor.h"

#include <string>

namespace pdllaunch {

/// Returns the path of the summary of the program `name`, such as "trainer 0",
/// in `folder`.
std::string summaryPath(const std::string &folder, const std::string &name);

/// Adds the summaries of all programs, which are in `folder`, to the summary of
/// this process. The counts, epochs and checkpoints of trainer 0 become those
/// of the job. Call after the supervisor has run.
void summarizeJob(const Supervisor &supervisor, const std::string &folder);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_JOBSUMMARY_H
