//===- StopSignals.h - An end before all is written -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDLCHECKPOINT_STOPSIGNALS_H
#define PDL_TOOLS_PDLCHECKPOINT_STOPSIGNALS_H

#include <string>

/// From now on SIGINT, SIGTERM and SIGHUP end the process with 128 + the
/// signal's number, and what this process has begun to write for `output`
/// (`OUTPUT.tmp.PID...` beside it) is removed. Before threads are started.
void removeUnfinishedAtSignal(const std::string &output);

#endif // PDL_TOOLS_PDLCHECKPOINT_STOPSIGNALS_H
