//===- RunLoop.cpp - Parallel loops of compiled code ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"

void pdlrt_run_loop(const char *name, int64_t turns, int64_t bytes,
                    pdl_loop loop, const void *arguments) {
  pdlrt::parallelRanges(turns,
                        static_cast<double>(turns) * static_cast<double>(bytes),
                        [&](int64_t begin, int64_t end) {
                          const pdlrt::TraceSpan span(name, {end - begin});
                          loop(arguments, begin, end);
                        });
}
