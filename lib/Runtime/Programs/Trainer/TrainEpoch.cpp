//===- TrainEpoch.cpp - The steps of an epoch -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Stopwatch.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <optional>
#include <utility>

using namespace pdlrt;

/// Data that cannot be read end a training that has begun as a signal does:
/// after the current step, with all that was trained saved. Others may yet be
/// writing the checkpoint of the epoch before. Returns what ends it at once.
Status TrainCommand::withoutData(Status failure) {
  const bool hasTrained = trainer.rounds > 0 || totalSteps > resumedSteps;
  if (!hasTrained || failure.code() == PDL_OUT_OF_MEMORY)
    return failure;
  dataFailure = std::move(failure);
  noteStopSignal(SIGTERM);
  return {};
}

Status TrainCommand::beginReading(int64_t epoch) {
  Status status = trainer.reader->beginEpoch(epoch);
  return status.ok() ? Status() : withoutData(std::move(status));
}

/// Reads a round of the running epoch, and keeps it if asked to.
Expected<std::span<const StepInput>> TrainCommand::readTrainingRound() {
  // The epoch could not be begun: this process has no data left.
  if (!dataFailure.ok())
    return std::span<const StepInput>();
  Expected<std::span<const StepInput>> inputs = trainer.readRound();
  noteRoundBegin();
  if (!inputs) {
    PDLRT_RETURN_IF_ERROR(withoutData(inputs.status()));
    return std::span<const StepInput>();
  }
  if (!batchDump)
    return inputs;
  for (size_t r = 0; r < inputs->size(); ++r)
    if ((*inputs)[r].samples > 0)
      PDLRT_RETURN_IF_ERROR(batchDump->add(
          trainer.reader->batch(int(r)), stepsBefore + trainer.rounds - 1,
          int(r) / options.workers, int(r) % options.workers));
  return inputs;
}

/// How many steps the engine may do up to where this process looks at the
/// state, and whether none follow these.
std::pair<int64_t, bool> TrainCommand::stepsAllowed() const {
  const int64_t left = stepsLeft();
  const int64_t due = stepsUntilMeeting();
  return {std::min(left, due), due >= left};
}

void TrainCommand::allowSteps() {
  const auto [steps, last] = stepsAllowed();
  trainer.engine->goAhead(steps, last);
}

void TrainCommand::showProgress(Progress &progress, const Report &report) {
  int64_t expected = stepsInEpoch;
  if (options.steps) {
    const int64_t left = *options.steps - totalSteps + report.steps;
    expected = expected ? std::min(expected, left) : left;
  }
  trainer.engine->rest();
  rangeWarnings.check(trainer.engine->replicas());
  progress.show({report.samples, report.steps, expected, report.meanLoss(),
                 firstAuc(descriptor, trainer.engine->replicas())});
}

/// Trainers of mode async come to a checkpoint, or to the end of an epoch, by
/// themselves. `ended`: this one has done its last step.
Expected<Meeting> TrainCommand::meet(bool ended) {
  agreedSteps = totalSteps;
  if (trainer.engine->sumsOverJob())
    return Meeting{ended, epochEnded, false};
  stepsEnded = ended;
  // Where steps leave bookmarks, those of the last ones are near enough.
  if (workersComeBack() || (job->mayComeBack() && ended))
    leaveBookmark(Bookmark::Place::Meets, nullptr);
  // Who is not out of data has as many steps as any.
  const ReplicaLayout own = layout();
  int64_t plan = 0;
  if (nextMeeting > 0 && job->rank() == 0)
    plan = ended
               ? schedule->lastPlanned()
               : schedule->planMeeting(SaveSchedule::Clock::now(), totalSteps);
  std::vector<int64_t> counts = {1, ended, epochEnded, wantsSave(), plan};
  const size_t stepsBegin = counts.size();
  counts.resize(stepsBegin + own.groups);
  counts[stepsBegin + own.firstGroup] = totalSteps;
  PDLRT_RETURN_IF_ERROR(job->sum(counts, {}));
  agreedSteps =
      *std::max_element(counts.begin() + int64_t(stepsBegin), counts.end());
  if (nextMeeting > 0)
    nextMeeting = agreedSteps + counts[4];
  return Meeting{counts[1] == counts[0], counts[2] == counts[0], counts[3] > 0};
}

/// Meets the others, and saves where that is due or somebody wants it.
Status TrainCommand::meetAndSave(int64_t epoch, const Report &report,
                                 bool isWanted) {
  const Expected<Meeting> meeting = meet(/*ended=*/false);
  if (!meeting)
    return meeting.status();
  return isSaveDue(isWanted || meeting->wantsSave)
             ? saveCheckpoint(epoch, report)
             : Status();
}

/// Behind an epoch: takes part in the checkpoints of those that are not yet
/// there.

Status TrainCommand::awaitOthers(int64_t epoch, const Report &report) {
  const bool outOfData = epochEnded;
  while (true) {
    Expected<Meeting> meeting = meet(/*ended=*/true);
    if (!meeting)
      return meeting.status();
    epochEnded = meeting->allEnded && meeting->allOutOfData;
    if (meeting->allEnded)
      return {};
    if (isSaveDue(meeting->wantsSave))
      PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
    epochEnded = outOfData;
  }
}

