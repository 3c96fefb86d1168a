//===- StopSignal.cpp - Graceful shutdown by signals ----------------------===//
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

/// Wakes threads that poll the descriptor. Async-signal-safe.
static void wakeWaiting() {
  const int error = errno;
  const uint64_t one = 1;
  // If the descriptor is full or does not exist, this has no effect.
  (void)!::write(descriptor.load(), &one, sizeof(one));
  errno = error;
}

/// Users and batch systems send these signals to end a process. The first one
/// requests a graceful shutdown. The second one ends the process at once.
static constexpr int urgent[] = {SIGINT, SIGTERM};
/// These signals announce that the process will be ended: because its terminal
/// is closed, or because a limit is reached (the kernel repeats SIGXCPU each
/// second). They only request a graceful shutdown, however often they arrive.
/// Batch systems send SIGTERM after them; that must not end the process before
/// its last checkpoint.
static constexpr int early[] = {SIGHUP, SIGXCPU, SIGUSR1};

/// True after the first urgent signal. A second one may arrive on another
/// thread before the first has reset the handlers.
static std::atomic<bool> isSecond{false};

static std::atomic<int> requests{0}, signals{0};

/// Records the first signal, which is reported as the reason for the shutdown.
static void noteFirst(int number) {
  int none = 0;
  received.compare_exchange_strong(none, number);
  wakeWaiting();
}

static void noteEarly(int number) {
  signals.fetch_add(1);
  noteFirst(number);
}

static void noteUrgent(int number) {
  // Reset the handlers of all urgent signals to their defaults, so that the
  // next one ends the process.
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (const int each : urgent)
    sigaction(each, &action, nullptr);
  if (isSecond.exchange(true))
    raise(number);
  noteEarly(number);
}

static void noteRequest(int) { requests.fetch_add(1); }

static void watch(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  // Interrupted reads and writes are restarted.
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
    if (each != SIGHUP || !isSignalIgnored(each))
      watch(each, noteEarly);
  watch(SIGUSR2, noteRequest);
  std::signal(SIGPIPE, SIG_IGN);
}

int pdlrt::stopSignal() { return received.load(); }

int pdlrt::stopSignals() { return signals.load(); }

bool pdlrt::isSignalIgnored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

int pdlrt::checkpointRequests() { return requests.load(); }

int pdlrt::stopDescriptor() { return descriptor.load(); }

void pdlrt::noteStopSignal(int number) { noteFirst(number); }
