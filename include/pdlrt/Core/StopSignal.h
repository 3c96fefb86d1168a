//===- StopSignal.h - Ctrl-C ends after the step ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STOPSIGNAL_H
#define PDLRT_CORE_STOPSIGNAL_H

namespace pdlrt {

/// From now on SIGINT, SIGTERM, SIGHUP, SIGXCPU and SIGUSR1 are only noted; a
/// second one of SIGINT and SIGTERM ends the process at once. SIGUSR2 asks for
/// a checkpoint. SIGPIPE is ignored: a reader that has gone is an error of the
/// write. A SIGHUP that was ignored before (nohup) stays so. Call it once,
/// before threads start.
void watchStopSignals();

/// The signal that asked to stop, 0 if none did. Thread-safe.
int stopSignal();

/// How many times SIGUSR2 has asked for a checkpoint. Thread-safe.
int checkpointRequests();

/// Of a descriptor that can be read from then on, and stays so, for `poll`; -1
/// where there is none. It belongs to this file. Thread-safe.
int stopDescriptor();

/// As if the process had got that signal, if it has got none. Thread-safe.
void noteStopSignal(int number);

} // namespace pdlrt

#endif // PDLRT_CORE_STOPSIGNAL_H
