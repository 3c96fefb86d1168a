//===- Scheduler.h - Thread pool for index ranges ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs independent tasks, numbered from 0, on a fixed number of threads. Any
// thread may run a task. To get deterministic results, each task must write to
// its own memory and must not depend on other tasks of the same call. The
// caller then adds up results in the order of the tasks' numbers.
//
// A task may start subtasks if its call allows it. For example, a replica
// splits its matrix products over idle threads. An idle thread runs tasks of
// the oldest call that has tasks left. So calls that started first, such as
// preparing the next batch, do not wait for later ones.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SCHED_SCHEDULER_H
#define PDLRT_SCHED_SCHEDULER_H

#include "pdlrt/Core/Mutex.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace pdlrt {

/// Reference to a callable object `void(int64_t)`. Valid only while the object
/// exists.
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

/// Assignment of threads to processors.
enum class Pinning {
  /// The operating system assigns threads to processors.
  None,
  /// Each thread is pinned to a processor of its own, among those that the
  /// process may use. The thread that creates the scheduler is pinned to the
  /// first one.
  Processors
};

/// Thread pool. Owns `threadCount - 1` threads; the caller of `parallelFor`
/// works as one more.
class Scheduler {
public:
  /// Starts the threads. `threadCount` must be at least 1. Throws
  /// std::system_error, with an error message for the user, if a thread cannot
  /// start, or if threads are pinned and there are fewer processors than
  /// threads.
  explicit Scheduler(int threadCount, Pinning pinning = Pinning::None);
  /// Creates a scheduler for tests. `disturbance` is the seed of a random order
  /// in which the tasks of each call start, and of random pauses before tasks.
  /// Results that are deterministic must not change.
  Scheduler(int threadCount, uint64_t disturbance);
  /// Ends the threads. No call may be in progress.
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  int threadCount() const { return int(threads.size()) + 1; }

  /// Calls task(0) ... task(count - 1), each once, and returns when all of them
  /// have returned. Tasks must not throw. `width` is the number of threads that
  /// each task may use in its own calls of `pdlrt::parallelFor`; with 1,
  /// subtasks run in order on the task's thread. Allocates nothing.
  /// Thread-safe; tasks may call it too.
  void parallelFor(int64_t count, TaskRef task, int width = 1);

private:
  friend void parallelFor(int64_t count, TaskRef task);
  struct Call;
  void run(int64_t count, TaskRef task, int width, int most);
  void start(int threadCount);
  void pin(int threadCount);
  void stop();
  void work(int number);
  Call *findOpen() PDLRT_REQUIRES(mutex);
  void publish(Call &call);
  void close(Call &call);
  void drain(Call &call);
  void runDisturbed(const Call &call, int64_t position) const;

  std::vector<std::thread> threads;
  /// True if idle threads check for new calls for a while before they sleep.
  /// False if there are more threads than processors.
  bool spins = false;

  Mutex mutex;
  ConditionVariable wake, finished;
  /// List of calls that have tasks which have not started, oldest first.
  Call *open PDLRT_GUARDED_BY(mutex) = nullptr;
  int sleeping PDLRT_GUARDED_BY(mutex) = 0;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
  /// Number of calls so far. Idle threads watch it to notice new calls.
  std::atomic<uint64_t> published{0};
  std::optional<uint64_t> disturbance;
};

/// Returns the maximum number of threads that can run subtasks of the task that
/// the calling thread runs. Returns 1 outside of tasks, and if the task may not
/// use other threads.
int parallelWidth();

/// Calls task(0) ... task(count - 1) as subtasks of the task that the calling
/// thread runs, on at most `parallelWidth` threads of the same scheduler.
/// Outside of tasks, and within subtasks, the calls run in order on the calling
/// thread. See `Scheduler::parallelFor`.
void parallelFor(int64_t count, TaskRef task);

/// Returns the number of ranges into which work on `count` items should be
/// split for the threads of the calling task. `bytes` is the approximate number
/// of bytes that the work accesses. Returns 1 if splitting would cost more time
/// than it saves.
int64_t rangesFor(int64_t count, double bytes);

/// Splits [0, count) into ranges (`rangesFor`), and calls body(begin, end) for
/// each range on the threads of the calling task. `bytes` is the approximate
/// number of bytes that the work on all items accesses. The result for an item
/// must not depend on its range.
template <typename Body>
void parallelRanges(int64_t count, double bytes, Body &&body) {
  const int64_t ranges = rangesFor(count, bytes);
  if (ranges == 1)
    return body(int64_t(0), count);
  parallelFor(ranges, [&](int64_t range) {
    body(count * range / ranges, count * (range + 1) / ranges);
  });
}

} // namespace pdlrt

#endif // PDLRT_SCHED_SCHEDULER_H
