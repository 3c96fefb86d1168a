//===- TrainCommand.h - The command that trains -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H

#include "Files/LineFile.h"
#include "Job/Bookmark.h"
#include "Programs/Trainer/Agreement.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/SaveSchedule.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Job/Resumption.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Programs/Trainer/Progress.h"
#include "pdlrt/Programs/Trainer/TrainingCheckpoints.h"
#include "pdlrt/State/Placement.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// What processes agree on before a checkpoint and behind an epoch.
struct Meeting {
  /// All have done their last step of the epoch; at the end of their data.
  bool allEnded = false, allOutOfData = false;
  /// Some process wants a checkpoint that no count of steps asks for.
  bool wantsSave = false;
};

/// Trains, alone or with the other processes of its job. One thread at a time.
class TrainCommand final : Command {
public:
  using Command::Command;

  /// With the other processes of the job, if there are others.
  Status run();

private:
  Status checkAlone();
  Status startOwner();
  void endOwner(const Status &outcome);
  Status runJoined();
  Status runTraining();
  RunOptions runOptions() const;
  Status openCheckpoints();
  Status joinOthers();
  Status shareProgress();
  Status comeBack(const Message &note);
  Status begin();
  void leaveBookmark(Bookmark::Place place, const PendingStep *step);
  Bookmark bookmarkHere(Bookmark::Place place) const;
  // Of workers that step by themselves (TrainWorkers.cpp).
  bool workersComeBack() const;
  void noteRoundBegin();
  void noteTaken();
  void leaveWorkerBookmark(int worker, const WorkerMark &mark);
  Status takeWorkerBookmarks();
  Status restoreWorkers(Report &report);
  Status resumeWorkers(RoundSource source);
  void letMemoryGo();
  DataOptions evaluationData() const;
  int64_t firstEpoch() const;
  void warnOfOverlap() const;
  Status prepareEvaluation();
  Status beginEpoch(int64_t epoch, Report &report);
  Status restoreEpoch(const Bookmark &bookmark, Report &report);
  Status beginRounds();
  std::vector<pdlabi::GroupedSamples>
  ownGroups(std::vector<pdlabi::GroupedSamples> all) const;
  Status restoreGroups(std::vector<pdlabi::GroupedSamples> all);
  Expected<std::vector<pdlabi::GroupedSamples>>
  gatherAllGroups(const ReplicaSet &replicas);
  Status withoutData(Status failure);
  Status beginReading(int64_t epoch);
  Expected<std::span<const StepInput>> readTrainingRound();
  Status trainEpoch(int64_t epoch, Report &report);
  std::pair<int64_t, bool> stepsAllowed() const;
  void allowSteps();
  void showProgress(Progress &progress, const Report &report);
  Expected<Meeting> meet(bool ended);
  Status meetAndSave(int64_t epoch, const Report &report, bool isWanted);
  Status awaitOthers(int64_t epoch, const Report &report);
  Status saveCheckpoint(int64_t epoch, const Report &report);
  Status saveInitialState();
  // When, and what fails (TrainSaves.cpp).
  bool wantsSave() const;
  int64_t stepsUntilMeeting() const;
  void planFirstMeeting();
  bool isSaveDue(bool isWanted) const;
  Status tolerate(Status failure);
  Expected<int64_t> shareDecision(int64_t decision);
  Status saveAtLast(int64_t epoch, const Report &report);
  bool isLastEpoch(int64_t epoch) const;
  Status saveEpoch(int64_t epoch, const Report &report);
  Status saveBetweenEpochs(int64_t epoch);
  void noteLosses(const Status &status);
  Status finishSave();
  Status withAdvice(Status status) const;
  Status writeMeasuredCosts();
  Status openLosses();
  void warnIfNothingIsKept() const;
  std::string epochLine(int64_t epoch, int64_t steps,
                        const std::vector<std::string> &lines) const;
  Status withoutTest(int64_t epoch, bool isLast, int64_t steps,
                     const std::vector<std::string> &lines, Status failure);
  Status writeDumps();
  Status reportTraining(const Report &trained, const Report &tested) const;
  /// What the training goes on from; null if it begins.
  const Checkpoint *resumedCheckpoint() const {
    return checkpoints ? checkpoints->resumed() : nullptr;
  }
  /// Whether the newest checkpoint has all that the flags ask for, and no
  /// server of the job is there any more.
  bool jobHasEnded() const;
  /// Steps that this run may still do.
  int64_t stepsLeft() const {
    return options.steps.value_or(std::numeric_limits<int64_t>::max()) -
           totalSteps;
  }
  bool stepsExhausted() const { return stepsLeft() <= 0; }
  /// Epochs of all runs.
  int64_t epochLimit() const {
    return options.epochs.value_or(
        options.steps ? std::numeric_limits<int64_t>::max() : 1);
  }

