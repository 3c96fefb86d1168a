//===- TrainingCheckpoints.h - Saving and resuming a training ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_TRAININGCHECKPOINTS_H
#define PDLRT_TRAINER_TRAININGCHECKPOINTS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Trainer/Model.h"
#include "pdlrt/Trainer/ReplicaSet.h"
#include "pdlrt/Trainer/Report.h"
#include "pdlrt/Trainer/Session.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// The checkpoints that one run writes, and the one that it goes on from. Not
/// thread-safe.
class TrainingCheckpoints {
public:
  /// Takes hold of `options.checkpoint`, and, with `options.resume`, finds the
  /// newest whole checkpoint there. Fails if it is another model's, if it was
  /// written with other flags than a running epoch can go on with, or if there
  /// are checkpoints and none is to be resumed.
  static Expected<std::unique_ptr<TrainingCheckpoints>>
  open(const pdl_descriptor &descriptor, const SessionOptions &options);

  /// What to go on from; null if the training begins.
  const Checkpoint *resumed() const {
    return resumedFrom ? &*resumedFrom : nullptr;
  }
  /// Lets go of the files of `resumed`.
  void forgetResumed() { resumedFrom.reset(); }

  /// True after each `options.checkpointSteps` steps.
  bool isDue(int64_t steps) const;
  /// Writes what `progress` says, unless that is what was written or resumed
  /// last; removes checkpoints that are older than those to keep. `report`: of
  /// the running epoch.
  Status save(const Model &model, ReplicaSet &set, const Report &report,
              TrainingProgress progress);

private:
  TrainingCheckpoints(const pdl_descriptor &descriptor,
                      const SessionOptions &options, CheckpointFolder folder)
      : descriptor(descriptor), options(options), folder(std::move(folder)) {}
  Status resume();

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  CheckpointFolder folder;
  std::vector<std::pair<std::string, std::string>> settings;
  std::optional<Checkpoint> resumedFrom;
  /// Steps and epoch of the last checkpoint that was written or resumed.
  std::pair<int64_t, int64_t> latest = {0, 0};
};

} // namespace pdlrt

#endif // PDLRT_TRAINER_TRAININGCHECKPOINTS_H
