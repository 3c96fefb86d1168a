//===- Poller.cpp - Threads of a completion queue -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transport/Grpc/Poller.h"

#include <algorithm>
#include <exception>
#include <sys/mman.h>
#include <system_error>

using namespace pdlrt;
using namespace pdlrt::grpcimpl;

void LiveCount::enter() {
  const std::lock_guard lock(mutex);
  ++count;
}

void LiveCount::leave() {
  // Under the lock: who waits may destroy this at once.
  const std::lock_guard lock(mutex);
  if (--count == 0)
    changed.notify_all();
}

void LiveCount::waitForNone() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return count == 0; });
}

Status Poller::start(unsigned threadCount) {
  mostBusy = std::max(threadCount, 2u) - 1;
  try {
    for (size_t i = 0; i <= mostBusy; ++i)
      threads.emplace_back([this] { loop(); });
  } catch (const std::system_error &error) {
    // The system has one error for both.
    constexpr size_t stack = size_t(8) << 20;
    void *room = ::mmap(nullptr, stack, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const bool hasMemory = room != MAP_FAILED;
    if (hasMemory)
      ::munmap(room, stack);
    return Status::outOfMemory(
        std::string("cannot start the threads of the network: ") +
        error.what() +
        (hasMemory ? "; raise the limit of threads (ulimit -u)"
                   : "; there is no memory for their stacks: use a machine "
                     "with more, or raise the limit of addresses (ulimit -v)"));
  }
  return {};
}

Poller::~Poller() {
  // A queue must be emptied, also where no thread could be started.
  loop();
  for (std::thread &thread : threads)
    thread.join();
}

void Poller::loop() {
  std::unique_lock lock(mutex);
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

void Poller::lead(std::unique_lock<std::mutex> &lock) {
  const uint64_t own = ++term;
  hasLeader = true;
  inTask = false;
  // One that sleeps may watch this one.
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
    const std::lock_guard lock(mutex);
    if (refusing)
      return;
    if (busy == mostBusy) {
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
    // What the task holds may call back: let it go without the lock.
    task = nullptr;
    const std::lock_guard lock(mutex);
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
  const std::lock_guard lock(mutex);
  refusing = true;
  forgotten.swap(waiting);
}
