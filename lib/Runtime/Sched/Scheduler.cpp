//===- Scheduler.cpp - Thread pool for index ranges -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Core/BlockedSignals.h"

#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <chrono>
#include <immintrin.h>
#include <numeric>
#include <sched.h>
#include <string>
#include <system_error>

using namespace pdlrt;

/// Time for which an idle thread looks for work before it sleeps. It is longer
/// than the loops between two matrix products take, and about as long as waking
/// a thread takes.
static constexpr std::chrono::microseconds spinTime{50};

/// One call of `parallelFor`. The object is on the stack of the caller.
struct Scheduler::Call {
  const TaskRef &task;
  const int64_t count;
  /// Number of threads that a task may use.
  const int width;
  /// Maximum number of threads for this call.
  const int most;
  /// Identifies the call.
  uint64_t number = 0;
  std::atomic<int64_t> next{0};
  /// Number of threads, except the caller, that work on the call. It is changed
  /// only while the mutex is locked. The caller waits until it is 0 without
  /// locking the mutex.
  std::atomic<int> helpers{0};
  /// The next younger call with remaining tasks.
  Call *younger = nullptr;

  bool wantsThreads() const {
    return next.load(std::memory_order_relaxed) < count &&
           helpers.load(std::memory_order_relaxed) < most - 1;
  }
};

namespace {

/// The resources of the calling thread's task.
struct Surroundings {
  Scheduler *scheduler = nullptr;
  int width = 1;
};

} // namespace

static thread_local Surroundings surroundings;

Scheduler::Scheduler(int threadCount, Pinning pinning) {
  spins = unsigned(threadCount) <= std::thread::hardware_concurrency();
  start(threadCount);
  if (pinning == Pinning::Processors)
    pin(threadCount);
}

Scheduler::Scheduler(int threadCount, uint64_t disturbance)
    : disturbance(disturbance) {
  start(threadCount);
}

void Scheduler::start(int threadCount) {
  try {
    const BlockedSignals blocked;
    for (int i = 1; i < threadCount; ++i)
      threads.emplace_back([this, i] { work(i); });
  } catch (const std::system_error &error) {
    const int started = this->threadCount();
    // Stop the threads that were started: the destructor of a running
    // std::thread ends the process.
    stop();
    throw std::system_error(error.code(),
                            "only " + std::to_string(started) + " of " +
                                std::to_string(threadCount) +
                                " threads can be started; give fewer "
                                "--threads");
  }
}

void Scheduler::pin(int threadCount) {
  auto refuse = [this](int error, const std::string &message) {
    stop();
    throw std::system_error(error, std::generic_category(), message);
  };
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    refuse(errno, "the processors of this process cannot be found out; leave "
                  "--pin-threads out");
  std::vector<int> processors;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed))
      processors.push_back(i);
  if (int(processors.size()) < threadCount)
    refuse(EINVAL, std::to_string(threadCount) +
                       " threads cannot be pinned to " +
                       std::to_string(processors.size()) +
                       " processors; give fewer --threads, or leave "
                       "--pin-threads out");
  for (int i = 0; i < threadCount; ++i) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[i], &one);
    const pthread_t thread =
        i == 0 ? pthread_self() : threads[i - 1].native_handle();
    if (const int error = pthread_setaffinity_np(thread, sizeof(one), &one))
      refuse(error, "a thread cannot be pinned to processor " +
                        std::to_string(processors[i]) +
                        "; leave --pin-threads out");
  }
}

Scheduler::~Scheduler() { stop(); }

