//===- Resumption.cpp - Shared progress of a resumed job ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/Resumption.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

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

/// Sends the numbers of one process to all, by a sum. All other processes must
/// have zeros.
static Status sumOfAll(std::vector<int64_t> &numbers, Job &job) {
  constexpr size_t atOnce = 65536;
  for (size_t begin = 0; begin < numbers.size(); begin += atOnce)
    PDLRT_RETURN_IF_ERROR(
        job.sum(std::span(numbers).subspan(
                    begin, std::min(atOnce, numbers.size() - begin)),
                {}));
  return {};
}

/// Sends the places of the positions to all processes. Each process has the
/// places of other positions than the other processes.
static Status sharePlaces(const std::vector<PartitionPlaces> &own,
                          std::vector<DataPosition> &positions, Job &job) {
  std::vector<int64_t> counts;
  for (const PartitionPlaces &places : own)
    counts.push_back(int64_t(places.size()));
  PDLRT_RETURN_IF_ERROR(sumOfAll(counts, job));
  std::vector<std::vector<StartPlace>> all;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < own.size(); ++i) {
    all.emplace_back(own[i].begin(), own[i].end()).resize(size_t(counts[i]));
    for (const StartPlace &place : all.back())
      numbers.insert(numbers.end(),
                     {place.file, place.row, place.byte, place.line});
  }
  PDLRT_RETURN_IF_ERROR(sumOfAll(numbers, job));
  const int64_t *next = numbers.data();
  for (size_t i = 0; i < all.size(); ++i) {
    for (StartPlace &place : all[i]) {
      place.file = *next++;
      place.row = *next++;
      place.byte = *next++;
      place.line = *next++;
    }
    positions[i].places = PartitionPlaces(std::move(all[i]));
  }
  return {};
}

/// Returns the places of each position.
static std::vector<PartitionPlaces>
placesOfAll(const std::vector<DataPosition> &positions) {
  std::vector<PartitionPlaces> all;
  for (const DataPosition &position : positions)
    all.push_back(position.places);
  return all;
}

/// Sends the positions that the first process has found to all processes.
static Status sharePositions(int groups, TrainingProgress &progress, Job &job) {
  progress.positions.resize(groups);
  std::vector<int64_t> numbers;
  for (const DataPosition &position : progress.positions)
    appendPosition(position, numbers);
  PDLRT_RETURN_IF_ERROR(sumOfAll(numbers, job));
  progress.positions = positionsAt(numbers.data(), groups);
  return {};
}

/// Sends the remaining rows of the epoch that the first process has found to
/// all processes.
static Status shareRest(std::shared_ptr<const EpochRest> &rest, Job &job) {
  std::vector<int64_t> heads(4);
  if (rest)
    heads = {rest->windows, rest->steps, int64_t(rest->runs.size()),
             int64_t(rest->places.size())};
  PDLRT_RETURN_IF_ERROR(job.sum(heads, {}));
  EpochRest all = rest ? *rest : EpochRest();
  all.windows = heads[0];
  all.steps = heads[1];
  if (!rest) {
    all.runs.assign(size_t(heads[2]), {0, 0, 0});
    all.places.resize(size_t(heads[3]));
  }
  std::vector<int64_t *> numbers;
  for (RowRun &run : all.runs)
    numbers.insert(numbers.end(), {&run.file, &run.begin, &run.end});
  for (StartPlace &place : all.places)
    numbers.insert(numbers.end(),
                   {&place.file, &place.row, &place.byte, &place.line});
  std::vector<int64_t> sums;
  for (const int64_t *number : numbers)
    sums.push_back(*number);
  PDLRT_RETURN_IF_ERROR(sumOfAll(sums, job));
  for (size_t i = 0; i < numbers.size(); ++i)
    *numbers[i] = sums[i];
  rest = std::make_shared<const EpochRest>(std::move(all));
  return {};
}

/// Loads the state of the running epoch from a checkpoint. If the checkpoint
/// was written with another number of replicas, gives the sums of all of them
/// to the first replica of this job.
static Status loadRunning(const pdl_descriptor &descriptor,
                          const ReplicaLayout &layout, const Checkpoint &from,
                          Resumption &found) {
  Expected<EpochDivision> division = EpochDivision::of(from);
  if (!division)
    return division.status();
  Expected<RunningEpoch> running =
      loadRunningEpoch(descriptor, division->replicas(), from);
  if (!running)
    return running.status();
  if ((division->steps > 0) != (running->rest != nullptr))
    return from.damaged("it does not have the rows that are left");
  found.running = std::move(*running);
  found.division = *division;
  for (const std::string &name : found.running.newMetrics)
    logWarning(fmt::format("metric @{} counts from here on only: {} has "
                           "none of that name and kind for this epoch",
                           name, from.path()));
  if (!isSame(found.division, layout))
    giveToFirst(descriptor, division->replicas(),
                layout.groups * layout.workers, found.running);
  return {};
}

