//===- Resumption.cpp - Where the processes of a job go on ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/Resumption.h"

#include "pdlrt/Core/Log.h"

#include <fmt/format.h>
#include <iterator>

using namespace pdlrt;

static void appendPosition(const DataPosition &position,
                           std::vector<int64_t> &counts) {
  forEachNumberOf(position, [&](int64_t number) { counts.push_back(number); });
}

static std::vector<DataPosition> positionsAt(const int64_t *counts,
                                             int groups) {
  std::vector<DataPosition> positions;
  for (int g = 0; g < groups; ++g)
    forEachNumberOf(positions.emplace_back(),
                    [&](int64_t &number) { number = *counts++; });
  return positions;
}

Expected<std::optional<Resumption>>
pdlrt::shareResumption(const pdl_descriptor &descriptor,
                       const ReplicaLayout &layout, const Checkpoint *from,
                       Job &job) {
  const int replicas = layout.groups * layout.workers;
  Resumption found;
  found.running.metrics = MetricSums(descriptor, replicas);
  TrainingProgress &progress = found.progress;
  bool isRunning = false;
  if (from) {
    found.seed = from->manifest().seed;
    progress = from->manifest().progress;
    isRunning = !progress.positions.empty();
    if (isRunning && progress.positions.size() != size_t(layout.groups))
      return from->damaged(fmt::format("it has positions of {} groups, not {}",
                                       progress.positions.size(),
                                       layout.groups));
    if (isRunning) {
      Expected<RunningEpoch> running =
          loadRunningEpoch(descriptor, replicas, *from);
      if (!running)
        return running.status();
      found.running = std::move(*running);
      for (const std::string &name : found.running.newMetrics)
        logWarning(fmt::format("metric @{} counts from here on only: {} has "
                               "none of that name and kind for this epoch",
                               name, from->path()));
    }
  }
  int64_t *const numbers[] = {
      &progress.steps,          &progress.samples,
      &progress.skippedUpdates, &progress.badRows,
      &progress.epoch,          &progress.epochSteps,
      &progress.epochSamples,   &progress.epochSkippedUpdates,
      &progress.lossLines};
  std::vector<int64_t> counts = {from != nullptr, isRunning,
                                 int64_t(found.seed)};
  for (const int64_t *number : numbers)
    counts.push_back(*number);
  const size_t positionsBegin = counts.size();
  progress.positions.resize(layout.groups);
  for (const DataPosition &position : progress.positions)
    appendPosition(position, counts);
  std::vector<double> sums = {found.running.lossSum, found.running.weightSum};
  sums.insert(sums.end(), found.running.metrics.sums.begin(),
              found.running.metrics.sums.end());

  PDLRT_RETURN_IF_ERROR(job.sum(counts, sums));
  if (counts[0] == 0)
    return std::optional<Resumption>();
  isRunning = counts[1] != 0;
  found.seed = uint64_t(counts[2]);
  for (size_t i = 0; i < std::size(numbers); ++i)
    *numbers[i] = counts[3 + i];
  progress.positions = positionsAt(counts.data() + positionsBegin,
                                   isRunning ? layout.groups : 0);
  found.running.lossSum = sums[0];
  found.running.weightSum = sums[1];
  found.running.metrics.sums.assign(sums.begin() + 2, sums.end());
  return std::optional<Resumption>(std::move(found));
}

Status pdlrt::gatherProgress(const ReplicaLayout &layout,
                             TrainingProgress &progress, RunningEpoch &running,
                             Job &job) {
  const bool isRunning = !progress.positions.empty();
  std::vector<int64_t> counts = {progress.badRows, progress.epochSamples};
  const size_t positionsBegin = counts.size();
  std::vector<DataPosition> all(layout.groups);
  for (int g = 0; isRunning && g < layout.localGroups; ++g)
    all[layout.firstGroup + g] = progress.positions[g];
  for (const DataPosition &position : all)
    appendPosition(position, counts);
  PDLRT_RETURN_IF_ERROR(job.sum(counts, running.metrics.sums));
  progress.badRows = counts[0];
  progress.epochSamples = counts[1];
  if (isRunning)
    progress.positions =
        positionsAt(counts.data() + positionsBegin, layout.groups);
  return {};
}
