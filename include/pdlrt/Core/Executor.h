//===- Executor.h - Executes tasks in order ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_EXECUTOR_H
#define PDLRT_CORE_EXECUTOR_H

#include "pdlrt/Core/Mutex.h"

#include <deque>
#include <functional>
#include <thread>

namespace pdlrt {

/// Runs tasks one after the other, in the order in which they are submitted.
class Executor {
public:
  virtual ~Executor();
  /// Submits a task. The implementation may run the task within this call.
  /// Tasks must not throw. Thread-safe.
  virtual void run(std::function<void()> task) = 0;
};

/// Runs each task within the call that submits it. Starts no thread. Tasks that
/// are submitted concurrently also run concurrently, so either the callers or
/// the tasks must synchronize.
class InlineExecutor final : public Executor {
public:
  void run(std::function<void()> task) override { task(); }
};

/// Runs tasks on a thread of its own, so `run` does not wait for tasks. The
/// destructor waits for the running task and drops the others. The thread
/// blocks signals.
class ThreadExecutor final : public Executor {
public:
  /// Throws std::system_error if no thread can be started.
  ThreadExecutor();
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor &) = delete;
  ThreadExecutor &operator=(const ThreadExecutor &) = delete;
  void run(std::function<void()> task) override;

private:
  void loop();

  Mutex mutex;
  ConditionVariable changed;
  bool stopping PDLRT_GUARDED_BY(mutex) = false;
  std::deque<std::function<void()>> tasks PDLRT_GUARDED_BY(mutex);
  std::thread thread;
};

} // namespace pdlrt

#endif // PDLRT_CORE_EXECUTOR_H
