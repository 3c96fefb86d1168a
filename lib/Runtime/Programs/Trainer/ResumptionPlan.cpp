//===- ResumptionPlan.cpp - What a training resumes from ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ResumptionPlan.h"

#include "Programs/Trainer/TrainingEvaluations.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

Status ResumptionPlan::share() {
  if (!parts.checkpoints || !parts.options.resume)
    return {};
  // The first process decides for all.
  Expected<std::optional<Resumption>> shared = shareResumption(
      parts.descriptor, parts.layout,
      parts.job.rank() == 0 ? parts.resumedCheckpoint() : nullptr, parts.job);
  if (!shared)
    return shared.status();
  resumption = std::move(*shared);
  if (!resumption)
    return {};
  const TrainingProgress &progress = resumption->progress;
  parts.checkpoints->noteResumed(progress.steps, progress.epoch);
  TrainingState &state = parts.state;
  state.totalSteps = state.resumedSteps = progress.steps;
  state.resumedSamples = progress.samples;
  state.savedEventTime = eventTimeOf(progress.positions);
  // Counts of the running epoch are added when it ends.
  state.totalSamples = progress.samples - progress.epochSamples;
  state.skippedUpdates = progress.skippedUpdates - progress.epochSkippedUpdates;
  if (progress.lossLines > 0)
    loggedBefore = progress.lossLines;
  PDLRT_RETURN_IF_ERROR(resumeEvaluations(
      parts.descriptor, parts.options, progress.evaluations, parts.job, state));
  logInfo(fmt::format("resumed after {} steps in epoch {}", progress.steps,
                      progress.epoch + 1));
  return {};
}

int64_t ResumptionPlan::firstEpoch() const {
  return resumption ? resumption->progress.epoch : 0;
}

std::optional<Resumption> ResumptionPlan::take() {
  return std::exchange(resumption, std::nullopt);
}
