//===- EpochLoop.cpp - Steps of the epochs of a training ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EpochLoop.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;

EpochLoop::EpochLoop(const TrainingParts &parts, const Collaborators &with,
                     AddUp addUp, bool terminal)
    : parts(parts), with(with), addUp(std::move(addUp)), terminal(terminal),
      limits(parts.options) {}

//===----------------------------------------------------------------------===//
// Start
//===----------------------------------------------------------------------===//

/// Starts or resumes the epoch, but no step.
Status EpochLoop::beginEpoch(int64_t epoch, PassReport &report) {
  EpochPosition &position = parts.state.position;
  position.hasEnded = false;
  PDLRT_RETURN_IF_ERROR(with.start.begin(epoch, report));
  position.epoch = epoch;
  position.report = &report;
  position.stepsBefore = report.steps;
  position.totalStepsBefore = parts.state.totalSteps;
  position.stepsEnded = false;
  return {};
}

//===----------------------------------------------------------------------===//
// Meetings with the other processes
//===----------------------------------------------------------------------===//

/// Meets the other processes before a checkpoint, or after the last step of the
/// epoch, which the trainers of some modes reach independently. `ended`: this
/// process has done its last step. If the engine sums over the whole job,
/// processes are always at the same step and need not meet.
Expected<EpochLoop::Meeting> EpochLoop::meet(bool ended) {
  TrainingState &state = parts.state;
  EpochPosition &position = state.position;
  state.agreedSteps = state.totalSteps;
  if (parts.run.engine->sumsOverJob())
    return Meeting{ended, position.hasEnded, false};
  position.stepsEnded = ended;
  with.recovery.enterMeeting();
  // A process that still has data has done as many steps as any other.
  const ReplicaLayout &own = parts.layout;
  const int64_t plan = with.saves.proposeMeeting(ended);
  std::vector<int64_t> counts = {1, ended, position.hasEnded,
                                 with.saves.isWanted(), plan};
  const size_t stepsBegin = counts.size();
  counts.resize(stepsBegin + own.groups);
  counts[stepsBegin + own.firstGroup] = state.totalSteps;
  PDLRT_RETURN_IF_ERROR(parts.job.sum(counts, {}));
  state.agreedSteps =
      *std::max_element(counts.begin() + int64_t(stepsBegin), counts.end());
  with.saves.noteMeeting(counts[4]);
  return Meeting{counts[1] == counts[0], counts[2] == counts[0], counts[3] > 0};
}

/// Meets the other processes. Saves if the number of steps requires it, or if a
/// process wants a checkpoint.
Status EpochLoop::meetAndSave(int64_t epoch, const PassReport &report,
                              bool isWanted) {
  const Expected<Meeting> meeting = meet(/*ended=*/false);
  if (!meeting)
    return meeting.status();
  return with.saves.isSaveDue(isWanted || meeting->wantsSave)
             ? with.saves.save(epoch, report)
             : Status();
}

