//===- Executor.h - Who runs tasks ------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_EXECUTOR_H
#define PDLRT_CORE_EXECUTOR_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace pdlrt {

/// Runs tasks one after the other, in the order in which they are given.
class Executor {
public:
  virtual ~Executor();
  /// Takes a task; whether it runs within this call is the implementation's.
  /// Tasks throw nothing. Thread-safe.
  virtual void run(std::function<void()> task) = 0;
};

/// Runs each task within the call that gives it, where no threads are wanted.
/// Calls of several threads must not meet, or their tasks keep themselves
/// apart.
class InlineExecutor final : public Executor {
public:
  void run(std::function<void()> task) override { task(); }
};

/// Runs tasks on one thread of its own, so that who gives them waits for none.
/// The destructor waits for the task that runs and drops the rest. Signals are
/// not for this thread.
class ThreadExecutor final : public Executor {
public:
  /// Throws std::system_error where no thread can be started.
  ThreadExecutor();
  ~ThreadExecutor() override;
  ThreadExecutor(const ThreadExecutor &) = delete;
  ThreadExecutor &operator=(const ThreadExecutor &) = delete;
  void run(std::function<void()> task) override;

private:
  void loop();

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false;
  std::deque<std::function<void()>> tasks;
  std::thread thread;
};

} // namespace pdlrt

#endif // PDLRT_CORE_EXECUTOR_H
