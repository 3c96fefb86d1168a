//===- EpochLoop.h - Steps of the epochs of a training ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHLOOP_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHLOOP_H

#include "Programs/Trainer/CheckpointSession.h"
#include "Programs/Trainer/EpochStart.h"
#include "Programs/Trainer/Intervals.h"
#include "Programs/Trainer/TrainingEvaluations.h"
#include "Programs/Trainer/TrainingLimits.h"
#include "Programs/Trainer/TrainingMetrics.h"
#include "Programs/Trainer/TrainingParts.h"
#include "Programs/Trainer/TrainingReader.h"
#include "Recovery/Recovery.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Programs/Trainer/Progress.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <utility>

namespace pdlrt {

/// Trains epochs: does their steps, and meets the other processes of the job
/// for checkpoints and at the end of each epoch. Not thread-safe.
class EpochLoop {
public:
  /// Objects that the loop uses in each epoch. All must outlive the loop.
  struct Collaborators {
    EpochStart &start;
    TrainingReader &reader;
    CheckpointSession &saves;
    TrainingEvaluations &evaluations;
    Recovery &recovery;
    RangeWarnings &rangeWarnings;
    const Model &model;
  };
  /// Replaces the results of this process in `report` by those of the job.
  /// Returns true if the job ends early.
  using AddUp = std::function<Expected<bool>(PassReport &report)>;

  /// `terminal`: the output is a terminal, on which progress can be rewritten
  /// in place.
  EpochLoop(const TrainingParts &parts, const Collaborators &with, AddUp addUp,
            bool terminal);

  /// Trains `epoch` until its end, until the last step of the training, or
  /// until a stop signal. Saves the result. Sets `report` to the results of the
  /// job.
  Status train(int64_t epoch, PassReport &report);

private:
  /// Agreement of the processes before a checkpoint and after an epoch.
  struct Meeting {
    /// `allEnded`: all processes have done their last step of the epoch.
    /// `allOutOfData`: all processes have reached the end of their data.
    bool allEnded = false, allOutOfData = false;
    /// True if some process wants a checkpoint for another reason than the
    /// number of steps: by time, on request (SIGUSR2), or after a failed save.
    bool wantsSave = false;
  };

  Status beginEpoch(int64_t epoch, PassReport &report);
  /// Returns true if no step of the training follows.
  bool isOver() const {
    return limits.areExhausted(parts.state.totalSteps) ||
           with.evaluations.areOver();
  }
  int64_t stepsLeftInPass() const;
  /// Number of steps, and whether these are the last steps of the pass.
  using AllowedSteps = std::pair<int64_t, bool>;
  AllowedSteps stepsAllowed() const;
  Status trainSteps(int64_t epoch, PassReport &report, Progress &progress,
                    bool meets);
  Expected<bool> trainStep(int64_t epoch, PassReport &report);
  int64_t expectedSteps(const PassReport &report) const;
  void showProgress(Progress &progress, const PassReport &report);
  double updateMetrics(const PassReport &report);
  nlohmann::ordered_json learningRates() const;
  void logMetrics(const PassReport &report);
  Expected<Meeting> meet(bool ended);
  Status meetAndSave(int64_t epoch, const PassReport &report, bool isWanted);
  Status evaluateAndSave(int64_t epoch, const PassReport &report,
                         bool isWanted);
  Status evaluateAtEnd(const PassReport &report);
  Status awaitOthers(int64_t epoch, const PassReport &report);
  Status finishEpoch(int64_t epoch, PassReport &report, StepWatch &watch);

  const TrainingParts parts;
  const Collaborators with;
  const AddUp addUp;
  const bool terminal;
  TrainingMetrics metrics;
  /// Since the last update of the progress.
  ReportSince shown;
  /// Since the last line of --log-metrics.
  ReportSince logged;
  StepWatch loggedWatch;
  const TrainingLimits limits;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_EPOCHLOOP_H
