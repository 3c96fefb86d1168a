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

/// Returns the flags that decide which samples the batches of an epoch contain,
/// with their values as text.
std::vector<std::pair<std::string, std::string>>
dataSettings(const SessionOptions &options);

/// Return files by names and sizes, and rows, as text for messages and
/// settings.
std::string filesText(const std::vector<std::string> &paths);
std::string rowsText(const RowRange &rows);

/// Checkpoints that one run writes, and the one that it resumes from. Not
/// thread-safe.
class TrainingCheckpoints {
public:
  /// Opens the folder `options.checkpoint`. With `options.resume`, finds the
  /// newest whole checkpoint in it. Returns an error if that belongs to another
  /// model, or if it was written with flags that do not fit the running epoch.
  /// `first` is true in the first process of a job, which locks the folder, if
  /// necessary later in `takeFolder`. Threads of `scheduler` read the files.
  static Expected<std::unique_ptr<TrainingCheckpoints>>
  open(const pdl_descriptor &descriptor, const SessionOptions &options,
       bool first, Scheduler &scheduler);

  /// Takes over the lock of the folder from a previous incarnation of this
  /// process, which servers no longer admit. Call after the join. Returns an
  /// error if a process of another job has the lock.
  Status takeFolder(const Job &job);
  /// Returns an error if the folder has checkpoints but a training that starts
  /// does not resume.
  Status checkFolder() const;

  /// Returns an error if the size of a data file has changed since `open`.
  /// Otherwise checkpoints would describe other data than were read. Call after
  /// opening the data.
  Status checkData() const;

  /// Returns the checkpoint to resume from; null if the training starts.
  const Checkpoint *resumed() const {
    return resumedFrom ? &*resumedFrom : nullptr;
  }
  /// Called if owners of state resume from the checkpoint of `steps`. If
  /// `resumed` is a newer one, which they found damaged, uses the older one
  /// instead.
  Status goBackTo(int64_t steps, Scheduler &scheduler);
  /// Closes the files of `resumed`.
  void forgetResumed() { resumedFrom.reset(); }

  /// Returns the common part of this run's manifests, for servers that save
  /// without trainers.
  CheckpointManifest plan() const;
  /// Returns the number of steps until the next checkpoint, after `steps`
  /// steps. There is one after every `options.checkpointSteps` steps.
  int64_t stepsUntilDue(int64_t steps) const;
  /// Returns true if the last written or resumed checkpoint has this progress.
  bool isSaved(int64_t steps, int64_t epoch) const {
    return latest == std::pair(steps, epoch);
  }
  /// Returns steps and epoch of the checkpoint that was written or resumed
  /// last.
  const std::pair<int64_t, int64_t> &lastSaved() const { return latest; }
  /// Records the progress that all processes resume from.
  void noteResumed(int64_t steps, int64_t epoch) {
    latest = {steps, epoch};
    whole = steps;
  }
  /// Starts a save of the current state and of `progress`, after the previous
  /// save has ended, and removes checkpoints that need not be kept. All
  /// processes of the job must call this. `running` has the state of all
  /// replicas; it is used only during the call. Training may continue while the
  /// save runs; `model` and `job` must outlive the save. The error may be that
  /// of the previous save.
  Status save(Job &job, Model &model, const RunningEpoch &running,
              TrainingProgress progress);
  /// Returns the error of the running save if it has failed. Does not block.
  Status check();
  /// Waits for the end of the running save, if there is one.
  Status finish();
  /// Returns the number of completed saves of this run. Do not call during a
  /// save.
  int64_t completedSaves() const { return metrics.saved.value(); }
  /// Returns the steps of the last save that is known to be complete, or of the
  /// resumed checkpoint; 0 if there is none.
  int64_t wholeSteps() const { return whole; }
  /// Forgets the progress of the last save, which is not complete, so that the
  /// same steps are saved again.
  void forgetLast() { latest = {-1, -1}; }
  /// Redirects all further saves to `options.emergencyCheckpoint`.
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
  /// Records that the save that started last is complete.
  void noteWhole() {
    metrics.count({});
    whole = latest.first;
  }

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// Set in the first process.
  std::optional<CheckpointFolder> folder;
  std::vector<std::pair<std::string, std::string>> settings;
  /// Folder of the saves.
  std::string root;
  CheckpointMetrics metrics;
  int64_t whole = 0;
  std::optional<Checkpoint> resumedFrom;
  /// Steps and epoch of the checkpoint that was written or resumed last.
  std::pair<int64_t, int64_t> latest = {0, 0};
  /// Base of the next delta: the last completed save, or the resumed
  /// checkpoint.
  struct Previous {
    CheckpointLink link;
    /// Its name at owners of state.
    std::string saveName;
    /// Number of deltas from a whole checkpoint to this one.
    int64_t deltas = 0;
  };
  std::optional<Previous> previous;
  /// Save in progress.
  std::unique_ptr<BackgroundTask> ongoing;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_TRAININGCHECKPOINTS_H
