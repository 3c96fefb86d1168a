//===- Measure.h - Measures time and the machine's limits -------*- C++ -*-===//
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

/// Returns the CPU time of the calling thread in seconds. The benchmarks never
/// wait. So on an idle machine, this is the elapsed time, and on a busy one it
/// excludes other programs.
inline double threadSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the shortest time of one call in seconds. Makes as many calls as fit
/// into `budget` seconds, but at least three.
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

/// Returns the f32 operations per second of one core in a loop of independent
/// FMAs, with the widest vectors of the CPU. No matrix product can be faster.
double fmaPeak();

/// Returns the same for multiply-adds of bf16 pairs; 0 if the CPU does not have
/// them.
double bfloat16Peak();

/// Returns the same for products of bf16 tiles; 0 if the process cannot use
/// AMX.
double tilePeak();

/// Prints the throughput of matrix products with the shapes of click models:
/// strict and oneDNN as percentages of `peak`; bf16 as percentages of
/// `bfloat16Peak`, if that is not 0.
void printGemmTable(double peak, double bfloat16Peak);

} // namespace pdlbench

#endif // PDL_BENCH_HANDWRITTEN_MEASURE_H
