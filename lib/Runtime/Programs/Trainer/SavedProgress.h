//===- SavedProgress.h - Progress in a checkpoint of a training -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_SAVEDPROGRESS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_SAVEDPROGRESS_H

#include "Programs/Trainer/TrainingParts.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/State/Model.h"

namespace pdlrt {

/// Progress of all processes, as a checkpoint contains it.
struct SavedProgress {
  TrainingProgress progress;
  RunningEpoch running;
  /// True if the samples of group metrics are in this process alone. They may
  /// be large, so they are lent to the save and not copied.
  bool lendsGroups = false;
};

/// Gathers the progress from all processes, which must all call this. `begun`
/// has the step, the epoch and the lines of the loss log. `report` has the
/// counts of this process that are not in the totals yet.
Expected<SavedProgress> gatherProgressToSave(const TrainingParts &parts,
                                             TrainingProgress begun,
                                             const PassReport &report);

/// Starts a save of the progress and of the model. All processes must call
/// this. The error may be that of the previous save.
Status startSave(const TrainingParts &parts, Model &model, SavedProgress saved);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SAVEDPROGRESS_H
