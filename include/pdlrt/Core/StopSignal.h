//===- StopSignal.h - Graceful shutdown by signals --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STOPSIGNAL_H
#define PDLRT_CORE_STOPSIGNAL_H

namespace pdlrt {

/// Installs signal handlers. From now on, SIGINT, SIGTERM, SIGHUP, SIGXCPU and
/// SIGUSR1 request a graceful shutdown; a second SIGINT or SIGTERM ends the
/// process at once. SIGUSR2 requests a checkpoint. SIGPIPE is ignored: a closed
/// pipe is an error of the write. A SIGHUP that was ignored before (nohup)
/// stays ignored. Call once, before threads start.
void watchStopSignals();

/// Returns the signal that requested the shutdown, 0 if there is none.
/// Thread-safe.
int stopSignal();

/// Returns the number of stop signals that this process got. `noteStopSignal`
/// does not count.
/// Thread-safe.
int stopSignals();

/// Returns true if the process ignores a signal. Thread-safe.
bool isSignalIgnored(int number);

/// Returns how many times SIGUSR2 has requested a checkpoint. Thread-safe.
int checkpointRequests();

/// Returns a descriptor for `poll` that becomes and stays readable after a
/// shutdown request; -1 if there is none. The caller must not close it.
/// Thread-safe.
int stopDescriptor();

/// Acts as if the process had received that signal, unless it has already
/// received one. Thread-safe.
void noteStopSignal(int number);

} // namespace pdlrt

#endif // PDLRT_CORE_STOPSIGNAL_H
