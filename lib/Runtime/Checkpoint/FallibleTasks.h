//===- FallibleTasks.h - Runs tasks that may fail ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_FALLIBLETASKS_H
#define LIB_RUNTIME_CHECKPOINT_FALLIBLETASKS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"

#include <cstdint>
#include <functional>

namespace pdlrt {

/// Calls task(0) ... task(count - 1) on the threads of `scheduler`, or one
/// after the other if `scheduler` is null. After a failure, no further task
/// starts. Returns the error of the task that failed first, or rethrows the
/// exception that it threw.
Status runFallible(Scheduler *scheduler, int64_t count,
                   const std::function<Status(int64_t)> &task);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_FALLIBLETASKS_H
