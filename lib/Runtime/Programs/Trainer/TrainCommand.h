//===- TrainCommand.h - Command that trains ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H

#include "Engine/ProgramRun.h"
#include "Engine/TrainingState.h"
#include "Job/SaveSchedule.h"
#include "Programs/Trainer/Agreement.h"
#include "Programs/Trainer/CheckpointSession.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/EpochLoop.h"
#include "Programs/Trainer/EpochStart.h"
#include "Programs/Trainer/LossLog.h"
#include "Programs/Trainer/MetricLog.h"
#include "Programs/Trainer/ResumptionPlan.h"
#include "Programs/Trainer/TrainerOwner.h"
#include "Programs/Trainer/TrainingEvaluations.h"
#include "Programs/Trainer/TrainingLimits.h"
#include "Programs/Trainer/TrainingParts.h"
#include "Programs/Trainer/TrainingReader.h"
#include "Recovery/Recovery.h"
#include "pdlrt/Core/Readiness.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Programs/Trainer/TrainingCheckpoints.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Returns an error if flags of `train` do not fit each other, or do not fit
/// the program.
Status checkTrainingFlags(const pdl_descriptor &descriptor,
                          const SessionOptions &options);

/// Trains a model, alone or as one process of a job. Creates the objects of the
/// training and connects them. Only one thread may use it.
class TrainCommand final : Command {
public:
  TrainCommand(const pdl_descriptor &descriptor, const SessionOptions &options)
      : Command(descriptor, options), owner(descriptor, options) {
    starting.set("starting: no step of this process has begun");
  }

  /// Runs the training. If there is a job, runs it together with the other
  /// processes.
  Status run();

private:
  // Called before the process joins its job.
  Status checkAlone();
  Status openCheckpoints();
  Status startOwner();
  bool jobHasEnded() const;
  RunOptions runOptions() const;
  Status joinOthers();
  // Called while the process is a member of the job.
  TrainingParts parts();
  RecoveryParts recoveryParts();
  OutputProgress flushOutputs();
  Status runJoined();
  Status begin();
  Status prepare();
  int64_t firstEpoch() const;
  Status openLosses();
  void openEvaluations();
  Expected<bool> evaluateTest(PassReport &report);
  void noteTestWithinEpoch(int64_t steps, const PassReport &report);
  void logTest(const MetricLog::Point &point, const PassReport &report);
  bool isLast(int64_t epoch) const;
  Status evaluateResumed();
  void warnIfNoneIsMarked() const;
  std::string describeNothingLeft() const;
  Status openMetricLog();
  Status trainEpochs();
  void reportEpoch(int64_t epoch, const std::vector<std::string> &lines);
  Status test(int64_t epoch, std::vector<std::string> &lines);
  Status withoutTest(int64_t epoch, bool isLast,
                     const std::vector<std::string> &lines, Status failure);
  Status runTraining();
  Status writeDumps();
  Status writeMeasuredCosts();
  // Called when the process leaves the job.
  Status leave(Status status);
  void letMemoryGo();
  Status withAdvice(Status status) const;
  /// Returns the checkpoint from which the training resumes, or null.
  const Checkpoint *resumedCheckpoint() const {
    return checkpoints ? checkpoints->resumed() : nullptr;
  }

  const TrainingLimits limits{options};
  const int64_t flagsDigest = digestOfFlags(options);
  std::unique_ptr<TrainingCheckpoints> checkpoints;
  /// Set together with `checkpoints`.
  std::optional<SaveSchedule> schedule;
  TrainingState state;
  LossLog losses;
  MetricLog metricLog;
  std::unique_ptr<BatchDump> batchDump;
  /// True if all trainers have joined and agree.
  bool hasBegun = false;
  /// Reason why this process is not ready before its first step.
  Readiness::Reason starting{processReadiness()};
  /// Results of the last epoch, and of the test after it.
  PassReport trained, tested;
  /// Steps before the last test within an epoch; 0: none.
  int64_t loggedTestSteps = 0;
  // Set after the process has joined the job.
  std::optional<Recovery> recovery;
  std::optional<ResumptionPlan> plan;
  // Set after the model has been created.
  std::optional<TrainingReader> reader;
  std::optional<CheckpointSession> saves;
  std::optional<TrainingEvaluations> evaluations;
  std::optional<EpochStart> epochStart;
  std::optional<EpochLoop> loop;
  ProgramRun trainer, tester;
  /// Destroyed first, because it reads data of the other members without a
  /// copy.
  TrainerOwner owner;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H
