//===- Progress.h - How far a run is ----------------------------*- C++ -*-===//
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

/// What is shown of a running epoch.
struct ProgressState {
  int64_t samples = 0;
  int64_t steps = 0;
  /// How many steps there will be, 0 if that is not known yet.
  int64_t totalSteps = 0;
  /// The mean loss so far; NaN is not shown.
  double loss = 0;
  /// The first AUC metric so far; NaN is not shown.
  double auc = 0;
};

/// Shows progress on the error stream: one line that rewrites itself where that
/// is a terminal, a plain line every few seconds elsewhere. Not thread-safe.
class Progress {
public:
  /// `label` stands before the figures, such as "epoch 1/3".
  Progress(std::string label, bool terminal);
  /// Clears the line of a terminal.
  ~Progress();

  /// True when the next `show` would write; asking is cheap.
  bool due() const { return Clock::now() >= next; }
  void show(const ProgressState &state);

  /// The text of one line; public for its test. `seconds` since the start.
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
