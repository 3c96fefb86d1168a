//===- EpochStart.cpp - Start of an epoch ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EpochStart.h"

#include "Programs/Trainer/JobGroups.h"
#include "pdlrt/Core/Log.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

using namespace pdlrt;

EpochStart::EpochStart(const TrainingParts &parts, DataOptions data,
                       ResumptionPlan &plan, Recovery &recovery,
                       TrainingReader &reader)
    : parts(parts), data(std::move(data)), plan(plan), recovery(recovery),
      reader(reader) {}

/// Returns true if the replicas of this job divide an epoch in the same way.
bool EpochStart::isDividedSo(const EpochDivision &division) const {
  const int64_t files = int64_t(parts.options.data.files.size());
  return isSame(division, parts.layout) &&
         (division.files == 0 || division.files == files);
}

/// Divides the remaining rows of an epoch among the replicas of this job.
/// `from`: the division before, among other replicas. `positions` and `before`:
/// the positions and the rows of these replicas. `steps`: number of steps done
/// so far.
Expected<std::shared_ptr<const EpochRest>> EpochStart::divideAnew(
    const EpochDivision &from, std::vector<DataPosition> positions,
    std::shared_ptr<const EpochRest> before, int64_t steps) const {
  Expected<EpochRest> rest =
      restOfEpoch(data, parts.descriptor, *parts.run.program,
                  {std::move(positions), std::move(before), from.files});
  if (!rest)
    return rest.status();
  rest->steps = steps;
  return std::make_shared<const EpochRest>(std::move(*rest));
}

Status EpochStart::begin(int64_t epoch, PassReport &report) {
  ReplicaSet &replicas = parts.run.engine->replicas();
  const int64_t most = parts.options.maxGroupedSamples;
  replicas.resetCounters();
  replicas.limitGroupedSamples(most, most / parts.processes());
  parts.run.rounds = 0;
  EpochPosition &position = parts.state.position;
  position.rest.reset();
  if (recovery.isResuming())
    return restore(report);
  std::optional<Resumption> from = plan.take();
  position.readsWhole = !from || from->progress.positions.empty();
  if (!from)
    return reader.beginEpoch(epoch);
  if (parts.checkpoints)
    parts.checkpoints->forgetResumed();
  return position.readsWhole ? parts.run.reader->beginEpoch(epoch)
                             : resume(std::move(*from), epoch, report);
}

/// Resumes in the epoch of a checkpoint.
Status EpochStart::resume(Resumption from, int64_t epoch, PassReport &report) {
  // Counts of the whole job are kept by its first process.
  const bool first = parts.job.rank() == 0;
  const TrainingProgress &progress = from.progress;
  const ProgramRun &run = parts.run;
  run.engine->replicas().restoreMetrics(ReplicaSet::MetricScope::Job,
                                        from.running.metrics);
  if (run.program->observes_groups)
    PDLRT_RETURN_IF_ERROR(
        restoreJobGroups(parts, std::move(from.running.groups)));
  if (first || run.engine->sumsOverJob()) {
    report.lossSum = from.running.lossSum;
    report.weightSum = from.running.weightSum;
  }
  report.steps = progress.epochSteps;
  report.samples = first ? progress.epochSamples : 0;
  report.skippedUpdates = progress.epochSkippedUpdates;
  const ReplicaLayout &own = parts.layout;
  std::shared_ptr<const EpochRest> &epochRest = parts.state.position.rest;
  epochRest = from.running.rest;
  std::vector<DataPosition> positions = progress.positions;
  if (!isDividedSo(from.division)) {
    auto rest = divideAnew(from.division, std::move(positions), epochRest,
                           progress.steps);
    if (!rest)
      return rest.status();
    epochRest = std::move(*rest);
    DataPosition begin;
    begin.epoch = epoch;
    positions.assign(own.groups, begin);
    logInfo(fmt::format("what is left of epoch {} is divided among {}x{} "
                        "replicas; before it was among {}x{}",
                        epoch + 1, own.groups, own.workers,
                        from.division.groups, from.division.workers));
  }
  const auto begin = positions.begin() + own.firstGroup;
  return run.reader->restore({begin, begin + own.localGroups},
                             first ? progress.badRows : 0, epochRest);
}

/// Finds the remaining rows of an epoch that was divided among other replicas
/// after `steps` steps. Used by a restarted trainer. If the job resumed from
/// the checkpoint of that step, divides them again. Otherwise a later
/// checkpoint contains them. Returns an error if the resumed checkpoint is
/// neither.
Status EpochStart::findRest(int64_t steps) {
  std::shared_ptr<const EpochRest> &epochRest = parts.state.position.rest;
  const Checkpoint *from = parts.resumedCheckpoint();
  const bool isRunning = from && !from->manifest().progress.positions.empty();
  if (isRunning) {
    Expected<EpochDivision> division = EpochDivision::of(*from);
    if (!division)
      return division.status();
    Expected<RunningEpoch> running =
        loadRunningEpoch(parts.descriptor, division->replicas(), *from);
    if (!running)
      return running.status();
    const TrainingProgress &progress = from->manifest().progress;
    if (progress.steps == steps && !isDividedSo(*division)) {
      auto rest =
          divideAnew(*division, progress.positions, running->rest, steps);
      if (!rest)
        return rest.status();
      epochRest = std::move(*rest);
    } else if (running->rest && running->rest->steps == steps) {
      epochRest = running->rest;
    }
  }
  return epochRest ? Status()
                   : Status::failedPrecondition(fmt::format(
                         "the epoch was divided among other replicas after {} "
                         "steps, and no checkpoint says which rows were left: "
                         "end all trainers and servers, and start them from "
                         "the last checkpoint",
                         steps));
}

/// Resumes in the epoch in which the previous incarnation was.
Status EpochStart::restore(PassReport &report) {
  if (const int64_t steps = recovery.dividedAt(); steps > 0)
    PDLRT_RETURN_IF_ERROR(findRest(steps));
  if (parts.checkpoints)
    parts.checkpoints->forgetResumed();
  return recovery.restore(report);
}
