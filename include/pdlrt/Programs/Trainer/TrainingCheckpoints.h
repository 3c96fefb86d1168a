//===- TrainingCheckpoints.h - Saving and resuming a training ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROGRAMS_TRAINER_TRAININGCHECKPOINTS_H
#define PDLRT_PROGRAMS_TRAINER_TRAININGCHECKPOINTS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/CheckpointMetrics.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Core/BackgroundTask.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Returns the flags that determine which samples the batches of an epoch
/// contain, with their values as text. The values must not change in the middle
/// of an epoch.
std::vector<std::pair<std::string, std::string>>
dataSettings(const SessionOptions &options);

/// `filesText` returns the names and sizes of files, and `rowsText` a range of
/// rows, as text for messages and settings.
std::string filesText(const std::vector<std::string> &paths);
std::string rowsText(const RowRange &rows);

/// The checkpoints that one run writes, and the checkpoint from which it
/// resumes. Not thread-safe.
class TrainingCheckpoints {
public:
  /// Opens the folder `options.checkpoint`. With `options.resume`, opens the
  /// newest intact checkpoint in it. Returns an error if this checkpoint is of
  /// another model, or if flags have changed that must not change in the middle
  /// of its epoch. `first` is true in the first process of a job, which locks
  /// the folder. If its previous incarnation may still have the lock,
  /// `takeFolder` takes it later. Threads of `scheduler` read the files.
  static Expected<std::unique_ptr<TrainingCheckpoints>>
  open(const pdl_descriptor &descriptor, const SessionOptions &options,
       bool first, Scheduler &scheduler);

  /// In the first process, takes the lock of the folder if `open` could not
  /// take it. Takes it even from the previous incarnation, which may still run,
  /// but which servers no longer admit. Does nothing in other processes. Call
  /// after the join. Returns an error if a process of another job has the lock.
  Status takeFolder(const Job &job);
  /// Returns an error if the folder has checkpoints but the training does not
  /// resume (no `options.resume`). Does nothing in a process that has not
  /// opened or taken the folder (`takeFolder`).
  Status checkFolder() const;

  /// Returns an error if the size of a data file has changed since `open`,
  /// because checkpoints would then describe other data than the training
  /// reads. Call after opening the data.
  Status checkData() const;

  /// Returns the checkpoint from which the training resumes; null if it does
  /// not resume.
  const Checkpoint *resumed() const {
    return resumedFrom ? &*resumedFrom : nullptr;
  }
  /// Call if owners of state resume from the checkpoint after `steps` steps. If
  /// `resumed` is a newer checkpoint, which an owner has found damaged,
  /// replaces it by the checkpoint after `steps` steps.
  Status goBackTo(int64_t steps, Scheduler &scheduler);
  /// Closes the files of `resumed`.
  void forgetResumed() { resumedFrom.reset(); }

  /// Returns the part that all manifests of this run have in common, for
  /// servers that save without trainers.
  CheckpointManifest plan() const;
  /// Returns the number of further steps until the next checkpoint that
  /// `options.checkpointSteps` schedules, if `steps` steps are done. It is at
  /// least 1. Returns INT64_MAX if none is scheduled.
  int64_t stepsUntilDue(int64_t steps) const;
  /// Returns true if the save that was started last is of this step and epoch.
  /// It may still run, or have failed (see `forgetLast`). If no save was
  /// started, compares with the resumed checkpoint, or with step 0 of epoch 0.
  bool isSaved(int64_t steps, int64_t epoch) const {
    return latest == std::pair(steps, epoch);
  }
  /// Returns the steps and the epoch with which `isSaved` compares.
  const std::pair<int64_t, int64_t> &lastSaved() const { return latest; }
  /// Records the step and epoch from which all processes resume.
  void noteResumed(int64_t steps, int64_t epoch) {
    latest = {steps, epoch};
    whole = steps;
  }
  /// Waits for the end of the previous save, and starts a save of the current
  /// state and of `progress`. When it is complete, checkpoints that need not be
  /// kept are removed. Training may continue during the save; `model` and `job`
  /// must outlive it. `running` has the accumulators of all replicas, and is
  /// used only during the call. All processes of the job must call this. May
  /// return the error of the previous save.
  Status save(Job &job, Model &model, const RunningEpoch &running,
              TrainingProgress progress);
  /// Marks the checkpoint after `steps` steps as the best one
  /// (`CheckpointFolder::markBest`): at once if it is the last complete one,
  /// otherwise when its save is complete. Do not call during a save of this
  /// step.
  void keepBest(int64_t steps);
  /// Marks the checkpoint after `steps` steps again if it exists, because a
  /// training may have been killed after a save, but before it could mark it.
  void remarkBest(int64_t steps) const;
  /// Returns true if the state after `steps` steps is the best one so far. All
  /// processes get the same result.
  bool isBest(int64_t steps) const { return bestSteps == steps; }
  /// If the save in progress has ended, returns its result, once, as `finish`
  /// does. Otherwise returns success. Does not block.
  Status check();
  /// Waits for the end of the save in progress, if there is one, and returns
  /// its result.
  Status finish();
  /// Returns the number of saves of this run that are complete. Do not call
  /// during a save.
  int64_t completedSaves() const { return metrics.saved.value(); }
  /// Returns the number of steps of the last save that is known to be complete,
  /// or of the resumed checkpoint; 0 if there is neither.
  int64_t wholeSteps() const { return whole; }
  /// Makes `isSaved` return false, because the last save has failed. So the
  /// same step is saved again.
  void forgetLast() { latest = {-1, -1}; }
  /// Makes all further saves write to `options.emergencyCheckpoint`, the next
  /// one as a full checkpoint. Returns an error if the first process cannot own
  /// that folder.
  Status goElsewhere();

private:
  TrainingCheckpoints(const pdl_descriptor &descriptor,
                      const SessionOptions &options)
      : descriptor(descriptor), options(options), root(options.checkpoint) {}
  struct Save;
  Status resume(Scheduler &scheduler);
  CheckpointCheck checkOfResume() const;
  Status take(Checkpoint checkpoint);
  Status addRunning(const RunningEpoch &running,
                    CheckpointWriter &writer) const;
  Status complete(Save &save);
  Status begin(Job &job, Model &model, const RunningEpoch &running,
               TrainingProgress progress);
  SaveScope scopeOf(const std::string &name) const;
  void mark(int64_t steps) const;
  /// Records that the save which was started last is complete.
  void noteWhole();

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// The folder of saves; set in the first process.
  std::optional<CheckpointFolder> folder;
  std::vector<std::pair<std::string, std::string>> settings;
  /// Path of the folder of saves.
  std::string root;
  CheckpointMetrics metrics;
  int64_t whole = 0;
  /// Number of steps of the best checkpoint, which may not be saved yet, or
  /// whose save may have failed. -1: this run has found none.
  int64_t bestSteps = -1;
  std::optional<Checkpoint> resumedFrom;
  /// Steps and epoch of the save that was started last, or of the resumed
  /// checkpoint. Negative if the last save has failed (`forgetLast`).
  std::pair<int64_t, int64_t> latest = {0, 0};
  /// The checkpoint to which the next delta refers: the last complete save, or
  /// the resumed checkpoint.
  struct Previous {
    CheckpointLink link;
    /// Name of this save at owners of state (`saveNameOf`).
    std::string saveName;
    /// Number of deltas since the last full checkpoint, including this one.
    int64_t deltas = 0;
  };
  std::optional<Previous> previous;
  /// Save in progress.
  std::unique_ptr<BackgroundTask> ongoing;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_TRAININGCHECKPOINTS_H
