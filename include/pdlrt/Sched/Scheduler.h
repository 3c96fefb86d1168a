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
// A task may hand out tasks of its own, if its call allows it: a replica cuts
// its matrix products over the threads that have nothing else to do. Threads
// help the oldest call that has tasks left, so that what began first, such as
// the batch that is prepared beside, does not wait for the rest.
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

/// Where threads run.
enum class Pinning {
  /// Where the system puts them.
  None,
  /// Each on a processor of its own, of those that the process may use; the
  /// thread that makes the scheduler on the first.
  Processors
};

/// Owns `threadCount - 1` threads; the caller of `parallelFor` is the last.
class Scheduler {
public:
  /// `threadCount` >= 1. Throws std::system_error, with a sentence for the
  /// user, if a thread cannot start or there are fewer processors than threads
  /// to pin.
  explicit Scheduler(int threadCount, Pinning pinning = Pinning::None);
  /// For tests: takes the tasks of each call in an order, and starts them after
  /// pauses, that `disturbance` decides. What is deterministic stays the same.
  Scheduler(int threadCount, uint64_t disturbance);
  /// Waits for its threads; no call may be under way.
  ~Scheduler();
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;

  int threadCount() const { return int(threads.size()) + 1; }

  /// Calls task(0) ... task(count - 1), each once, and returns when all have
  /// returned. Tasks must not throw. Any number of threads may call, and tasks
  /// too. `width`: how many threads a task may have for calls of its own, from
  /// `pdlrt::parallelFor`; with 1 it runs them in order on its own thread.
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
  /// Threads look for work this long before they sleep; none where there are
  /// more of them than processors.
  bool spins = false;

  std::mutex mutex;
  std::condition_variable wake, finished;
  /// Calls whose tasks may yet be taken, the oldest first.
  Call *open = nullptr;
  int sleeping = 0;
  bool stopping = false;
  /// Raised with each call, for threads that look for work.
  std::atomic<uint64_t> published{0};
  std::optional<uint64_t> disturbance;
};

/// The most threads that share what the calling thread's task hands out; 1
/// outside of tasks, and where the task may have no others.
int parallelWidth();

/// As `Scheduler::parallelFor`, on the scheduler whose task the calling thread
/// runs and on at most `parallelWidth` threads; its tasks hand out none of
/// their own.
void parallelFor(int64_t count, TaskRef task);

/// How many ranges to cut `count` items into that together touch about `bytes`
/// bytes, so that the threads of the calling task share them: one where that
/// would cost more than it saves.
int64_t rangesFor(int64_t count, double bytes);

/// Calls body(begin, end) for ranges that make up [0, count), on the threads of
/// the calling task. `bytes`: what all items touch, about. What `body` does for
/// an item must not depend on the range.
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
