//===- Scheduler.h - Thread pool for index ranges ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs independent tasks, numbered from 0, on a fixed number of threads. Any
// thread may run a task. Results are deterministic if no task's result depends
// on other tasks of the same call: each task writes to its own memory, and the
// caller adds results in the order of their numbers.
//
// A task may start subtasks if its call allows it: a replica splits its matrix
// products over idle threads. Threads help the oldest call that has tasks left.
// Work that started first, such as preparing the next batch, therefore does not
// wait for other work.
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

/// A borrowed callable `void(int64_t)`; valid only while the callable exists.
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
  /// The operating system decides.
  None,
  /// Each thread has its own processor, of those that the process may use. The
  /// thread that creates the scheduler runs on the first one.
  Processors
};

/// Owns `threadCount - 1` threads; the caller of `parallelFor` is the last one.
class Scheduler {
public:
  /// Starts the threads; `threadCount` >= 1. Throws std::system_error, with an
  /// error message for the user, if a thread cannot start or there are fewer
  /// processors than threads to pin.
  explicit Scheduler(int threadCount, Pinning pinning = Pinning::None);
  /// Scheduler for tests: `disturbance` determines the order in which the tasks
  /// of each call start, and pauses before them. Deterministic results do not
  /// change.
  Scheduler(int threadCount, uint64_t disturbance);
  /// Joins its threads. No call may be in progress.
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  int threadCount() const { return int(threads.size()) + 1; }

  /// Calls task(0) ... task(count - 1), each once, and returns when all have
  /// returned. Tasks must not throw. Thread-safe; tasks may call it too.
  /// `width`: number of threads that a task may use in its own calls of
  /// `pdlrt::parallelFor`; with 1, they run in order on the task's thread.
  /// Allocates nothing.
  void parallelFor(int64_t count, TaskRef task, int width = 1);

private:
  friend void parallelFor(int64_t count, TaskRef task);
  struct Call;
  void run(int64_t count, TaskRef task, int width, int most);
  void start(int threadCount);
  void pin(int threadCount);
  void stop();
  void work(int number);
  Call *findOpen();
  void publish(Call &call);
  void close(Call &call);
  void drain(Call &call);
  void runDisturbed(const Call &call, int64_t position) const;

  std::vector<std::thread> threads;
  /// True if threads look for work for a while before they sleep. False if
  /// there are more threads than processors.
  bool spins = false;

  std::mutex mutex;
  std::condition_variable wake, finished;
  /// Calls with tasks that have not started, oldest first.
  Call *open = nullptr;
  int sleeping = 0;
  bool stopping = false;
  /// Incremented with each call, for threads that look for work.
  std::atomic<uint64_t> published{0};
  std::optional<uint64_t> disturbance;
};

/// Returns the maximum number of threads that share subtasks of the calling
/// thread's task. 1 outside of tasks, and if the task may not use other
/// threads.
int parallelWidth();

/// Calls `Scheduler::parallelFor` on the scheduler whose task the calling
/// thread runs, with at most `parallelWidth` threads. These tasks cannot start
/// subtasks.
void parallelFor(int64_t count, TaskRef task);

/// Returns the number of ranges into which to split `count` items, which access
/// about `bytes` bytes in total, over the threads of the calling task. Returns
/// 1 if splitting would cost more than it saves.
int64_t rangesFor(int64_t count, double bytes);

/// Calls body(begin, end) for ranges that cover [0, count), on the threads of
/// the calling task. `bytes`: approximate number of bytes that all items
/// access. The result of `body` for an item must not depend on the range.
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
