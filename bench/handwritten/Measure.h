//===- Measure.h - Time and the limit of this machine -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_HANDWRITTEN_MEASURE_H
#define PDL_BENCH_HANDWRITTEN_MEASURE_H

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace pdlbench {

/// Seconds of CPU time of the calling thread. Nothing here waits, so on an idle
/// machine that is the time that passed, and on a busy one it still counts only
/// what this thread did.
inline double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// The least seconds of one call, over as many calls as fit into `budget`
/// seconds but at least three.
template <typename Function>
double bestSeconds(double budget, Function function) {
  double best = 1e30;
  const double end = threadSeconds() + budget;
  for (int i = 0; i < 3 || threadSeconds() < end; ++i) {
    const double start = threadSeconds();
    function();
    best = std::min(best, threadSeconds() - start);
  }
  return best;
}

/// f32 operations a second of one core in a loop of independent FMAs, by the
/// widest vectors that the CPU has: what no product can exceed.
double fmaPeak();

/// The same of multiply-adds of bf16 pairs; 0 where the CPU has none.
double bfloat16Peak();

/// Prints products at the shapes of click models: strict and oneDNN as
/// percentages of `peak`, those of bf16 factors as percentages of
/// `bfloat16Peak`, if that is not 0.
void printGemmTable(double peak, double bfloat16Peak);

} // namespace pdlbench

#endif // PDL_BENCH_HANDWRITTEN_MEASURE_H
