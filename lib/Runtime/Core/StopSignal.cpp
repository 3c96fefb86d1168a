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

/// Users and batch systems send these to end a process; a second one ends it at
/// once.
static constexpr int urgent[] = {SIGINT, SIGTERM};
/// These announce an end that comes later: a terminal that goes, or a limit
/// (the kernel repeats SIGXCPU each second). Batch systems send SIGTERM after
/// them, which must not cost the last checkpoint.
static constexpr int early[] = {SIGHUP, SIGXCPU, SIGUSR1};

/// Another one may come to another thread before the first has reset it.
static std::atomic<bool> isSecond{false};

static std::atomic<int> requests{0};

/// Notes the first signal, which says why the process stops.
static void noteFirst(int number) {
  int none = 0;
  received.compare_exchange_strong(none, number);
  wakeWaiting();
}

static void noteUrgent(int number) {
  // Back to the default, of all of them: the second one ends the process,
  // whichever it is.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int each : urgent)
    sigaction(each, &action, nullptr);
  if (isSecond.exchange(true))
    raise(number);
  noteFirst(number);
}

static void noteRequest(int) { requests.fetch_add(1); }

static bool isIgnored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

static void watch(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  // Reads and writes that it interrupts go on.
  action.sa_flags = SA_RESTART;
  for (const int each : urgent)
    sigaddset(&action.sa_mask, each);
  for (const int each : early)
    sigaddset(&action.sa_mask, each);
  sigaction(number, &action, nullptr);
}

void pdlrt::watchStopSignals() {
  descriptor.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const int each : urgent)
    watch(each, noteUrgent);
  for (const int each : early)
    if (each != SIGHUP || !isIgnored(each))
      watch(each, noteFirst);
  watch(SIGUSR2, noteRequest);
  std::signal(SIGPIPE, SIG_IGN);
}

int pdlrt::stopSignal() { return received.load(); }

int pdlrt::checkpointRequests() { return requests.load(); }

int pdlrt::stopDescriptor() { return descriptor.load(); }

void pdlrt::noteStopSignal(int number) { noteFirst(number); }
