//===- BlockedSignals.h - Threads without signals ---------------*- C++ -*-===//
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

/// Blocks all signals in the calling thread during its lifetime. Threads that
/// are started during that time inherit the signal mask, so they never get
/// signals. The main thread then handles all signals. In the other threads, a
/// write to a closed pipe returns an error and does not end the process by a
/// signal. Must be created and destroyed in the same thread.
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