/// Called after the last step of this process in the epoch. Meets the other
/// processes, and takes part in their checkpoints, until all have done their
/// last step.
Status EpochLoop::awaitOthers(int64_t epoch, const PassReport &report) {
  bool &hasEnded = parts.state.position.hasEnded;
  const bool outOfData = hasEnded;
  while (true) {
    Expected<Meeting> meeting = meet(/*ended=*/true);
    if (!meeting)
      return meeting.status();
    hasEnded = meeting->allEnded && meeting->allOutOfData;
    if (meeting->allEnded)
      return {};
    if (with.saves.isSaveDue(meeting->wantsSave))
      PDLRT_RETURN_IF_ERROR(with.saves.save(epoch, report));
    hasEnded = outOfData;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the number of steps that this process may do before it must meet the
/// others, save or end.
EpochLoop::AllowedSteps EpochLoop::stepsAllowed() const {
  const int64_t left = limits.stepsLeft(parts.state.totalSteps);
  const int64_t due = with.saves.stepsUntilMeeting();
  return {std::min(left, due), due >= left};
}

void EpochLoop::showProgress(Progress &progress, const PassReport &report) {
  const TrainingState &state = parts.state;
  int64_t expected = state.stepsInEpoch;
  if (parts.options.steps) {
    const int64_t left = *parts.options.steps - state.totalSteps + report.steps;
    expected = expected ? std::min(expected, left) : left;
  }
  StepEngine &engine = *parts.run.engine;
  engine.rest();
  with.rangeWarnings.check(engine.replicas());
  progress.show({report.samples, report.steps, expected, report.meanLoss(),
                 firstAuc(parts.descriptor, engine.replicas())});
}

/// Does one step and adds its loss to `report`. Then meets the other processes
/// and saves, if that is scheduled or requested. Returns false if the epoch has
/// no further step; then none was done.
Expected<bool> EpochLoop::trainStep(int64_t epoch, PassReport &report) {
  TrainingState &state = parts.state;
  StepEngine &engine = *parts.run.engine;
  const auto [allowed, isLast] = stepsAllowed();
  engine.goAhead(allowed, isLast);
  if (engine.sumsOverJob() && with.saves.isWanted())
    engine.requestSave();
  Expected<std::optional<StepResult>> step =
      engine.next(limits.stepsLeft(state.totalSteps) == 1);
  if (!step)
    return step.status();
  if (!step->has_value()) {
    state.position.hasEnded = state.dataFailure.ok() && !parts.run.brokenOff;
    return false;
  }
  const StepResult result = **step;
  report.add(result);
  ++state.totalSteps;
  parts.losses.add(result);
  PDLRT_RETURN_IF_ERROR(with.saves.check());
  if (with.saves.isMeetingDue(result.wantsSave))
    PDLRT_RETURN_IF_ERROR(meetAndSave(epoch, report, result.wantsSave));
  with.recovery.noteTaken();
  return true;
}

/// Does the steps of the epoch. `meets`: the previous incarnation of this
/// process was in a meeting, which is repeated first.
Status EpochLoop::trainSteps(int64_t epoch, PassReport &report,
                             Progress &progress, bool meets) {
  if (meets) {
    PDLRT_RETURN_IF_ERROR(meetAndSave(epoch, report, /*isWanted=*/false));
    with.recovery.noteTaken();
  }
  with.saves.planFirstMeeting();
  while (!parts.run.engine->stopped() &&
         !limits.areExhausted(parts.state.totalSteps)) {
    const Expected<bool> goesOn = trainStep(epoch, report);
    if (!goesOn)
      return goesOn.status();
    if (!*goesOn)
      break;
    if (progress.due())
      showProgress(progress, report);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Epoch
//===----------------------------------------------------------------------===//

/// Returns the label of an epoch in the display of progress.
static std::string labelOf(int64_t epoch, const SessionOptions &options) {
  const std::string label = fmt::format("epoch {}", epoch + 1);
  return options.epochs ? label + fmt::format("/{}", *options.epochs) : label;
}

Status EpochLoop::train(int64_t epoch, PassReport &report) {
  using Entry = Recovery::Entry;
  TrainingState &state = parts.state;
  StepEngine &engine = *parts.run.engine;
  Progress progress(labelOf(epoch, parts.options), terminal);
  PDLRT_RETURN_IF_ERROR(beginEpoch(epoch, report));
  Stopwatch watch;
  const double cpuBefore = processCpuSeconds();
  const auto [allowed, isLast] = stepsAllowed();
  const Expected<Entry> entry = with.recovery.enterEpoch(
      [this] { return with.reader.readRound(); }, allowed, isLast);
  if (!entry)
    return entry.status();
  if (*entry == Entry::Steps || *entry == Entry::Meeting)
    PDLRT_RETURN_IF_ERROR(
        trainSteps(epoch, report, progress, *entry == Entry::Meeting));
  else
    with.saves.planFirstMeeting();
  report.seconds = watch.lap();
  state.jobSeconds += report.seconds;
  state.cpuSeconds += processCpuSeconds() - cpuBefore;
  // A restarted process may have met the others before.
  if (*entry != Entry::AfterMeetings || engine.sumsOverJob())
    PDLRT_RETURN_IF_ERROR(awaitOthers(epoch, report));
  return finishEpoch(epoch, report, watch);
}

/// After the steps of all processes: sums the figures, and saves the result.
Status EpochLoop::finishEpoch(int64_t epoch, PassReport &report,
                              Stopwatch &watch) {
  TrainingState &state = parts.state;
  PDLRT_RETURN_IF_ERROR(parts.job.settle());
  const PassReport own = report;
  with.recovery.enterEpochEnd();
  // The others have been told that this process cannot read its data.
  if (!state.dataFailure.ok())
    parts.run.files = {};
  const Expected<bool> stops = addUp(report);
  if (!stops)
    return stops.status();
  // The samples in `report` are those of all processes. So the time of the job
  // must also include the wait for the slowest process.
  state.jobSeconds += watch.lap();
  // Save before a test, which may take long or fail. If a test fails the job,
  // its servers no longer respond, so the result of the epoch must have been
  // saved before.
  if (report.samples > 0)
    PDLRT_RETURN_IF_ERROR(with.saves.saveEpoch(
        epoch, own, *stops || limits.isLast(epoch, state.agreedSteps)));
  // All processes continue, or have done their steps.
  if (!*stops)
    state.totalSteps = state.agreedSteps;
  state.stepsInEpoch = report.steps;
  state.totalSamples += report.samples;
  state.skippedUpdates += report.skippedUpdates;
  state.seconds += report.seconds;
  return {};
}
