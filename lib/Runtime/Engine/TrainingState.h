//===- TrainingState.h - Counts and position of a training ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_ENGINE_TRAININGSTATE_H
#define LIB_RUNTIME_ENGINE_TRAININGSTATE_H

#include "pdlrt/Checkpoint/EvaluationProgress.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/EpochRest.h"
#include "pdlrt/Engine/PassReport.h"

#include <cstdint>
#include <memory>

namespace pdlrt {

/// Position of a process in the running epoch, or in the last one.
struct EpochPosition {
  int64_t epoch = 0;
  /// Counts of the epoch; null before the first epoch.
  const PassReport *report = nullptr;
  /// Number of steps of the epoch that earlier runs have done.
  int64_t stepsBefore = 0;
  /// Number of steps of all runs when this run started or resumed the epoch.
  int64_t totalStepsBefore = 0;
  /// True if this process reads the epoch from its start.
  bool readsWhole = false;
  /// Remaining rows of an epoch that was divided among other replicas before.
  /// Null: all rows.
  std::shared_ptr<const EpochRest> rest;
  /// True if this process has no more steps of the epoch, but other trainers
  /// may have. Set only in modes in which trainers meet at the end of an epoch.
  bool stepsEnded = false;
  /// True if all processes reached the end of the data.
  bool hasEnded = false;

  /// Returns how many of the steps in `counts`, a report on the epoch, this run
  /// has done.
  int64_t stepsHere(const PassReport &counts) const {
    return counts.steps - stepsBefore;
  }
};

/// Progress of a training, which the objects of a trainer share. Not
/// thread-safe.
struct TrainingState {
  /// Totals over all runs of the training. Samples and skipped updates are
  /// counted when an epoch is complete.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  /// Parts of the totals above that belong to earlier runs.
  int64_t resumedSteps = 0, resumedSamples = 0;
  /// Steps of the previous incarnation of this process, if it was restarted.
  int64_t earlierSteps = 0;
  /// Largest number of steps of any process at the last meeting.
  int64_t agreedSteps = 0;
  /// Event time of the last checkpoint, over all trainers, in milliseconds
  /// since 1970. 0: none.
  int64_t savedEventTime = 0;
  /// Number of steps of the last epoch; 0: not known.
  int64_t stepsInEpoch = 0;
  EpochPosition position;
  EvaluationProgress evaluations;
  /// Error from reading the data during the training. The training then shuts
  /// down gracefully and fails with this error.
  Status dataFailure;
  /// `seconds`: wall-clock time of the steps of this process. `cpuSeconds`: its
  /// CPU time.
  double seconds = 0, cpuSeconds = 0;
  /// Wall-clock time until all trainers had done their steps.
  double jobSeconds = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_ENGINE_TRAININGSTATE_H
