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

/// From now on the first SIGINT or SIGTERM is only noted; a second one ends the
/// process at once. Call it once, before threads start.
void watchStopSignals();

/// The signal that asked to stop, 0 if none did. Thread-safe.
int stopSignal();

/// Of a descriptor that can be read from then on, and stays so, for `poll`; -1
/// where there is none. It belongs to this file. Thread-safe.
int stopDescriptor();

/// As if the process had got that signal, if it has got none. Thread-safe.
void noteStopSignal(int number);

} // namespace pdlrt

#endif // PDLRT_CORE_STOPSIGNAL_H
