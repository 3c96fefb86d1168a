//===- BlockedSignals.h - Threads that take no signal -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_BLOCKEDSIGNALS_H
#define PDLRT_CORE_BLOCKEDSIGNALS_H

#include <csignal>

namespace pdlrt {

/// While it lives, the calling thread takes no signal, and neither do threads
/// that it starts, for as long as they run: a thread begins with the mask of
/// the one that starts it. Signals are for the main thread, and a pipe that
/// nobody reads is an error of who writes to it, not the process's end. Lives
/// and ends in one thread.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t before;
};

} // namespace pdlrt

#endif // PDLRT_CORE_BLOCKEDSIGNALS_H
