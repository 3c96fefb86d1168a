//===- StopSignal.cpp - Ctrl-C ends after the step ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/StopSignal.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

static std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free,
              "a signal handler may only use lock-free atomics");

static std::atomic<int> descriptor{-1};

/// Of a signal handler too.
static void wakeWaiting() {
  const int error = errno;
  const uint64_t one = 1;
  // Full or not there, it changes nothing.
  (void)!::write(descriptor.load(), &one, sizeof(one));
  errno = error;
}

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
  wakeWaiting();
}

void pdlrt::watchStopSignals() {
  descriptor.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
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

int pdlrt::stopDescriptor() { return descriptor.load(); }

void pdlrt::noteStopSignal(int number) {
  int none = 0;
  if (received.compare_exchange_strong(none, number))
    wakeWaiting();
}