void Scheduler::stop() {
  {
    const MutexLock lock(mutex);
    stopping = true;
    published.fetch_add(1, std::memory_order_release);
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
  threads.clear();
}

/// Mixes the bits of `value` (the finalizer of SplitMix64, Steele et al. 2014).
static uint64_t scatter(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

/// Runs the task at `position` in the call's disturbed order.
void Scheduler::runDisturbed(const Call &call, int64_t position) const {
  const uint64_t number = scatter(*disturbance ^ scatter(call.number));
  // A factor that is coprime to the count gives each index once.
  uint64_t factor = number % uint64_t(call.count);
  while (std::gcd(factor, uint64_t(call.count)) != 1)
    ++factor;
  const auto index = int64_t((uint64_t(position) * factor + (number >> 32)) %
                             uint64_t(call.count));
  const uint64_t chance = scatter(number ^ uint64_t(position));
  if (chance % 4 == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(chance / 4 % 200));
  else if (chance % 4 == 1)
    std::this_thread::yield();
  call.task(index);
}

void Scheduler::drain(Call &call) {
  const Surroundings outer = surroundings;
  surroundings = {this, call.width};
  for (int64_t i;
       (i = call.next.fetch_add(1, std::memory_order_relaxed)) < call.count;)
    if (disturbance)
      runDisturbed(call, i);
    else
      call.task(i);
  surroundings = outer;
}

/// Returns the oldest call with tasks for a further thread, or null.
Scheduler::Call *Scheduler::findOpen() {
  Call *call = open;
  while (call && !call->wantsThreads())
    call = call->younger;
  return call;
}

void Scheduler::work(int number) {
  Trace::nameThread("thread " + std::to_string(number));
  MutexLock lock(mutex);
  while (!stopping) {
    if (Call *call = findOpen()) {
      call->helpers.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      drain(*call);
      lock.lock();
      // The call may be destroyed after this, if its caller is not sleeping.
      if (call->helpers.fetch_sub(1, std::memory_order_release) == 1)
        finished.notify_all();
      continue;
    }
    if (spins) {
      const uint64_t seen = published.load(std::memory_order_relaxed);
      lock.unlock();
      const auto until = std::chrono::steady_clock::now() + spinTime;
      bool isNew = false;
      while (!isNew && std::chrono::steady_clock::now() < until)
        for (int i = 0; i < 16 && !isNew; ++i) {
          _mm_pause();
          isNew = published.load(std::memory_order_acquire) != seen;
        }
      lock.lock();
      if (isNew)
        continue;
    }
    ++sleeping;
    wake.wait(lock, [this]() PDLRT_REQUIRES(mutex) {
      return stopping || findOpen();
    });
    --sleeping;
  }
}

void Scheduler::publish(Call &call) {
  int woken;
  {
    const MutexLock lock(mutex);
    Call **place = &open;
    while (*place)
      place = &(*place)->younger;
    *place = &call;
    call.number = published.fetch_add(1, std::memory_order_release);
    woken = int(std::min<int64_t>({sleeping, call.most - 1, call.count - 1}));
  }
  for (int i = 0; i < woken; ++i)
    wake.notify_one();
}

/// Waits until no other thread works on the call.
void Scheduler::close(Call &call) {
  MutexLock lock(mutex);
  Call **place = &open;
  while (*place != &call)
    place = &(*place)->younger;
  *place = call.younger;
  if (call.helpers.load(std::memory_order_relaxed) == 0)
    return;
  const TraceSpan span("wait for threads");
  if (spins && call.helpers.load(std::memory_order_relaxed) != 0) {
    lock.unlock();
    const auto until = std::chrono::steady_clock::now() + spinTime;
    while (call.helpers.load(std::memory_order_acquire) != 0 &&
           std::chrono::steady_clock::now() < until)
      for (int i = 0; i < 16; ++i)
        _mm_pause();
    // The last helper may still hold the mutex.
    lock.lock();
  }
  finished.wait(
      lock, [&] { return call.helpers.load(std::memory_order_acquire) == 0; });
}

void Scheduler::run(int64_t count, TaskRef task, int width, int most) {
  Call call = {task, count, width, most};
  if (count > 1 && most > 1) {
    publish(call);
    drain(call);
    return close(call);
  }
  if (count > 1 && disturbance) {
    call.number = published.fetch_add(1, std::memory_order_relaxed);
    return drain(call);
  }
  const Surroundings outer = surroundings;
  surroundings = {this, width};
  for (int64_t i = 0; i < count; ++i)
    task(i);
  surroundings = outer;
}

void Scheduler::parallelFor(int64_t count, TaskRef task, int width) {
  run(count, task, std::min(width, threadCount()), threadCount());
}

int pdlrt::parallelWidth() { return surroundings.width; }

void pdlrt::parallelFor(int64_t count, TaskRef task) {
  if (surroundings.scheduler)
    return surroundings.scheduler->run(count, task, 1, surroundings.width);
  for (int64_t i = 0; i < count; ++i)
    task(i);
}

int64_t pdlrt::rangesFor(int64_t count, double bytes) {
  // About ten microseconds of work. Passing a range to a thread that looks for
  // work costs one or two microseconds.
  constexpr double bytesOfRange = 64 * 1024;
  const int width = parallelWidth();
  if (width == 1 || bytes < 2 * bytesOfRange)
    return 1;
  // Two per thread, because threads do not start at the same time.
  return std::min<int64_t>(
      {count, 2 * int64_t(width), int64_t(bytes / bytesOfRange)});
}
