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

/// Saves the checkpoints of a training: decides when to save, starts the saves,
/// and handles failures. In the first process, a failed save does not fail the
/// training at once; in another process, an error of a save is an error of the
/// job. All functions do nothing if the training does not save. Not
/// thread-safe.
class CheckpointSession final : LastSave::Target {
public:
  /// `model` must outlive the session. `schedule` has no effect if the training
  /// does not save.
  CheckpointSession(const TrainingParts &parts, Model &model,
                    const SaveSchedule &schedule);
  CheckpointSession(const CheckpointSession &) = delete;
  CheckpointSession &operator=(const CheckpointSession &) = delete;

  /// Returns true if this process wants a checkpoint for another reason than
  /// the number of steps: by time or event time, on request (SIGUSR2), or
  /// after a failed save.
  bool isWanted() const;
  /// Returns the number of steps that this process may do before it meets the
  /// other processes or saves.
  int64_t stepsUntilMeeting() const;
  /// If trainers do not step together, plans their first meeting. In a meeting,
  /// each trainer tells the others whether it wants a checkpoint, and all agree
  /// on the next meeting.
  void planFirstMeeting();
  /// Returns the number of steps until the next meeting that this process
  /// proposes, or 0 if it proposes none. Only the first process proposes one.
  /// `hasEnded`: this process has no more steps.
  int64_t proposeMeeting(bool hasEnded);
  /// Sets the number of steps until the next meeting, which all have agreed on.
  void noteMeeting(int64_t steps);
  /// Returns true if this process meets the others after the step that it has
  /// just done. `isWanted`: one of the processes wants a checkpoint after this
  /// step.
  bool isMeetingDue(bool isWanted) const;
  /// Returns true if all processes save now, after a step or a meeting.
  bool isSaveDue(bool isWanted) const;

  /// Handles a failure of the running save. Does not block.
  Status check();
  /// Waits for the running save. Handles its failure.
  Status finish();
  /// Saves the progress in `epoch`, which may have ended. `report`: counts of
  /// this process in the epoch, which are not in the totals of the training
  /// yet.
  Status save(int64_t epoch, const PassReport &report);
  /// Marks the checkpoint of the current step as the best one of the training,
  /// so that it is kept. If it is not saved yet, the save of this step marks it
  /// when it is complete. All processes must call this.
  Status keepBest();
  /// Saves the state before the first step, and waits for the save.
  Status saveInitialState();
  /// Saves after `epoch`, or after the part of it that was trained. `isLast`:
  /// no epoch follows, so a failed save is repeated.
  Status saveEpoch(int64_t epoch, const PassReport &report, bool isLast);
  /// Saves after an epoch of which it was not known before that it is the last
  /// one, if epochs are not saved otherwise (`checkpointAtEnd`). Waits for the
  /// running save, and repeats it if it has failed.
  Status saveBetweenEpochs(int64_t epoch);

  /// Returns true if the training stops because saves fail.
  bool hasGivenUp() const { return failures.hasGivenUp(); }
  /// Returns the error with which a training fails although it has ended
  /// gracefully.
  const Status &failure() const { return failures.failure(); }

private:
  bool hasCrossedEventTime(int64_t ahead) const;
  /// Returns true if a process without others saves because of the event time
  /// of the step that it has just done. Other processes request such a save
  /// with the step (`isWanted`).
  bool isEventTimeDue() const {
    return parts.processes() == 1 && parts.run.engine->sumsOverJob() &&
           hasCrossedEventTime(0);
  }
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
  /// Total number of steps after which trainers that do not step together meet
  /// next. 0 if no meeting is planned.
  int64_t nextMeeting = 0;
  /// Arguments of the last save while it is repeated.
  int64_t lastEpoch = 0;
  const PassReport *lastReport = nullptr;
  /// Error of the last save to the own folder.
  Status failureHere;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_CHECKPOINTSESSION_H
