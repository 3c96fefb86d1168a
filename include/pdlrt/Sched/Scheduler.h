//===- Scheduler.h - A fixed set of threads for index ranges ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs independent tasks, numbered from 0, on a fixed number of threads. Which
// thread runs a task is left open, so results are deterministic exactly when a
// task's result does not depend on other tasks of the same call: each writes
// its own place, and the caller adds up in order of the number.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SCHED_SCHEDULER_H
#define PDLRT_SCHED_SCHEDULER_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace pdlrt {

/// A borrowed callable `void(int64_t)`; valid only while the callable lives.
class TaskRef {
public:
  template <typename Callable, typename = std::enable_if_t<!std::is_same_v<
                                   std::remove_cvref_t<Callable>, TaskRef>>>
  TaskRef(Callable &&callable)
      : object(const_cast<void *>(static_cast<const void *>(&callable))),
        call([](void *object, int64_t index) {
          (*static_cast<std::remove_reference_t<Callable> *>(object))(index);
        }) {}
  void operator()(int64_t index) const { call(object, index); }

private:
  void *object;
  void (*call)(void *, int64_t);
};

/// Owns `threadCount - 1` threads; the caller of `parallelFor` is the last.
class Scheduler {
public:
  /// `threadCount` >= 1. Throws std::system_error, with a sentence for the
  /// user, if a thread cannot start.
  explicit Scheduler(int threadCount);
  /// For tests: takes the tasks of each call in an order, and starts them after
  /// pauses, that `disturbance` decides. What is deterministic stays the same.
  Scheduler(int threadCount, uint64_t disturbance);
  /// Waits for its threads; no call may be under way.
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  int threadCount() const { return int(threads.size()) + 1; }

  /// Calls task(0) ... task(count - 1), each once, and returns when all have
  /// returned. Tasks must not throw. Calls from several threads take turns; a
  /// call from within a task runs its tasks in order on the calling thread.
  /// Allocates nothing.
  void parallelFor(int64_t count, TaskRef task);

private:
  void stop();
  void work();
  void drain(TaskRef task, int64_t count);
  void runDisturbed(TaskRef task, int64_t position, int64_t count) const;

  std::vector<std::thread> threads;
  std::mutex callers;

  std::mutex mutex;
  std::condition_variable wake, finished;
  const TaskRef *current = nullptr;
  int64_t currentCount = 0;
  /// Raised with each call, so that a thread joins a call at most once.
  uint64_t round = 0;
  int running = 0;
  bool stopping = false;
  std::atomic<int64_t> next{0};
  std::optional<uint64_t> disturbance;
};

} // namespace pdlrt

#endif // PDLRT_SCHED_SCHEDULER_H
