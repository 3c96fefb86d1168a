//===- StopSignals.h - Removes unfinished output after signals --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_STOPSIGNALS_H
#define PDL_TOOLS_PDL_CHECKPOINT_STOPSIGNALS_H

#include <string>

/// Installs handlers of SIGINT, SIGTERM and SIGHUP. They remove unfinished
/// files of this process (`OUTPUT.tmp.PID...`), and end the process with status
/// 128 + N, where N is the number of the signal. In an object store, unfinished
/// files of a folder stay, which the message says; a single file appears as a
/// whole or not at all. Call before threads are started.
void removeUnfinishedAtSignal(const std::string &output, bool isFolder);

/// If such a signal was received, does not return, because the process is about
/// to end. Call after a failure: its cause may be that unfinished files are
/// removed.
void awaitEndBySignal();

#endif // PDL_TOOLS_PDL_CHECKPOINT_STOPSIGNALS_H
