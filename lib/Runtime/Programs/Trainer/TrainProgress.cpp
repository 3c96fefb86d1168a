//===- TrainProgress.cpp - Where a training stands ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "Programs/Trainer/Agreement.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <fmt/format.h>
#include <optional>
#include <tuple>
#include <utility>

using namespace pdlrt;

Status TrainCommand::openCheckpoints() {
  if (options.checkpoint.empty())
    return {};
  const bool first = !options.distributed || options.distributed->rank == 0;
  auto opened =
      TrainingCheckpoints::open(descriptor, options, first, scheduler);
  if (!opened)
    return opened.status();
  checkpoints = std::move(*opened);
  schedule.emplace(options.checkpointMinutes, SaveSchedule::Clock::now(),
                   checkpointRequests());
  return {};
}

/// Finds out where the job goes on, if it does.
Status TrainCommand::shareProgress() {
  if (!checkpoints || !options.resume)
    return {};
  // What the first process found counts for all.
  Expected<std::optional<Resumption>> shared =
      shareResumption(descriptor, layout(),
                      job->rank() == 0 ? resumedCheckpoint() : nullptr, *job);
  if (!shared)
    return shared.status();
  resumption = std::move(*shared);
  if (!resumption)
    return {};
  const TrainingProgress &progress = resumption->progress;
  checkpoints->noteResumed(progress.steps, progress.epoch);
  totalSteps = resumedSteps = progress.steps;
  resumedSamples = progress.samples;
  // Those of the running epoch are added when it ends.
  totalSamples = progress.samples - progress.epochSamples;
  skippedUpdates = progress.skippedUpdates - progress.epochSkippedUpdates;
  if (progress.lossLines > 0)
    loggedBefore = progress.lossLines;
  logInfo(fmt::format("resumed after {} steps in epoch {}", progress.steps,
                      progress.epoch + 1));
  return {};
}

/// Of the samples that a checkpoint holds, by metric and by replica of the job,
/// those of this process. Only the first one has read them.
std::vector<pdlabi::GroupedSamples>
TrainCommand::ownGroups(std::vector<pdlabi::GroupedSamples> all) const {
  const ReplicaLayout own = layout();
  const size_t replicas = size_t(own.groups) * own.workers,
               here = size_t(own.localGroups) * own.workers,
               first = size_t(own.firstGroup) * own.workers;
  if (all.empty() || here == replicas)
    return all;
  std::vector<pdlabi::GroupedSamples> mine;
  for (size_t begin = first; begin < all.size(); begin += replicas)
    for (size_t r = 0; r < here; ++r)
      mine.push_back(std::move(all[begin + r]));
  return mine;
}

/// Takes up what metrics of groups kept before, which counts beside the shares
/// of what comes.
Status TrainCommand::restoreGroups(std::vector<pdlabi::GroupedSamples> all) {
  std::vector<pdlabi::GroupedSamples> own = ownGroups(std::move(all));
  int64_t here = 0;
  for (const pdlabi::GroupedSamples &samples : own)
    here += int64_t(samples.size());
  std::vector<int64_t> everywhere = {here};
  PDLRT_RETURN_IF_ERROR(job->sum(everywhere, {}));
  const int64_t left =
      std::max<int64_t>(0, options.maxGroupedSamples - everywhere[0]);
  ReplicaSet &replicas = trainer.engine->replicas();
  replicas.restoreGroups(std::move(own));
  replicas.limitGroupedSamples(options.maxGroupedSamples,
                               here + left / processes());
  return {};
}

/// What metrics of groups keep, by metric and by replica of the job, of all
/// processes in the place of the first replica. The first process alone needs
/// it.
Expected<std::vector<pdlabi::GroupedSamples>>
TrainCommand::gatherAllGroups(const ReplicaSet &replicas) {
  const ReplicaLayout own = layout();
  const size_t count = size_t(own.groups) * own.workers;
  std::vector<pdlabi::GroupedSamples> all(descriptor.metric_count * count);
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    if (!pdlabi::observesGroups(descriptor.metrics[m].kind))
      continue;
    Expected<pdlabi::GroupedSamples> samples = gatherGroupsOf(replicas, m);
    if (!samples)
      return samples.status();
    if (job->rank() == 0)
      all[m * count] = std::move(*samples);
  }
  return all;
}

