//===- Scheduler.cpp - A fixed set of threads for index ranges ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sched/Scheduler.h"

#include <chrono>
#include <csignal>
#include <numeric>
#include <string>
#include <system_error>

using namespace pdlrt;

/// Set while a thread runs tasks, so that a nested call is recognised.
static thread_local bool insideTask = false;

Scheduler::Scheduler(int threadCount) {
  // Signals are for the main thread: a thread of ours that took one would only
  // delay it.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 1; i < threadCount; ++i)
      threads.emplace_back([this] { work(); });
  } catch (const std::system_error &error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const int started = this->threadCount();
    // The threads that run would otherwise end the process with them.
    stop();
    throw std::system_error(error.code(),
                            "only " + std::to_string(started) + " of " +
                                std::to_string(threadCount) +
                                " threads can be started; give fewer "
                                "--threads");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Scheduler::Scheduler(int threadCount, uint64_t disturbance)
    : Scheduler(threadCount) {
  std::lock_guard lock(mutex);
  this->disturbance = disturbance;
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

/// Scatters the bits of `value` (the finalizer of SplitMix64, Steele et al.
/// 2014).
static uint64_t scatter(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// Runs the task at `position` of the call's disturbed order.
void Scheduler::runDisturbed(TaskRef task, int64_t position,
                             int64_t count) const {
  const uint64_t call = scatter(*disturbance ^ scatter(round));
  // A factor without a common divisor visits each number once.
  uint64_t factor = call % uint64_t(count);
  while (std::gcd(factor, uint64_t(count)) != 1)
    ++factor;
  const auto index =
      int64_t((uint64_t(position) * factor + (call >> 32)) % uint64_t(count));
  const uint64_t chance = scatter(call ^ uint64_t(position));
  if (chance % 4 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(chance / 4 % 200));
  else if (chance % 4 == 1)
    std::this_thread::yield();
  task(index);
}

void Scheduler::drain(TaskRef task, int64_t count) {
  insideTask = true;
  for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
    if (disturbance)
      runDisturbed(task, i, count);
    else
      task(i);
  insideTask = false;
}

void Scheduler::work() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex);
  while (true) {
    wake.wait(lock, [&] { return stopping || (current && round != seen); });
    if (stopping)
      return;
    seen = round;
    ++running;
    const TaskRef *task = current;
    int64_t count = currentCount;
    lock.unlock();
    drain(*task, count);
    lock.lock();
    if (--running == 0)
      finished.notify_all();
  }
}

void Scheduler::parallelFor(int64_t count, TaskRef task) {
  const bool alone = threads.empty() && !disturbance;
  if (insideTask || alone || count <= 1) {
    bool outer = insideTask;
    insideTask = true;
    for (int64_t i = 0; i < count; ++i)
      task(i);
    insideTask = outer;
    return;
  }
  std::lock_guard turn(callers);
  {
    std::lock_guard lock(mutex);
    current = &task;
    currentCount = count;
    next.store(0, std::memory_order_relaxed);
    ++round;
  }
  wake.notify_all();
  drain(task, count);
  // All tasks are taken; a thread that wakes only now must not see this call,
  // whose task dies with it.
  std::unique_lock lock(mutex);
  current = nullptr;
  finished.wait(lock, [&] { return running == 0; });
}
