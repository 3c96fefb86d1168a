//===- Intervals.h - Progress between two reports ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_INTERVALS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_INTERVALS_H

#include "Programs/Trainer/TrainingEvaluations.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/PassReport.h"

#include <utility>

namespace pdlrt {

/// Computes what an epoch has added since the last report.
class ReportSince {
public:
  /// Starts an interval at `report`.
  void restart(const PassReport &report) { last = report; }
  /// Returns the samples, steps and losses of the interval that ends at
  /// `report`, and starts the next one.
  PassReport take(const PassReport &report) {
    const PassReport before = std::exchange(last, report);
    PassReport added;
    added.samples = report.samples - before.samples;
    added.steps = report.steps - before.steps;
    added.lossSum = report.lossSum - before.lossSum;
    added.weightSum = report.weightSum - before.weightSum;
    return added;
  }

private:
  PassReport last;
};

/// A stopwatch that excludes the time of evaluations.
class StepWatch {
public:
  using Times = TrainingEvaluations::Times;

  /// `evaluations` must outlive the object.
  explicit StepWatch(const TrainingEvaluations &evaluations)
      : evaluations(evaluations), excluded(evaluations.timesDone()) {}

  /// Ends the current part and starts the next one. Returns the times of the
  /// ended part, without those of its evaluations.
  Times lap() {
    const Times before = std::exchange(excluded, evaluations.timesDone());
    const double cpuBefore = std::exchange(cpu, processCpuSeconds());
    return {watch.lap() - (excluded.seconds - before.seconds),
            cpu - cpuBefore - (excluded.cpuSeconds - before.cpuSeconds)};
  }

private:
  const TrainingEvaluations &evaluations;
  Stopwatch watch;
  double cpu = processCpuSeconds();
  /// Times of all evaluations before the current part.
  Times excluded;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_INTERVALS_H