/// Begins an epoch, or goes on in the one of the checkpoint.
Status TrainCommand::beginEpoch(int64_t epoch, Report &report) {
  ReplicaSet &replicas = trainer.engine->replicas();
  replicas.resetCounters();
  replicas.limitGroupedSamples(options.maxGroupedSamples,
                               options.maxGroupedSamples / processes());
  trainer.rounds = 0;
  if (bookmark)
    return restoreEpoch(*bookmark, report);
  readsWholeEpoch = !resumption || resumption->progress.positions.empty();
  if (!resumption)
    return beginReading(epoch);
  Resumption from = std::move(*resumption);
  resumption.reset();
  if (checkpoints)
    checkpoints->forgetResumed();
  // What is counted over processes is counted by the first of them.
  const bool first = job->rank() == 0;
  const TrainingProgress &progress = from.progress;
  if (progress.positions.empty())
    return trainer.reader->beginEpoch(epoch);
  replicas.restoreMetrics(ReplicaSet::MetricScope::Job, from.running.metrics);
  if (trainer.program->observes_groups)
    PDLRT_RETURN_IF_ERROR(restoreGroups(std::move(from.running.groups)));
  if (first || trainer.engine->sumsOverJob()) {
    report.lossSum = from.running.lossSum;
    report.weightSum = from.running.weightSum;
  }
  report.steps = progress.epochSteps;
  report.samples = first ? progress.epochSamples : 0;
  report.skippedUpdates = progress.epochSkippedUpdates;
  const ReplicaLayout own = layout();
  const auto begin = progress.positions.begin() + own.firstGroup;
  return trainer.reader->restore({begin, begin + own.localGroups},
                                 first ? progress.badRows : 0);
}

/// Goes on in the epoch of a bookmark.
Status TrainCommand::restoreEpoch(const Bookmark &from, Report &report) {
  if (checkpoints)
    checkpoints->forgetResumed();
  if (!workerBookmarks.empty())
    return restoreWorkers(report);
  PDLRT_RETURN_IF_ERROR(restoreMetrics(from, trainer.engine->replicas()));
  report = from.report;
  readsWholeEpoch = from.positions.empty();
  if (readsWholeEpoch)
    return trainer.reader->beginEpoch(from.epoch);
  // That of the step which is under way.
  trainer.rounds = from.place == Bookmark::Place::Step ? 1 : 0;
  return trainer.reader->restore(from.positions, from.badRows);
}

Bookmark TrainCommand::bookmarkHere(Bookmark::Place place) const {
  Bookmark here;
  here.place = place;
  here.flags = flagsDigest;
  here.epoch = runningEpoch;
  here.totalSteps = totalSteps;
  here.totalSamples = totalSamples;
  here.skippedUpdates = skippedUpdates;
  here.resumedSteps = resumedSteps;
  here.resumedSamples = resumedSamples;
  here.stepsInEpoch = stepsInEpoch;
  here.agreedSteps = agreedSteps;
  if (losses.isOpen())
    here.lossLines = losses.lines();
  if (checkpoints)
    std::tie(here.savedSteps, here.savedEpoch) = checkpoints->lastSaved();
  here.epochEnded = epochEnded;
  here.stepsEnded = stepsEnded;
  here.report = *runningReport;
  here.passSteps = here.report.steps - epochStart;
  return here;
}

/// Leaves a bookmark with the request that comes next.
void TrainCommand::leaveBookmark(Bookmark::Place place,
                                 const PendingStep *step) {
  Bookmark left = bookmarkHere(place);
  if (step)
    left.step = *step;
  const int64_t rounds =
      place == Bookmark::Place::EpochBegins
          ? 0
          : left.passSteps + (place == Bookmark::Place::Step ? 1 : 0);
  if (place != Bookmark::Place::EpochBegins || !readsWholeEpoch) {
    left.positions = trainer.positionsAfter(rounds);
    left.badRows = trainer.badRowsAfter(rounds);
  }
  left.metrics = trainer.engine->replicas().collectMetrics(
      ReplicaSet::MetricScope::Process);
  // An error is met again by the next line, or when the file is closed.
  static_cast<void>(losses.flush());
  job->leaveBookmark(encodeBookmark(left));
}

