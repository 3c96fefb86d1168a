//===- CheckpointSession.h - Saves of a training ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTSESSION_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTSESSION_H

#include "Job/SaveSchedule.h"
#include "Programs/Trainer/LastSave.h"
#include "Programs/Trainer/SaveFailures.h"
#include "Programs/Trainer/TrainingParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Saves of a training: decides when to save, starts the saves, and handles
/// their failures. Only the first process handles failures: in another process,
/// an error of a save is an error of the job. All functions do nothing if the
/// training does not save. Not thread-safe.
class CheckpointSession final : LastSave::Target {
public:
  /// `model` must outlive the session. `schedule` is unused if the training
  /// does not save.
  CheckpointSession(const TrainingParts &parts, Model &model,
                    const SaveSchedule &schedule);
  CheckpointSession(const CheckpointSession &) = delete;
  CheckpointSession &operator=(const CheckpointSession &) = delete;

  /// Returns true if this process wants a checkpoint that does not depend on
  /// the number of steps.
  bool isWanted() const;
  /// Returns the number of steps that this process may do until it meets the
  /// others or saves.
  int64_t stepsUntilMeeting() const;
  /// Plans the first meeting, in which trainers that do not step together ask
  /// each other who wants a checkpoint. Each meeting plans the next one.
  void planFirstMeeting();
  /// Returns the number of steps until the next meeting that this process
  /// proposes, 0 if it proposes none. `hasEnded`: it has no more steps.
  int64_t proposeMeeting(bool hasEnded);
  /// Sets the number of steps until the next meeting, which all have agreed on.
  void noteMeeting(int64_t steps);
  /// Returns true if the processes meet after the last step. `isWanted`: one of
  /// them wants a checkpoint after it.
  bool isMeetingDue(bool isWanted) const;
  /// Returns true if all processes save now, after a step or a meeting.
  bool isSaveDue(bool isWanted) const;

  /// Handles a failure of the running save. Does not block.
  Status check();
  /// Waits for the running save, and handles its failure.
  Status finish();
  /// Saves during `epoch`, or after it if it has ended. `report` has the counts
  /// of this process that are not in the totals yet.
  Status save(int64_t epoch, const PassReport &report);
  /// Saves the state before the first step, and waits for the save.
  Status saveInitialState();
  /// Saves after an epoch, or after the part of it that was trained. `isLast`:
  /// no epoch follows.
  Status saveEpoch(int64_t epoch, const PassReport &report, bool isLast);
  /// Saves after an epoch that turned out to be the last one, if it is not
  /// saved yet.
  Status saveBetweenEpochs(int64_t epoch);

  /// Returns true if the training stops because saves fail.
  bool hasGivenUp() const { return failures.hasGivenUp(); }
  /// Returns the failure with which a training that has ended in order fails.
  const Status &failure() const { return failures.failure(); }

private:
  bool isUnsaved() const override { return failures.isUnsaved(); }
  Status retry(bool elsewhere) override;
  Status tolerate(Status failure);
  Status saveAtLast(int64_t epoch, const PassReport &report);
  Status failureAtLast(bool isElsewhere) const;
  std::string whatIsLost() const;

  const TrainingParts parts;
  Model &model;
  SaveSchedule schedule;
  SaveFailures failures;
  /// Number of steps after which trainers that do not step together meet to ask
  /// who wants a checkpoint; 0: never.
  int64_t nextMeeting = 0;
  /// Arguments of the last save while it is repeated.
  int64_t lastEpoch = 0;
  const PassReport *lastReport = nullptr;
  /// Error of the last save to the own folder.
  Status failureHere;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTSESSION_H