  const int64_t flagsDigest = digestOfFlags(options);
  std::unique_ptr<TrainingCheckpoints> checkpoints;
  /// With `checkpoints`.
  std::optional<SaveSchedule> schedule;
  /// Of trainers that do not step together: after how many steps they meet to
  /// ask who wants a checkpoint; 0: never.
  int64_t nextMeeting = 0;
  /// Saves in a row that have failed, and why the last one did; whether the
  /// training stops for them. Of the first process.
  int64_t failedSaves = 0, seenSaves = 0;
  Status saveFailure;
  bool isUnsaved = false, hasGivenUp = false;
  /// Until the first epoch begins.
  std::optional<Resumption> resumption;
  /// Of an earlier start of this process, until the request that it came with.
  std::optional<Bookmark> bookmark;
  /// By worker, with `bookmark`, until they are there; of this epoch.
  std::vector<std::optional<WorkerBookmark>> workerBookmarks;
  /// What workers leave, each on its own thread: where rounds begin, by number
  /// modulo its size, and this process when it last took a step.
  struct RoundBegin {
    std::vector<DataPosition> positions;
    int64_t badRows = 0;
  };
  std::mutex workersMutex;
  std::array<RoundBegin, 16> roundBegins;
  /// Where the pass began, with the metrics of all replicas if it is not the
  /// begin of an epoch.
  RoundBegin passBegin;
  MetricSums passMetrics;
  Bookmark lastTaken;
  ProgramRun trainer, tester;
  bool tests = false;
  /// All trainers are there and agree.
  bool hasBegun = false;
  /// What could not be read, in the middle of the training; it ends in order,
  /// and then fails.
  Status dataFailure;
  std::unique_ptr<BatchDump> batchDump;
  LineFile losses;
  /// Its lines for the steps that this run goes on from; none: not known.
  std::optional<int64_t> loggedBefore;
  /// Over all runs; of the samples and skipped updates, those of epochs that
  /// have ended, and those before this run.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0;
  /// The most steps that any process had done when they last met.
  int64_t agreedSteps = 0;
  int64_t stepsInEpoch = 0;
  /// Steps of the running epoch that an earlier run did, and of all runs before
  /// this one took it up.
  int64_t epochStart = 0, stepsBefore = 0;
  /// The epoch that runs, and what it has counted; whether this process read it
  /// from its begin.
  int64_t runningEpoch = 0;
  const Report *runningReport = nullptr;
  bool readsWholeEpoch = false;
  /// Whether this process has no more steps of the running epoch, where it
  /// meets others.
  bool stepsEnded = false;
  /// Whether the epoch that ran last came to the end of the data, for all.
  bool epochEnded = false;
  /// Whether others are told why this start cannot take part.
  bool saysFailure = true;
  /// By the clock, and CPU time of the process.
  double trainSeconds = 0, trainCpuSeconds = 0;
  /// By the clock, until all trainers had done their steps.
  double jobSeconds = 0;
  /// Steps of an earlier start of this process, where it came back.
  int64_t earlierSteps = 0;
  /// The owner in this process; null: none. It reads what this trainer sends
  /// where it lies, so it ends before all that is above.
  std::unique_ptr<const Placement> ownerPlacement;
  std::unique_ptr<StateHost> owner;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAINCOMMAND_H
