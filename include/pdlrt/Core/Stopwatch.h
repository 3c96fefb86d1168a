//===- Stopwatch.h - Measures the parts of a thread's time ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_STOPWATCH_H
#define PDLRT_CORE_STOPWATCH_H

#include <chrono>
#include <ctime>

namespace pdlrt {

/// Measures consecutive parts of a thread's time. The end of a part is the
/// start of the next one, so each part costs one reading of the clock.
class Stopwatch {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Ends the current part and starts the next one. Returns the duration of the
  /// ended part, in seconds.
  double lap() {
    const Time now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last).count();
    last = now;
    return seconds;
  }
  /// Returns the start of the current part.
  Time begin() const { return last; }

private:
  Time last = std::chrono::steady_clock::now();
};

/// Returns the CPU time of all threads of this process in seconds, including
/// system time; 0 if it cannot be read.
inline double processCpuSeconds() {
  timespec used;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
    return 0;
  return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
}

} // namespace pdlrt

#endif // PDLRT_CORE_STOPWATCH_H
