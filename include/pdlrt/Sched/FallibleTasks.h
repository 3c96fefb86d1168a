//===- FallibleTasks.h - Tasks that may be out of memory --------*- C++ -*-===//
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

/// As `scheduler.parallelFor`, for a body that may throw std::bad_alloc: so
/// does the call, when all tasks have ended.
template <typename Body>
void fallibleFor(Scheduler &scheduler, int64_t count, Body &&body) {
  std::atomic<bool> isOutOfMemory{false};
  scheduler.parallelFor(count, [&](int64_t task) {
    try {
      body(task);
    } catch (const std::bad_alloc &) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    throw std::bad_alloc();
}

/// The same of `parallelRanges`.
template <typename Body>
void fallibleRanges(int64_t count, double bytes, Body &&body) {
  std::atomic<bool> isOutOfMemory{false};
  parallelRanges(count, bytes, [&](int64_t begin, int64_t end) {
    try {
      body(begin, end);
    } catch (const std::bad_alloc &) {
      isOutOfMemory = true;
    }
  });
  if (isOutOfMemory)
    throw std::bad_alloc();
}

} // namespace pdlrt

#endif // PDLRT_SCHED_FALLIBLETASKS_H
