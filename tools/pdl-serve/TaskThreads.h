//===- TaskThreads.h - Threads for work that takes long ------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_TASKTHREADS_H
#define PDLSERVE_TASKTHREADS_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlserve {

/// Runs tasks in threads of its own, in the order in which they come. Threads
/// may share it. The destructor runs what waits.
class TaskThreads {
public:
  explicit TaskThreads(unsigned count);
  TaskThreads(const TaskThreads &) = delete;
  TaskThreads &operator=(const TaskThreads &) = delete;
  ~TaskThreads();

  /// `task` must not throw. Throws std::bad_alloc, and then does not run it.
  void post(std::function<void()> task);

private:
  void work();

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  bool isEnding = false;
  std::vector<std::jthread> threads;
};

} // namespace pdlserve

#endif // PDLSERVE_TASKTHREADS_H
