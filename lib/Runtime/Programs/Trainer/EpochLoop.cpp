//===- EpochLoop.cpp - Steps of the epochs of a training ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EpochLoop.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/ProcessMemory.h"
#include "pdlrt/State/RateWatch.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;

EpochLoop::EpochLoop(const TrainingParts &parts, const Collaborators &with,
                     AddUp addUp, bool terminal)
    : parts(parts), with(with), addUp(std::move(addUp)), terminal(terminal),
      metrics(parts.descriptor, *parts.run.program),
      loggedWatch(with.evaluations), limits(parts.options) {}

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
  shown.restart(report);
  logged.restart(report);
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
  // The agreed number of steps is the largest of all groups, because a process
  // that has no data left has done fewer steps.
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

/// Meets the other processes. Evaluates if the number of steps requires it.
/// Saves if the number of steps requires it, or if a process wants a
/// checkpoint.
Status EpochLoop::meetAndSave(int64_t epoch, const PassReport &report,
                              bool isWanted) {
  const Expected<Meeting> meeting = meet(/*ended=*/false);
  if (!meeting)
    return meeting.status();
  return evaluateAndSave(epoch, report, isWanted || meeting->wantsSave);
}

/// Evaluates and saves after a meeting, if these are due. The evaluation is
/// first, so that the checkpoint contains its result.
Status EpochLoop::evaluateAndSave(int64_t epoch, const PassReport &report,
                                  bool isWanted) {
  const int64_t steps = parts.state.agreedSteps;
  Status evaluated;
  // If all processes know of a stop signal, no evaluation could end.
  const bool stops =
      parts.run.engine->sumsOverJob() && parts.run.engine->stopped();
  if (!stops && with.evaluations.isDue(steps))
    evaluated =
        with.evaluations.run(steps, TrainingEvaluations::Purpose::WithinEpoch);
  const bool isBest = with.evaluations.takeBest();
  if (isBest)
    PDLRT_RETURN_IF_ERROR(with.saves.keepBest());
  // A failure of the evaluation fails the job, so save before.
  if (evaluated.code() != PDL_OUT_OF_MEMORY &&
      with.saves.isSaveDue(isWanted || isBest))
    PDLRT_RETURN_IF_ERROR(with.saves.save(epoch, report));
  return evaluated;
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
    PDLRT_RETURN_IF_ERROR(evaluateAndSave(epoch, report, meeting->wantsSave));
    hasEnded = outOfData;
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the number of steps until the end of the pass of the engine: of the
/// training, or before an evaluation. An evaluation needs a state that contains
/// nothing of later steps, such as rows of the next batch.
int64_t EpochLoop::stepsLeftInPass() const {
  const int64_t steps = parts.state.totalSteps;
  return std::min(limits.stepsLeft(steps),
                  with.evaluations.stepsUntilNext(steps));
}

/// Returns the number of steps that this process may do before it must meet the
/// others, save, evaluate or end.
EpochLoop::AllowedSteps EpochLoop::stepsAllowed() const {
  const int64_t left = stepsLeftInPass();
  const int64_t due = with.saves.stepsUntilMeeting();
  return {std::min(left, due), due >= left};
}

/// Returns the number of steps that the epoch will have; 0 if it is not known.
int64_t EpochLoop::expectedSteps(const PassReport &report) const {
  const TrainingState &state = parts.state;
  int64_t expected = state.stepsInEpoch;
  if (parts.options.steps) {
    const int64_t left = *parts.options.steps - state.totalSteps + report.steps;
    expected = expected ? std::min(expected, left) : left;
  }
  return expected;
}

/// Updates the metrics that operators watch. Returns the mean loss of the steps
/// since the last update. No step may run concurrently.
double EpochLoop::updateMetrics(const PassReport &report) {
  const TrainingState &state = parts.state;
  metrics.setPosition(state.position.epoch, report.steps, expectedSteps(report),
                      state.totalSteps);
  const PassReport latest = shown.take(report);
  if (latest.steps > 0)
    metrics.setLoss(latest.meanLoss());
  metrics.setMetrics(parts.run.engine->replicas());
  with.model.noteTableSizes();
  return latest.meanLoss();
}

void EpochLoop::showProgress(Progress &progress, const PassReport &report) {
  StepEngine &engine = *parts.run.engine;
  engine.rest();
  with.rangeWarnings.check(engine.replicas());
  ProgressState state = {report.samples, report.steps, expectedSteps(report),
                         report.meanLoss(),
                         firstAuc(parts.descriptor, engine.replicas())};
  state.latestLoss = updateMetrics(report);
  for (int32_t i = 0; i < parts.descriptor.symbol_count; ++i)
    if (const EmbeddingTable *table = with.model.table(i))
      state.keys += table->size();
  state.memoryBytes = residentBytes();
  progress.show(state);
}

/// Returns the learning rate of each group in the latest step, as its schedule
/// gives it.
nlohmann::ordered_json EpochLoop::learningRates() const {
  nlohmann::ordered_json rates = nlohmann::ordered_json::object();
  for (int32_t i = 0; i < parts.descriptor.group_count; ++i) {
    const int64_t updates = with.model.stepCount(i);
    // Servers that apply each push as a step count the steps of all senders,
    // which this process does not know.
    if (updates == 0 && modeOf(parts.descriptor).pushesAreSteps())
      continue;
    // Servers count the updates of the state that they hold.
    const int64_t step = updates > 0 ? updates : parts.state.totalSteps;
    const pdl_once_arguments arguments = {
        .step = double(step),
        .weight = 1,
        .squared_norm = 0,
        .senders = updates > 0 ? with.model.senders() : 1};
    AlignedBuffer scratch;
    if (const std::optional<double> rate =
            learningRate(parts.descriptor.groups[i], arguments, scratch))
      rates[parts.descriptor.groups[i].name] = *rate;
  }
  return rates;
}

/// Writes a line about the steps since the last one to the file of metrics.
void EpochLoop::logMetrics(const PassReport &report) {
  StepEngine &engine = *parts.run.engine;
  engine.rest();
  const PassReport latest = logged.take(report);
  const double seconds = loggedWatch.lap().seconds;
  nlohmann::ordered_json metrics = nlohmann::ordered_json::object();
  visitModelMetrics(parts.descriptor, engine.replicas(),
                    [&](int32_t index, double value) {
                      metrics[parts.descriptor.metrics[index].name] = value;
                    });
  parts.metricLog.add("steps",
                      {parts.state.totalSteps, parts.state.position.epoch},
                      {{"samples", report.samples},
                       {"samples_per_second",
                        seconds > 0 ? double(latest.samples) / seconds : 0.0},
                       {"loss", latest.meanLoss()},
                       {"epoch_loss", report.meanLoss()},
                       {"metrics", std::move(metrics)},
                       {"learning_rates", learningRates()},
                       {"resident_memory_bytes", residentBytes()}});
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
  const bool endsPass = stepsLeftInPass() == 1;
  Expected<std::optional<StepResult>> step = engine.next(endsPass);
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
  const bool evaluates = with.evaluations.isDue(state.totalSteps);
  if (evaluates || with.saves.isMeetingDue(result.wantsSave))
    PDLRT_RETURN_IF_ERROR(meetAndSave(epoch, report, result.wantsSave));
  with.recovery.noteTaken();
  // The next step begins a pass, which continues with the next rows.
  if (endsPass && !isOver() && !engine.stopped())
    PDLRT_RETURN_IF_ERROR(
        engine.begin([this] { return with.reader.readRound(); }));
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
  while (!parts.run.engine->stopped() && !isOver()) {
    const int64_t evaluations = with.evaluations.evaluationsDone();
    const Expected<bool> goesOn = trainStep(epoch, report);
    if (!goesOn)
      return goesOn.status();
    if (!*goesOn)
      break;
    // The throughput of steps excludes the time of an evaluation.
    if (with.evaluations.evaluationsDone() > evaluations)
      progress.begin({report.samples, report.steps});
    if (progress.due())
      showProgress(progress, report);
    if (parts.metricLog.isDue(parts.state.totalSteps))
      logMetrics(report);
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
  progress.begin({report.samples, report.steps});
  StepWatch watch(with.evaluations);
  loggedWatch.lap();
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
  const StepWatch::Times trained = watch.lap();
  report.seconds = trained.seconds;
  state.jobSeconds += trained.seconds;
  state.cpuSeconds += trained.cpuSeconds;
  // A restarted process may have met the others before.
  if (*entry != Entry::AfterMeetings || engine.sumsOverJob())
    PDLRT_RETURN_IF_ERROR(awaitOthers(epoch, report));
  return finishEpoch(epoch, report, watch);
}

/// Evaluates at the end of an epoch if early stopping or the choice of the best
/// checkpoint need the result. The test after the epoch uses the same result.
Status EpochLoop::evaluateAtEnd(const PassReport &report) {
  // If the training ends within an epoch, a resumed training evaluates at the
  // end. So interruptions never change the number of evaluations.
  const TrainingState &state = parts.state;
  if (report.samples == 0 || !state.position.hasEnded ||
      !with.evaluations.isDueAtEnd(state.agreedSteps))
    return {};
  PDLRT_RETURN_IF_ERROR(with.evaluations.run(
      state.agreedSteps, TrainingEvaluations::Purpose::EndOfEpoch));
  return with.evaluations.takeBest() ? with.saves.keepBest() : Status();
}

/// After the steps of all processes: sums the figures, and saves the result.
Status EpochLoop::finishEpoch(int64_t epoch, PassReport &report,
                              StepWatch &watch) {
  TrainingState &state = parts.state;
  PDLRT_RETURN_IF_ERROR(parts.job.settle());
  // An epoch may be shorter than the interval of progress lines.
  parts.run.engine->rest();
  updateMetrics(report);
  const PassReport own = report;
  with.recovery.enterEpochEnd();
  // `addUp` compares the contents of the files. After a failure to read them it
  // gets none; the other processes know of the failure.
  if (!state.dataFailure.ok())
    parts.run.files = {};
  const Expected<bool> stops = addUp(report);
  if (!stops)
    return stops.status();
  // The samples in `report` are those of all processes. So the time of the job
  // must also include the wait for the slowest process.
  state.jobSeconds += watch.lap().seconds;
  Status evaluated = *stops ? Status() : evaluateAtEnd(report);
  // Save before a test, which may take long or fail. If a test fails the job,
  // its servers no longer respond, so the result of the epoch must have been
  // saved before.
  if (report.samples > 0)
    PDLRT_RETURN_IF_ERROR(
        with.saves.saveEpoch(epoch, own,
                             *stops || with.evaluations.areOver() ||
                                 limits.isLast(epoch, state.agreedSteps)));
  // The test after the epoch returns any other error.
  if (evaluated.code() == PDL_OUT_OF_MEMORY)
    return evaluated;
  // Unless the job stops, this process counts the agreed steps as its own, also
  // those for which it had no data.
  if (!*stops)
    state.totalSteps = state.agreedSteps;
  state.stepsInEpoch = report.steps;
  state.totalSamples += report.samples;
  state.skippedUpdates += report.skippedUpdates;
  state.seconds += report.seconds;
  return {};
}
