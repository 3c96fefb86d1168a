//===- TrainingParts.h - Parts that a training consists of ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGPARTS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGPARTS_H

#include "Engine/ProgramRun.h"
#include "Engine/TrainingState.h"
#include "Programs/Trainer/LossLog.h"
#include "Programs/Trainer/MetricLog.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/Programs/Trainer/TrainingCheckpoints.h"

#include <cstdint>

namespace pdlrt {

/// Objects that the classes of a training share. The objects that it refers to
/// must outlive these classes.
struct TrainingParts {
  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  Job &job;
  ReplicaLayout layout;
  /// The program that is trained. Its engine and its reader are created after
  /// this process has joined the job.
  ProgramRun &run;
  TrainingState &state;
  LossLog &losses;
  MetricLog &metricLog;
  /// Null if the training does not save.
  TrainingCheckpoints *checkpoints = nullptr;

  /// Returns the checkpoint from which the training resumes, or null if there
  /// is none.
  const Checkpoint *resumedCheckpoint() const {
    return checkpoints ? checkpoints->resumed() : nullptr;
  }
  /// Returns the number of processes in the job.
  int processes() const {
    return options.distributed ? options.distributed->trainers : 1;
  }
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGPARTS_H
