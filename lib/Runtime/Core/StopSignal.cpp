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

static constexpr int watched[] = {SIGINT, SIGTERM};

/// Another one may come to another thread before the first has reset it.
static std::atomic<bool> isSecond{false};

static void noteSignal(int number) {
  // Back to the default, of all of them: the second one ends the process,
  // whichever it is.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int each : watched)
    sigaction(each, &action, nullptr);
  if (isSecond.exchange(true))
    raise(number);
  received.store(number);
}

void pdlrt::watchStopSignals() {
  struct sigaction action = {};
  action.sa_handler = noteSignal;
  // Reads and writes that it interrupts go on.
  action.sa_flags = SA_RESTART;
  for (const int each : watched)
    sigaddset(&action.sa_mask, each);
  for (const int each : watched)
    sigaction(each, &action, nullptr);
}

int pdlrt::stopSignal() { return received.load(); }

void pdlrt::noteStopSignal(int number) {
  int none = 0;
  received.compare_exchange_strong(none, number);
}
