//===- CheckpointSession.cpp - Saves of a training ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/CheckpointSession.h"

#include "Programs/Trainer/SavedProgress.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <limits>
#include <utility>

using namespace pdlrt;

CheckpointSession::CheckpointSession(const TrainingParts &parts, Model &model,
                                     const SaveSchedule &schedule)
    : parts(parts), model(model), schedule(schedule),
      failures(parts.options.maxFailedSaves, this->schedule) {}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

bool CheckpointSession::isWanted() const {
  return parts.checkpoints &&
         (schedule.isDue(SaveSchedule::Clock::now(), checkpointRequests()) ||
          hasCrossedEventTime(parts.run.engine->sumsOverJob() ? 1 : 0));
}

/// Returns true if the event time of this process, `ahead` steps after those
/// that it has done, is in a later interval than that of the last checkpoint.
bool CheckpointSession::hasCrossedEventTime(int64_t ahead) const {
  const std::optional<int64_t> &interval = parts.options.checkpointEventTime;
  const TrainingState &state = parts.state;
  if (!interval || !state.position.report)
    return false;
  const int64_t steps = state.position.stepsHere(*state.position.report);
  const int64_t time = eventTimeOf(parts.run.positionsAfter(steps + ahead));
  return time / *interval > state.savedEventTime / *interval;
}

int64_t CheckpointSession::stepsUntilMeeting() const {
  if (!parts.checkpoints)
    return std::numeric_limits<int64_t>::max();
  const int64_t steps = parts.state.totalSteps;
  const int64_t due = parts.checkpoints->stepsUntilDue(steps);
  return nextMeeting > steps ? std::min(due, nextMeeting - steps) : due;
}

void CheckpointSession::planFirstMeeting() {
  const SessionOptions &options = parts.options;
  if (parts.checkpoints &&
      (options.checkpointMinutes || options.checkpointEventTime) &&
      !parts.run.engine->sumsOverJob())
    nextMeeting = parts.state.totalSteps + 1;
}

int64_t CheckpointSession::proposeMeeting(bool hasEnded) {
  // The first process decides for all.
  if (nextMeeting == 0 || parts.job.rank() != 0)
    return 0;
  return hasEnded ? schedule.lastPlanned()
                  : schedule.planMeeting(SaveSchedule::Clock::now(),
                                         parts.state.totalSteps);
}

void CheckpointSession::noteMeeting(int64_t steps) {
  if (nextMeeting > 0)
    nextMeeting = parts.state.agreedSteps + steps;
}

bool CheckpointSession::isMeetingDue(bool isWanted) const {
  const int64_t steps = parts.state.totalSteps;
  return parts.checkpoints &&
         (isWanted || isEventTimeDue() || steps == nextMeeting ||
          parts.checkpoints->stepsUntilDue(steps - 1) == 1);
}

bool CheckpointSession::isSaveDue(bool isWanted) const {
  return parts.checkpoints &&
         (isWanted || isEventTimeDue() ||
          parts.checkpoints->stepsUntilDue(parts.state.agreedSteps - 1) == 1);
}

//===----------------------------------------------------------------------===//
// Saves
//===----------------------------------------------------------------------===//

Status CheckpointSession::check() {
  return parts.checkpoints ? tolerate(parts.checkpoints->check()) : Status();
}

Status CheckpointSession::finish() {
  return parts.checkpoints ? tolerate(parts.checkpoints->finish()) : Status();
}

Status CheckpointSession::save(int64_t epoch, const PassReport &report) {
  if (!parts.checkpoints)
    return {};
  TrainingProgress progress;
  progress.steps = parts.state.agreedSteps;
  progress.epoch = parts.state.position.hasEnded ? epoch + 1 : epoch;
  progress.lossLines = parts.losses.lines().value_or(0);
  progress.evaluations = parts.state.evaluations;
  if (parts.checkpoints->isSaved(progress.steps, progress.epoch))
    return {};
  // Writes the losses of all steps that the checkpoint includes, because a run
  // that resumes from it appends to this file.
  parts.losses.flush();
  schedule.noteSave(SaveSchedule::Clock::now(), checkpointRequests());
  // Waits for the previous save first. So two saves that fail count as two
  // failures.
  PDLRT_RETURN_IF_ERROR(finish());
  Expected<SavedProgress> saved =
      gatherProgressToSave(parts, std::move(progress), report);
  if (!saved)
    return saved.status();
  // All processes have the positions of all trainers, so they agree.
  parts.state.savedEventTime = std::max(parts.state.savedEventTime,
                                        eventTimeOf(saved->progress.positions));
  return tolerate(startSave(parts, model, std::move(*saved)));
}

Status CheckpointSession::keepBest() {
  if (!parts.checkpoints)
    return {};
  const int64_t steps = parts.state.agreedSteps;
  if (parts.checkpoints->lastSaved().first == steps)
    PDLRT_RETURN_IF_ERROR(finish());
  parts.checkpoints->keepBest(steps);
  return {};
}

Status CheckpointSession::saveInitialState() {
  if (!parts.checkpoints)
    return {};
  PDLRT_RETURN_IF_ERROR(parts.checkpoints->save(
      parts.job, model, RunningEpoch(), TrainingProgress()));
  // Returns errors instead of tolerating them: nothing was trained, so nothing
  // is lost.
  return parts.checkpoints->finish();
}

