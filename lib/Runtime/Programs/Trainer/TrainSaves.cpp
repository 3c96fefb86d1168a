//===- TrainSaves.cpp - When a training saves, and saves that fail --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <thread>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// When
//===----------------------------------------------------------------------===//

/// Whether this process wants a checkpoint that no count of steps asks for.
bool TrainCommand::wantsSave() const {
  return schedule &&
         schedule->isDue(SaveSchedule::Clock::now(), checkpointRequests());
}

/// How many steps this process may do until it meets the others or saves.
int64_t TrainCommand::stepsUntilMeeting() const {
  if (!checkpoints)
    return INT64_MAX;
  const int64_t due = checkpoints->stepsUntilDue(totalSteps);
  return nextMeeting > totalSteps ? std::min(due, nextMeeting - totalSteps)
                                  : due;
}

/// Trainers that do not step together agree on the first step at which they ask
/// each other who wants a checkpoint; each meeting agrees on the next one.
void TrainCommand::planFirstMeeting() {
  if (checkpoints && options.checkpointMinutes &&
      !trainer.engine->sumsOverJob())
    nextMeeting = totalSteps + 1;
}

/// After a step, or a meeting: whether all processes save now.
bool TrainCommand::isSaveDue(bool isWanted) const {
  return checkpoints &&
         (isWanted || checkpoints->stepsUntilDue(agreedSteps - 1) == 1);
}

//===----------------------------------------------------------------------===//
// Saves that fail
//===----------------------------------------------------------------------===//

/// What became of a save. A failure costs nothing but the checkpoint, up to
/// `--max-failed-saves` of them in a row; then the training stops in order.
/// Other processes than the first know of no failure of a save: what they are
/// told is an error of the job.
Status TrainCommand::tolerate(Status failure) {
  if (!checkpoints || job->rank() != 0)
    return failure;
  if (checkpoints->completedSaves() != seenSaves) {
    seenSaves = checkpoints->completedSaves();
    failedSaves = 0;
    isUnsaved = false;
    schedule->noteSuccess();
    if (!hasGivenUp)
      saveFailure = {};
  }
  if (failure.ok())
    return {};
  ++failedSaves;
  isUnsaved = true;
  schedule->noteFailure(SaveSchedule::Clock::now(), failedSaves);
  const bool givesUp = failedSaves > options.maxFailedSaves;
  logWarning(fmt::format(
      "a checkpoint was not saved, the {}. time in a row (--max-failed-saves "
      "{}): {}; {}",
      failedSaves, options.maxFailedSaves, failure.message(),
      givesUp ? "the training stops after the current step"
              : "the training goes on"));
  saveFailure = std::move(failure);
  if (givesUp && !stopSignal()) {
    hasGivenUp = true;
    noteStopSignal(SIGTERM);
  }
  return {};
}

namespace {

/// What the first process tells the others about the last save.
enum LastSave : int64_t { Saved, TryAgain, TryElsewhere, GiveUp };

} // namespace

/// All processes: what the first one has decided.
Expected<int64_t> TrainCommand::shareDecision(int64_t decision) {
  std::vector<int64_t> shared = {job->rank() == 0 ? decision : 0};
  PDLRT_RETURN_IF_ERROR(job->sum(shared, {}));
  return shared[0];
}

/// All processes, after the last step: saves again where the last checkpoint is
/// not saved, first to its own place, then to another one. A process that came
/// back cannot repeat it, so under --on-failure=wait the first failure counts.
Status TrainCommand::saveAtLast(int64_t epoch, const Report &report) {
  if (!checkpoints)
    return {};
  const bool mayTry = !job->mayComeBack();
  constexpr std::chrono::milliseconds longestPause(30'000);
  std::chrono::milliseconds pause(500);
  int64_t tries = hasGivenUp ? options.maxFailedSaves : 0;
  bool isElsewhere = false;
  Status reason;
  while (true) {
    const int64_t own =
        !isUnsaved                                                 ? Saved
        : mayTry && !isElsewhere && tries < options.maxFailedSaves ? TryAgain
        : mayTry && !isElsewhere && !options.emergencyCheckpoint.empty()
            ? TryElsewhere
            : GiveUp;
    const Expected<int64_t> decision =
        mayTry ? shareDecision(own) : Expected<int64_t>(int64_t(own));
    if (!decision)
      return decision.status();
    if (*decision == GiveUp && !mayTry)
      return saveFailure;
    if (*decision == GiveUp && job->rank() != 0)
      saveFailure = Status::invalid("the first trainer could not save the last "
                                    "checkpoint; its error message says why");
    if (*decision == GiveUp || *decision == Saved)
      break;
    if (*decision == TryAgain && job->rank() == 0)
      std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longestPause);
    ++tries;
    checkpoints->forgetLast();
    if (*decision == TryElsewhere) {
      isElsewhere = true;
      reason = saveFailure;
      if (Status opened = tolerate(checkpoints->goElsewhere()); !opened.ok())
        return opened;
    }
    PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
    PDLRT_RETURN_IF_ERROR(tolerate(finishSave()));
  }
  if (job->rank() != 0 && isElsewhere && saveFailure.ok())
    saveFailure = Status::invalid("the last checkpoint is in " +
                                  options.emergencyCheckpoint);
  if (job->rank() != 0 || (saveFailure.ok() && !isElsewhere))
    return {};
  // All else that was asked for is still written, and then the command fails.
  if (isUnsaved)
    saveFailure =
        std::move(saveFailure).withContext("the last checkpoint was not saved");
  else if (!isElsewhere)
    saveFailure = Status::invalid(fmt::format(
        "the training stopped because {} saves in a row had failed, the last "
        "one with: {}; the checkpoint of its end was saved, go on with "
        "--resume",
        options.maxFailedSaves + 1, saveFailure.message()));
  else
    saveFailure = Status::invalid(fmt::format(
        "the last checkpoint could not be saved to {} ({}) and is in {}; go on "
        "from there, with --checkpoint {} --resume",
        options.checkpoint, reason.message(), options.emergencyCheckpoint,
        options.emergencyCheckpoint));
  return {};
}

/// Whether no epoch follows this one, which has ended or was stopped.
bool TrainCommand::isLastEpoch(int64_t epoch) const {
  return stopping || epoch + 1 >= epochLimit() ||
         (options.steps && agreedSteps >= *options.steps);
}

/// After an epoch, or the part of it that was trained.
Status TrainCommand::saveEpoch(int64_t epoch, const Report &report) {
  const bool isLast = isLastEpoch(epoch);
  if (options.checkpointAtEnd && epochEnded && !isLast)
    return {};
  PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
  if (options.distributed || isLast)
    PDLRT_RETURN_IF_ERROR(tolerate(finishSave()));
  return isLast ? saveAtLast(epoch, report) : Status();
}

/// After an epoch that no other one follows, though it seemed so: what is not
/// saved yet.
Status TrainCommand::saveBetweenEpochs(int64_t epoch) {
  if (!checkpoints)
    return {};
  epochEnded = true;
  Report none;
  none.steps = epochStart = 0;
  if (options.checkpointAtEnd)
    PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, none));
  PDLRT_RETURN_IF_ERROR(tolerate(finishSave()));
  return saveAtLast(epoch, none);
}

//===----------------------------------------------------------------------===//
// Side outputs
//===----------------------------------------------------------------------===//

/// A log of losses that cannot be written costs the log, not the training.
void TrainCommand::noteLosses(const Status &status) {
  if (status.ok())
    return;
  logWarning(status.message() + "; the training goes on without --log-losses");
  // The error is known.
  static_cast<void>(losses.close());
}
