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

/// The flags that decide which samples the batches of an epoch hold, each with
/// its value as a text.
std::vector<std::pair<std::string, std::string>>
dataSettings(const SessionOptions &options);

/// Files by names and sizes, and rows, as sentences and settings say them.
std::string filesText(const std::vector<std::string> &paths);
std::string rowsText(const RowRange &rows);

/// The checkpoints that one run writes, and the one that it goes on from. Not
/// thread-safe.
class TrainingCheckpoints {
public:
  /// With `options.resume`, finds the newest whole checkpoint in
  /// `options.checkpoint`. Fails if it is another model's, or if it was written
  /// with other flags than a running epoch can go on with. `first`: the first
  /// process of a job takes hold of the folder, if need be with `takeFolder`.
  /// The threads of `scheduler` read.
  static Expected<std::unique_ptr<TrainingCheckpoints>>
  open(const pdl_descriptor &descriptor, const SessionOptions &options,
       bool first, Scheduler &scheduler);

  /// After the join: takes the folder over where an earlier start of this
  /// process holds it, which servers let in no more. Fails if a process of
  /// another job does.
  Status takeFolder(const Job &job);
  /// For a training that begins: an error if there are checkpoints, and none is
  /// to be resumed.
  Status checkFolder() const;

  /// Once the data are open: an error where a file has another size than when
  /// this was opened. Checkpoints would tell of other data than were read.
  Status checkData() const;

  /// What to go on from; null if the training begins.
  const Checkpoint *resumed() const {
    return resumedFrom ? &*resumedFrom : nullptr;
  }
  /// Owners of state go on from the checkpoint of `steps`: where `resumed` is a
  /// newer one, which they have found damaged, takes that one instead.
  Status goBackTo(int64_t steps, Scheduler &scheduler);
  /// Lets go of the files of `resumed`.
  void forgetResumed() { resumedFrom.reset(); }

  /// After `steps` steps: how many more until the next checkpoint, one after
  /// each `options.checkpointSteps`.
  int64_t stepsUntilDue(int64_t steps) const;
  /// Whether that was written or resumed last.
  bool isSaved(int64_t steps, int64_t epoch) const {
    return latest == std::pair(steps, epoch);
  }
  /// Steps and epoch of what was written or resumed last.
  const std::pair<int64_t, int64_t> &lastSaved() const { return latest; }
  /// Says where all processes go on from.
  void noteResumed(int64_t steps, int64_t epoch) { latest = {steps, epoch}; }
  /// All processes of the job: begins to write what `progress` says, of the
  /// state as it is now, behind the end of the save before; removes checkpoints
  /// that are older than those to keep. `running`: of all replicas; only until
  /// this returns. The training may go on meanwhile; the model and the job
  /// outlive the save. The error may be that of the save before.
  Status save(Job &job, Model &model, const RunningEpoch &running,
              TrainingProgress progress);
  /// Of the save that goes on, without waiting: its error where it has failed.
  Status check();
  /// Waits for the end of the save that goes on, if one does.
  Status finish();
  /// How many saves of this run are whole. Not of one that goes on.
  int64_t completedSaves() const { return completed; }
  /// The last save is not whole, so the same steps are saved once more.
  void forgetLast() { latest = {-1, -1}; }
  /// From now on saves go to `options.emergencyCheckpoint`.
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

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// Of the first process.
  std::optional<CheckpointFolder> folder;
  std::vector<std::pair<std::string, std::string>> settings;
  /// The folder that is saved to.
  std::string root;
  int64_t completed = 0;
  std::optional<Checkpoint> resumedFrom;
  /// Steps and epoch of the last checkpoint that was written or resumed.
  std::pair<int64_t, int64_t> latest = {0, 0};
  /// What a delta may follow: the last save that is whole, or what was resumed.
  struct Previous {
    CheckpointLink link;
    /// What owners of state call it.
    std::string saveName;
    /// How many deltas lead to it from a whole one.
    int64_t deltas = 0;
  };
  std::optional<Previous> previous;
  /// The save that goes on.
  std::unique_ptr<BackgroundTask> ongoing;
};

} // namespace pdlrt

#endif // PDLRT_PROGRAMS_TRAINER_TRAININGCHECKPOINTS_H