/// Takes up what an earlier start of this process left.
Status TrainCommand::comeBack(const Message &note) {
  // Steps behind that are found with the bookmarks of workers.
  Expected<Bookmark> decoded =
      job->workersWereLater() ? Bookmark() : decodeBookmark(note);
  if (!decoded)
    return decoded.status();
  bookmark = std::move(*decoded);
  if (workersComeBack())
    PDLRT_RETURN_IF_ERROR(takeWorkerBookmarks());
  const Bookmark &from = *bookmark;
  if (from.flags != flagsDigest)
    return Status::invalid(
        "this trainer comes back to its job with other flags than it was "
        "started with at first: start it with the same command line");
  totalSteps = from.totalSteps;
  totalSamples = from.totalSamples;
  skippedUpdates = from.skippedUpdates;
  resumedSteps = from.resumedSteps;
  resumedSamples = from.resumedSamples;
  earlierSteps = from.totalSteps - from.resumedSteps;
  stepsInEpoch = from.stepsInEpoch;
  agreedSteps = from.agreedSteps;
  if (from.lossLines >= 0)
    loggedBefore = from.lossLines;
  if (checkpoints)
    checkpoints->noteResumed(from.savedSteps, from.savedEpoch);
  logInfo(fmt::format("came back to the job, after {} steps in epoch {}",
                      totalSteps, from.epoch + 1));
  return {};
}

/// Saves in the middle of `epoch`, or behind it if it has ended. What was
/// counted of it here is in `report`, not yet in the totals.
Status TrainCommand::saveCheckpoint(int64_t epoch, const Report &report) {
  if (!checkpoints)
    return {};
  TrainingProgress progress;
  progress.steps = agreedSteps;
  progress.skippedUpdates = skippedUpdates + report.skippedUpdates;
  progress.epoch = epochEnded ? epoch + 1 : epoch;
  if (losses.isOpen())
    progress.lossLines = losses.lines();
  if (checkpoints->isSaved(progress.steps, progress.epoch))
    return {};
  // Who goes on from the checkpoint goes on behind the losses of its steps.
  if (losses.isOpen())
    noteLosses(losses.flush());
  schedule->noteSave(SaveSchedule::Clock::now(), checkpointRequests());
  // An error of the save before counts by itself.
  PDLRT_RETURN_IF_ERROR(tolerate(finishSave()));
  RunningEpoch running;
  ReplicaSet &replicas = trainer.engine->replicas();
  running.metrics = replicas.collectMetrics(ReplicaSet::MetricScope::Job);
  double losses[] = {report.lossSum, report.weightSum};
  if (!trainer.engine->sumsOverJob())
    PDLRT_RETURN_IF_ERROR(job->sum({}, losses));
  running.lossSum = losses[0];
  running.weightSum = losses[1];
  progress.epochSamples = report.samples;
  progress.badRows = trainer.badRowsAfter(report.steps - epochStart);
  if (!epochEnded) {
    progress.positions = trainer.positionsAfter(report.steps - epochStart);
    progress.epochSteps = report.steps;
    progress.epochSkippedUpdates = report.skippedUpdates;
  }
  PDLRT_RETURN_IF_ERROR(gatherProgress(layout(), progress, running, *job));
  progress.samples = totalSamples + progress.epochSamples;
  if (epochEnded)
    progress.epochSamples = 0;
  // Those of an epoch that has ended are reported, and needed no more.
  const bool keepsGroups = trainer.program->observes_groups && !epochEnded;
  if (keepsGroups && processes() > 1) {
    Expected<std::vector<pdlabi::GroupedSamples>> all =
        gatherAllGroups(replicas);
    if (!all)
      return all.status();
    running.groups = std::move(*all);
    return tolerate(
        checkpoints->save(*job, *model, running, std::move(progress)));
  }
  // They may be large, and are lent while they are written.
  if (keepsGroups)
    running.groups = replicas.takeGroups();
  const Status saved =
      checkpoints->save(*job, *model, running, std::move(progress));
  if (keepsGroups)
    replicas.restoreGroups(std::move(running.groups));
  return tolerate(saved);
}

/// Before any step; where the training goes on from a checkpoint, it is there.
Status TrainCommand::saveInitialState() {
  if (!checkpoints || resumption || bookmark)
    return {};
  PDLRT_RETURN_IF_ERROR(
      checkpoints->save(*job, *model, RunningEpoch(), TrainingProgress()));
  // Nothing is lost with it, so it may fail at once.
  return finishSave();
}
