//===- SavedProgress.cpp - Progress in a checkpoint of a training ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/SavedProgress.h"

#include "Programs/Trainer/JobGroups.h"
#include "pdlrt/Job/Resumption.h"

#include <cstdint>
#include <utility>
#include <vector>

using namespace pdlrt;

Expected<SavedProgress> pdlrt::gatherProgressToSave(const TrainingParts &parts,
                                                    TrainingProgress begun,
                                                    const PassReport &report) {
  const TrainingState &state = parts.state;
  const EpochPosition &position = state.position;
  const ProgramRun &run = parts.run;
  SavedProgress saved = {.progress = std::move(begun), .running = {}};
  TrainingProgress &progress = saved.progress;
  RunningEpoch &running = saved.running;
  progress.skippedUpdates = state.skippedUpdates + report.skippedUpdates;
  running.metrics =
      run.engine->replicas().collectMetrics(ReplicaSet::MetricScope::Job);
  double losses[] = {report.lossSum, report.weightSum};
  if (!run.engine->sumsOverJob())
    PDLRT_RETURN_IF_ERROR(parts.job.sum({}, losses));
  running.lossSum = losses[0];
  running.weightSum = losses[1];
  progress.epochSamples = report.samples;
  const int64_t rounds = position.stepsHere(report);
  progress.badRows = run.badRowsAfter(rounds);
  if (!position.hasEnded) {
    progress.positions = run.positionsAfter(rounds);
    progress.epochSteps = report.steps;
    progress.epochSkippedUpdates = report.skippedUpdates;
    running.rest = position.rest;
  }
  PDLRT_RETURN_IF_ERROR(
      gatherProgress(parts.layout, progress, running, parts.job));
  progress.samples = state.totalSamples + progress.epochSamples;
  if (position.hasEnded)
    progress.epochSamples = 0;
  // Group metrics need the samples of the epoch. After its end they are
  // reported, so the samples are not saved.
  const bool keepsGroups = run.program->observes_groups && !position.hasEnded;
  saved.lendsGroups = keepsGroups && parts.processes() == 1;
  if (keepsGroups && !saved.lendsGroups) {
    Expected<std::vector<pdlabi::GroupedSamples>> all = gatherJobGroups(parts);
    if (!all)
      return all.status();
    running.groups = std::move(*all);
  }
  return saved;
}

Status pdlrt::startSave(const TrainingParts &parts, Model &model,
                        SavedProgress saved) {
  ReplicaSet &replicas = parts.run.engine->replicas();
  if (saved.lendsGroups)
    saved.running.groups = replicas.takeGroups();
  Status status = parts.checkpoints->save(parts.job, model, saved.running,
                                          std::move(saved.progress));
  if (saved.lendsGroups)
    replicas.restoreGroups(std::move(saved.running.groups));
  return status;
}
