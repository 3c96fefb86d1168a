//===- Poller.cpp - Threads of a completion queue -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Poller.h"

#include "Transport/StartThread.h"

#include <algorithm>
#include <exception>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

void LiveCount::enter() {
  const MutexLock lock(mutex);
  ++count;
}

void LiveCount::leave() {
  // Notify while the mutex is locked: a waiting thread may destroy this object
  // as soon as it is unlocked.
  const MutexLock lock(mutex);
  if (--count == 0)
    changed.notify_all();
}

void LiveCount::waitForNone() {
  MutexLock lock(mutex);
  changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) { return count == 0; });
}

Status Poller::start(unsigned threadCount) {
  maxBusy = std::max(threadCount, 2u) - 1;
  for (size_t i = 0; i <= maxBusy; ++i) {
    std::thread thread;
    PDLRT_RETURN_IF_ERROR(
        startThread(thread, "a thread of the network", [this] { loop(); }));
    threads.push_back(std::move(thread));
  }
  return {};
}

Poller::~Poller() {
  // A queue must be emptied, even if no thread could be started.
  loop();
  for (std::thread &thread : threads)
    thread.join();
}

void Poller::loop() {
  MutexLock lock(mutex);
  while (!finished) {
    if (!hasLeader) {
      lead(lock);
    } else if (hasWatcher) {
      changed.wait(lock);
    } else {
      hasWatcher = true;
      changed.wait_for(lock, patience);
      hasWatcher = false;
      if (!finished && leaderIsLate())
        lead(lock);
    }
  }
}

void Poller::lead(MutexLock &lock) {
  const uint64_t own = ++term;
  hasLeader = true;
  inTask = false;
  // Wakes a sleeping thread, which becomes the watcher of this one.
  changed.notify_one();
  lock.unlock();
  Tag *tag = nullptr;
  bool ok = false;
  bool more = true;
  while (term == own && (more = next(tag, ok))) {
    noteEnd(tag);
    tag->ended(ok);
  }
  lock.lock();
  if (!more) {
    finished = true;
    changed.notify_all();
  }
}

void Poller::run(std::function<void()> task) {
  const uint64_t own = term;
  {
    const MutexLock lock(mutex);
    if (refusing)
      return;
    if (busy == maxBusy) {
      waiting.push_back(std::move(task));
      return;
    }
    ++busy;
    inTask = true;
    taskStart = SteadyClock::now();
  }
  std::exception_ptr failure;
  while (true) {
    try {
      task();
    } catch (...) {
      failure = std::current_exception();
    }
    // Destroy the task while the mutex is not locked, because its destructor
    // may call this poller.
    task = nullptr;
    const MutexLock lock(mutex);
    if (waiting.empty()) {
      --busy;
      if (term == own)
        inTask = false;
      break;
    }
    task = std::move(waiting.front());
    waiting.pop_front();
  }
  if (failure)
    std::rethrow_exception(failure);
}

void Poller::refuseTasks() {
  std::deque<std::function<void()>> forgotten;
  const MutexLock lock(mutex);
  refusing = true;
  forgotten.swap(waiting);
}
