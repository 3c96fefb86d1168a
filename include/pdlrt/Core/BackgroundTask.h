//===- BackgroundTask.h - Work on a separate thread -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_BACKGROUNDTASK_H
#define PDLRT_CORE_BACKGROUNDTASK_H

#include "pdlrt/Core/Status.h"

#include <atomic>
#include <exception>
#include <functional>
#include <string>
#include <thread>

namespace pdlrt {

/// Runs work on a separate thread, concurrently with its creator. Not
/// thread-safe.
class BackgroundTask {
public:
  /// Starts `work` on a new thread, which is called `name` in traces. If no
  /// thread can be started, the constructor runs `work` itself.
  BackgroundTask(std::string name, std::function<Status()> work);
  /// Waits until the work has ended.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask &) = delete;
  BackgroundTask &operator=(const BackgroundTask &) = delete;

  /// Returns true if `wait` would not block.
  bool isDone() const { return done.load(std::memory_order_acquire); }
  /// Waits until `work` has ended, and returns its result or rethrows its
  /// exception. Call once.
  Status wait();

private:
  void run(const std::function<Status()> &work);

  Status status;
  std::exception_ptr thrown;
  std::atomic<bool> done{false};
  std::thread thread;
};

} // namespace pdlrt

#endif // PDLRT_CORE_BACKGROUNDTASK_H