Status TrainCommand::beginRounds() {
  StepEngine &engine = *trainer.engine;
  if (job->mayComeBack())
    engine.beforeRounds([this](const PendingStep *step) {
      leaveBookmark(step ? Bookmark::Place::Step : Bookmark::Place::EpochBegins,
                    step);
    });
  RoundSource source = [this] { return readTrainingRound(); };
  noteRoundBegin();
  noteTaken();
  if (workersComeBack())
    engine.beforeRequests([this](int worker, const WorkerMark &mark) {
      leaveWorkerBookmark(worker, mark);
    });
  if (!workerBookmarks.empty())
    return resumeWorkers(std::move(source));
  return bookmark && bookmark->place == Bookmark::Place::Step
             ? engine.resume(source, bookmark->step)
             : engine.begin(std::move(source));
}

Status TrainCommand::trainEpoch(int64_t epoch, Report &report) {
  StepEngine &engine = *trainer.engine;
  std::string label = fmt::format("epoch {}", epoch + 1);
  if (options.epochs)
    label += fmt::format("/{}", *options.epochs);
  Progress progress(label, terminal);
  epochEnded = false;
  PDLRT_RETURN_IF_ERROR(beginEpoch(epoch, report));
  const SteadyClock::time_point start = SteadyClock::now();
  const double cpuBefore = processCpuSeconds();
  runningEpoch = epoch;
  runningReport = &report;
  epochStart = report.steps;
  stepsBefore = totalSteps;
  stepsEnded = false;
  using Place = Bookmark::Place;
  const Bookmark *const mark = bookmark ? &*bookmark : nullptr;
  const auto wasAt = [mark](Place place) {
    return mark && mark->place == place;
  };
  const bool hasEnded = wasAt(Place::EpochEnds);
  const bool trains = !hasEnded && !(wasAt(Place::Meets) && mark->stepsEnded);
  const bool meets = trains && wasAt(Place::Meets);
  if (mark && !workerBookmarks.empty())
    epochStart -= mark->passSteps;
  if (trains)
    PDLRT_RETURN_IF_ERROR(beginRounds());
  else
    epochEnded = mark->epochEnded;
  bookmark.reset();
  if (meets) {
    PDLRT_RETURN_IF_ERROR(meetAndSave(epoch, report, /*isWanted=*/false));
    noteTaken();
  }
  planFirstMeeting();
  while (trains && !engine.stopped() && !stepsExhausted()) {
    allowSteps();
    if (engine.sumsOverJob() && wantsSave())
      engine.askForSave();
    Expected<std::optional<StepResult>> step = engine.next(stepsLeft() == 1);
    if (!step)
      return step.status();
    const std::optional<StepResult> &next = *step;
    if (!next) {
      epochEnded = dataFailure.ok() && !trainer.brokenOff;
      break;
    }
    const StepResult result = *next;
    report.add(result);
    ++totalSteps;
    if (losses.isOpen())
      noteLosses(losses.write(
          result.weightSum != 0
              ? fmt::format("{:.17g}", result.lossSum / result.weightSum)
              : "nan"));
    if (checkpoints)
      PDLRT_RETURN_IF_ERROR(tolerate(checkpoints->check()));
    if (checkpoints && (result.wantsSave || totalSteps == nextMeeting ||
                        checkpoints->stepsUntilDue(totalSteps - 1) == 1))
      PDLRT_RETURN_IF_ERROR(meetAndSave(epoch, report, result.wantsSave));
    noteTaken();
    if (progress.due())
      showProgress(progress, report);
  }
  report.seconds = secondsSince(start);
  trainCpuSeconds += processCpuSeconds() - cpuBefore;
  // A new start may have met them.
  if (!hasEnded || trainer.engine->sumsOverJob())
    PDLRT_RETURN_IF_ERROR(awaitOthers(epoch, report));
  PDLRT_RETURN_IF_ERROR(job->settle());
  const Report own = report;
  if (job->mayComeBack())
    leaveBookmark(Bookmark::Place::EpochEnds, nullptr);
  // Others need not hear twice that this process cannot read its data.
  if (!dataFailure.ok())
    trainer.files = {};
  PDLRT_RETURN_IF_ERROR(addUp(trainer, report).status());
  // Samples are those of all, and so is the time: until the last one is done.
  jobSeconds += secondsSince(start);
  // Before a test, which may take long or fail. Servers of a job that has
  // failed answer no more: what a whole epoch gave is there before anything
  // can.
  if (report.samples > 0)
    PDLRT_RETURN_IF_ERROR(saveEpoch(epoch, own));
  // All go on, or have done their steps.
  if (!stopping)
    totalSteps = agreedSteps;
  stepsInEpoch = report.steps;
  totalSamples += report.samples;
  skippedUpdates += report.skippedUpdates;
  trainSeconds += report.seconds;
  return {};
}
