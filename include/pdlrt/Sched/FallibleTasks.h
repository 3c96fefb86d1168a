//===- FallibleTasks.h - Tasks that may run out of memory -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SCHED_FALLIBLETASKS_H
#define PDLRT_SCHED_FALLIBLETASKS_H

#include "pdlrt/Sched/Scheduler.h"

#include <atomic>
#include <cstdint>
#include <new>

namespace pdlrt {

/// Calls run(task), where `task` calls `body` but does not throw. `run` may
/// call `task` on several threads. If a call of `body` throws std::bad_alloc,
/// throws std::bad_alloc after all tasks have ended.
template <typename Run, typename Body> void runFallibly(Run run, Body &&body) {
  std::atomic<bool> isOutOfMemory{false};
  run([&](auto... range) {
    try {
      body(range...);
    } catch (const std::bad_alloc &) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    throw std::bad_alloc();
}

/// Like `scheduler.parallelFor`, but `body` may throw std::bad_alloc
/// (`runFallibly`).
template <typename Body>
void fallibleFor(Scheduler &scheduler, int64_t count, Body &&body) {
  runFallibly([&](const auto &task) { scheduler.parallelFor(count, task); },
              body);
}

/// Like `parallelRanges`, but `body` may throw std::bad_alloc (`runFallibly`).
template <typename Body>
void fallibleRanges(int64_t count, double bytes, Body &&body) {
  runFallibly([&](const auto &task) { parallelRanges(count, bytes, task); },
              body);
}

} // namespace pdlrt

#endif // PDLRT_SCHED_FALLIBLETASKS_H
