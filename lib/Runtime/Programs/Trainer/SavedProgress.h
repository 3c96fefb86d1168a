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

/// Progress of all processes, in the form in which a checkpoint contains it.
struct SavedProgress {
  TrainingProgress progress;
  RunningEpoch running;
  /// True if this process has all samples of group metrics. They may be large,
  /// so the save uses them without a copy.
  bool lendsGroups = false;
};

/// Gathers the progress of all processes. All processes must call this.
/// `begun`: contains the step, the epoch and the lines of the loss log.
/// `report`: counts of this process in the running epoch, which are not in the
/// totals of the training yet.
Expected<SavedProgress> gatherProgressToSave(const TrainingParts &parts,
                                             TrainingProgress begun,
                                             const PassReport &report);

/// Starts to save the progress and the model. All processes must call this. May
/// return the error of the previous save.
Status startSave(const TrainingParts &parts, Model &model, SavedProgress saved);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_SAVEDPROGRESS_H
