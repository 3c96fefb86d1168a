//===- StopSignal.cpp - Ctrl-C ends after the step ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/StopSignal.h"

#include <atomic>
#include <csignal>

static std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may only use lock-free atomics");

static void noteSignal(int number) { received.store(number); }

void pdlrt::watchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = noteSignal;
  // Back to the default at the first signal: the second one ends the process.
  // Reads and writes that it interrupts go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int pdlrt::stopSignal() { return received.load(); }

void pdlrt::noteStopSignal(int number) {
  int none = 0;
  received.compare_exchange_strong(none, number);
}
