//===- Progress.h - Progress display of a run -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_PROGRESS_H
#define PDLRT_PROGRAMS_TRAINER_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

namespace pdlrt {

/// Displayed state of a running epoch.
struct ProgressState {
  int64_t samples = 0;
  int64_t steps = 0;
  /// Total number of steps; 0 if it is not known yet.
  int64_t totalSteps = 0;
  /// Mean loss so far. If it is NaN, it is not displayed.
  double loss = 0;
  /// Value of the first AUC metric so far. If it is NaN, it is not displayed.
  double auc = 0;
};

/// Displays progress on the standard error. On a terminal, rewrites one line;
/// otherwise, writes a line every few seconds. Not thread-safe.
class Progress {
public:
  /// `label` is printed before the numbers, such as "epoch 1/3". `terminal` is
  /// true if the standard error is a terminal.
  Progress(std::string label, bool terminal);
  /// Clears the line on a terminal.
  ~Progress();

  /// Returns true if the next `show` would write. Takes little time, so it can
  /// be called in each step.
  bool due() const { return Clock::now() >= next; }
  void show(const ProgressState &state);

  /// Returns the text of one line; public for its test. `seconds` is the time
  /// since the start. `bar` is true if the line has a progress bar.
  static std::string describe(const std::string &label,
                              const ProgressState &state, double seconds,
                              bool bar);

private:
  using Clock = std::chrono::steady_clock;
  std::string label;
  bool terminal;
  bool shown = false;
  Clock::time_point start, next;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PROGRESS_H
