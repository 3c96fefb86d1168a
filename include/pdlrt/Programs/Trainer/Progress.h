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
#include <limits>
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
  /// Mean loss of the latest steps. If it is NaN, only `loss` is displayed.
  double latestLoss = std::numeric_limits<double>::quiet_NaN();
  /// Rows of the tables in this process; 0: not displayed.
  int64_t keys = 0;
  /// Resident memory of this process; 0: not displayed.
  int64_t memoryBytes = 0;
};

/// Throughput between two displays, and an estimate that is made from it.
struct ProgressRate {
  double samplesPerSecond = 0;
  /// Time until the end of the epoch. If it is NaN, it is not displayed.
  double secondsLeft = std::numeric_limits<double>::quiet_NaN();
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

  /// Sets the state from which the throughput counts. Call before the first
  /// step, if it is not the first step of the epoch.
  void begin(const ProgressState &state);
  /// Returns true if the next `show` would write. Takes little time, so it can
  /// be called in each step.
  bool due() const { return Clock::now() >= next; }
  void show(const ProgressState &state);

  /// Returns the text of one line; public for its test. `bar` is true if the
  /// line has a progress bar.
  static std::string describe(const std::string &label,
                              const ProgressState &state,
                              const ProgressRate &rate, bool bar);
  /// Returns the rate of the steps between two states. The time between them is
  /// `seconds`. Public for its test.
  static ProgressRate rateOf(const ProgressState &before,
                             const ProgressState &now, double seconds);

private:
  using Clock = std::chrono::steady_clock;
  std::string label;
  bool terminal;
  bool shown = false;
  /// The last displayed state and its time; at first, those of the start.
  ProgressState last;
  Clock::time_point lastTime, next;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_PROGRESS_H
