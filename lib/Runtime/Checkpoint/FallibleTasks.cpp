//===- FallibleTasks.cpp - Runs tasks that may fail -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/FallibleTasks.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

using namespace pdlrt;

Status pdlrt::runFallible(Scheduler *scheduler, int64_t count,
                          const std::function<Status(int64_t)> &task) {
  std::atomic<bool> failed{false};
  Status error;
  std::exception_ptr thrown;
  const auto run = [&](int64_t index) {
    if (failed)
      return;
    Status status;
    std::exception_ptr exception;
    // Tasks of a scheduler must not throw.
    try {
      status = task(index);
    } catch (...) {
      exception = std::current_exception();
    }
    if ((status.ok() && !exception) || failed.exchange(true))
      return;
    error = std::move(status);
    thrown = std::move(exception);
  };
  if (scheduler)
    scheduler->parallelFor(count, run);
  else
    for (int64_t i = 0; i < count; ++i)
      run(i);
  if (thrown)
    std::rethrow_exception(thrown);
  return error;
}