/// Returns true if the positions are places in topics without end.
static bool hasPlaces(const TrainingProgress &progress) {
  return std::ranges::any_of(
      progress.positions,
      [](const DataPosition &position) { return !position.places.empty(); });
}

Expected<std::optional<Resumption>>
pdlrt::shareResumption(const pdl_descriptor &descriptor,
                       const ReplicaLayout &layout, const Checkpoint *from,
                       Job &job) {
  Resumption found;
  found.running.metrics =
      MetricSums(descriptor, layout.groups * layout.workers);
  TrainingProgress &progress = found.progress;
  bool isRunning = false;
  if (from) {
    found.seed = from->manifest().seed;
    progress = from->manifest().progress;
    isRunning = !progress.positions.empty();
    if (isRunning)
      PDLRT_RETURN_IF_ERROR(loadRunning(descriptor, layout, *from, found));
  }
  int64_t *const numbers[] = {
      &progress.steps,          &progress.samples,
      &progress.skippedUpdates, &progress.badRows,
      &progress.epoch,          &progress.epochSteps,
      &progress.epochSamples,   &progress.epochSkippedUpdates,
      &progress.lossLines};
  EpochDivision &division = found.division;
  std::vector<int64_t> counts = {from != nullptr,
                                 isRunning,
                                 int64_t(found.seed),
                                 isRunning ? division.groups : 0,
                                 isRunning ? division.workers : 0,
                                 division.steps,
                                 division.files,
                                 isRunning && hasPlaces(progress)};
  const size_t numbersBegin = counts.size();
  for (const int64_t *number : numbers)
    counts.push_back(*number);
  // The positions are sent with the other numbers, in one sum, unless the
  // checkpoint has another number of groups. Fewer sums before the first step
  // let a restarted trainer rejoin earlier.
  const size_t positionsBegin = counts.size();
  std::vector<DataPosition> own(layout.groups);
  if (isRunning && isSame(division, layout))
    own = progress.positions;
  for (const DataPosition &position : own)
    appendPosition(position, counts);
  std::vector<double> sums = {found.running.lossSum, found.running.weightSum};
  sums.insert(sums.end(), found.running.metrics.sums.begin(),
              found.running.metrics.sums.end());

  PDLRT_RETURN_IF_ERROR(job.sum(counts, sums));
  if (counts[0] == 0)
    return std::optional<Resumption>();
  isRunning = counts[1] != 0;
  found.seed = uint64_t(counts[2]);
  division = {int(counts[3]), int(counts[4]), counts[5], counts[6]};
  const bool sharesPlaces = counts[7] != 0;
  for (size_t i = 0; i < std::size(numbers); ++i)
    *numbers[i] = counts[numbersBegin + i];
  found.running.lossSum = sums[0];
  found.running.weightSum = sums[1];
  found.running.metrics.sums.assign(sums.begin() + 2, sums.end());
  if (!isRunning)
    return std::optional<Resumption>(std::move(found));
  std::vector<PartitionPlaces> places = placesOfAll(progress.positions);
  if (isSame(division, layout))
    progress.positions =
        positionsAt(counts.data() + positionsBegin, layout.groups);
  else
    PDLRT_RETURN_IF_ERROR(sharePositions(division.groups, progress, job));
  if (sharesPlaces) {
    places.resize(progress.positions.size());
    PDLRT_RETURN_IF_ERROR(sharePlaces(places, progress.positions, job));
  }
  if (division.steps > 0)
    PDLRT_RETURN_IF_ERROR(shareRest(found.running.rest, job));
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
  if (!isRunning)
    return {};
  // Each group has a partition, so all processes do the same here.
  const bool sharesPlaces = hasPlaces(progress);
  std::vector<PartitionPlaces> places = placesOfAll(all);
  progress.positions =
      positionsAt(counts.data() + positionsBegin, layout.groups);
  return sharesPlaces ? sharePlaces(places, progress.positions, job) : Status();
}