Status CheckpointSession::saveEpoch(int64_t epoch, const PassReport &report,
                                    bool isLast) {
  if (isLast)
    failures.noteTrained();
  // Also saves if the checkpoint of this step exists, because only the first
  // process knows whether its save has failed.
  const bool isBest =
      parts.checkpoints && parts.checkpoints->isBest(parts.state.agreedSteps);
  if (parts.options.checkpointAtEnd && parts.state.position.hasEnded &&
      !isLast && !isBest)
    return {};
  PDLRT_RETURN_IF_ERROR(save(epoch, report));
  if (parts.options.distributed || isLast)
    PDLRT_RETURN_IF_ERROR(finish());
  return isLast ? saveAtLast(epoch, report) : Status();
}

Status CheckpointSession::saveBetweenEpochs(int64_t epoch) {
  if (!parts.checkpoints)
    return {};
  failures.noteTrained();
  parts.state.position.hasEnded = true;
  parts.state.position.stepsBefore = 0;
  const PassReport none;
  if (parts.options.checkpointAtEnd)
    PDLRT_RETURN_IF_ERROR(save(epoch, none));
  PDLRT_RETURN_IF_ERROR(finish());
  return saveAtLast(epoch, none);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Handles the result of a save. In the first process, a failure is only
/// counted, and after too many failures a graceful shutdown is requested. In
/// other processes, returns `failure`.
Status CheckpointSession::tolerate(Status failure) {
  if (!parts.checkpoints || parts.job.rank() != 0)
    return failure;
  const bool mustStop =
      failures.note(std::move(failure), parts.checkpoints->completedSaves(),
                    SaveSchedule::Clock::now());
  if (mustStop && !stopSignal()) {
    failures.giveUp();
    noteStopSignal(SIGTERM);
  }
  return {};
}

/// Returns a text about the steps that are lost because the last checkpoint was
/// not saved.
std::string CheckpointSession::whatIsLost() const {
  const int64_t kept = parts.checkpoints->wholeSteps();
  std::string steps =
      kept > 0 ? fmt::format("the steps after step {}", kept)
               : fmt::format("all {} steps", parts.state.agreedSteps);
  return parts.options.dump.empty()
             ? "lost: " + steps
             : steps + " are only in " + parts.options.dump;
}

Status CheckpointSession::retry(bool elsewhere) {
  parts.checkpoints->forgetLast();
  if (elsewhere) {
    failureHere = failures.failure();
    PDLRT_RETURN_IF_ERROR(tolerate(parts.checkpoints->goElsewhere()));
  }
  PDLRT_RETURN_IF_ERROR(save(lastEpoch, *lastReport));
  return finish();
}

/// Returns the failure of the first process after the last save, for a user.
Status CheckpointSession::failureAtLast(bool isElsewhere) const {
  const SessionOptions &options = parts.options;
  const Status &last = failures.failure();
  if (failures.isUnsaved())
    return {last.code(),
            fmt::format("the last checkpoint was not saved: {}; {}",
                        last.message(), whatIsLost())};
  if (!isElsewhere)
    return {last.code(),
            fmt::format("the training stopped because {} consecutive saves had "
                        "failed, the last one with: {}; the checkpoint of its "
                        "end was saved, go on with --resume",
                        options.maxFailedSaves + 1, last.message())};
  // Starting the same command again would train the saved steps once more.
  return Status::failedPrecondition(fmt::format(
      "the last checkpoint could not be saved to {} ({}) and is in {}; go on "
      "from there, with --checkpoint {} --resume",
      options.checkpoint, failureHere.message(), options.emergencyCheckpoint,
      options.emergencyCheckpoint));
}

/// Repeats the save after the last step if it has failed. All processes must
/// call this.
Status CheckpointSession::saveAtLast(int64_t epoch, const PassReport &report) {
  if (!parts.checkpoints)
    return {};
  lastEpoch = epoch;
  lastReport = &report;
  const bool hasStopped = failures.hasGivenUp();
  const LastSave::Rules rules = {
      .mayRetry = !parts.job.recovery(),
      .maxRetries = hasStopped ? 0 : parts.options.maxFailedSaves,
      .hasElsewhere = !parts.options.emergencyCheckpoint.empty(),
      .isHurried = !hasStopped && parts.state.dataFailure.ok(),
  };
  const Expected<LastSave::Outcome> outcome =
      LastSave(parts.job, *this, processEnvironment()).run(rules);
  if (!outcome)
    return outcome.status();
  if (outcome->hasGivenUp && !rules.mayRetry)
    return failures.failure();
  const bool first = parts.job.rank() == 0;
  const Status &failure = failures.failure();
  if (!first && outcome->hasGivenUp)
    failures.replaceFailure(
        Status::ioError("the first trainer could not save the last "
                        "checkpoint; its error message says why"));
  if (!first && outcome->isElsewhere && failure.ok())
    failures.replaceFailure(Status::failedPrecondition(
        "the last checkpoint is in " + parts.options.emergencyCheckpoint));
  // All other outputs are still written; then the command fails.
  if (first && (!failure.ok() || outcome->isElsewhere))
    failures.replaceFailure(failureAtLast(outcome->isElsewhere));
  return {};
}
