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

/// Installs signal handlers. SIGINT, SIGTERM, SIGHUP, SIGXCPU and SIGUSR1 then
/// request a graceful shutdown, and a second SIGINT or SIGTERM ends the process
/// immediately. SIGUSR2 requests a checkpoint. SIGPIPE is ignored, so that
/// writing to a closed pipe returns an error. If SIGHUP was ignored before
/// (nohup), it stays ignored. Call once, before threads start.
void watchStopSignals();

/// Returns the first signal that requested a shutdown; 0 if there was none.
/// Thread-safe.
int stopSignal();

/// Returns the number of stop signals that this process has received. Calls of
/// `noteStopSignal` are not counted. Thread-safe.
int stopSignals();

/// Returns true if the process ignores a signal. Thread-safe.
bool isSignalIgnored(int number);

/// Returns the number of received SIGUSR2: of requests for a checkpoint.
/// Thread-safe.
int checkpointRequests();

/// Returns a file descriptor for `poll`. It becomes readable with a shutdown
/// request and stays readable. Returns -1 if `watchStopSignals` was not called.
/// The caller must not close the descriptor. Thread-safe.
int stopDescriptor();

/// Requests a graceful shutdown as if the process had received signal `number`:
/// `stopSignal` returns `number`, unless an earlier signal has requested a
/// shutdown. Thread-safe.
void noteStopSignal(int number);

} // namespace pdlrt

#endif // PDLRT_CORE_STOPSIGNAL_H
