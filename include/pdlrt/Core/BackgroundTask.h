//===- BackgroundTask.h - Work on a thread of its own -----------*- C++ -*-===//
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

/// Does something beside the thread that makes it. One thread at a time.
class BackgroundTask {
public:
  /// Begins `work` on a new thread, which traces call `name`; where none can be
  /// started, does it here.
  BackgroundTask(std::string name, std::function<Status()> work);
  /// Waits for its end.
  ~BackgroundTask();
  BackgroundTask(const BackgroundTask &) = delete;
  BackgroundTask &operator=(const BackgroundTask &) = delete;

  /// Whether `wait` would return at once.
  bool isDone() const { return done.load(std::memory_order_acquire); }
  /// What `work` returned or threw. Once.
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
