//===- RecoveryRecord.cpp - Recovery records of trainers ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/RecoveryRecord.h"

#include "pdlrt/Data/PartitionPlaces.h"
#include "pdlrt/Protocol/ExchangeCodec.h"

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Calls `visit` with each integer of a record, in the order of the encoding.
/// Does not visit positions and metrics.
template <typename Of, typename Visit>
static void forEachNumber(Of &record, Visit visit) {
  visit(record.flags);
  visit(record.epoch);
  visit(record.totalSteps);
  visit(record.totalSamples);
  visit(record.skippedUpdates);
  visit(record.resumedSteps);
  visit(record.resumedSamples);
  visit(record.stepsInEpoch);
  visit(record.lossLines);
  visit(record.savedSteps);
  visit(record.savedEpoch);
  visit(record.report.samples);
  visit(record.report.steps);
  visit(record.report.skippedUpdates);
  visit(record.badRows);
  visit(record.step.samples);
  visit(record.agreedSteps);
  visit(record.passSteps);
  visit(record.dividedAt);
}

static Status damagedRecoveryRecord() {
  return Status::dataLoss(
      "what the servers keep of this trainer's earlier start is damaged: end "
      "all trainers and servers, and start them from the last checkpoint");
}

/// Calls `visit` with each number of a place.
template <typename Place, typename Visit>
static void forEachNumberOfPlace(Place &place, Visit visit) {
  for (auto *number : {&place.file, &place.row, &place.byte, &place.line})
    visit(*number);
}
static constexpr size_t placeNumbers = 4;

/// Appends the numbers of positions. For a position with places, `next` is the
/// negative number of places, and their numbers follow. Records of files have
/// no places, so their bytes are those of earlier versions.
static void appendPositions(const std::vector<DataPosition> &positions,
                            std::vector<int64_t> &counts) {
  const auto append = [&](int64_t number) { counts.push_back(number); };
  for (DataPosition position : positions) {
    if (!position.places.empty())
      position.next = -int64_t(position.places.size());
    forEachNumberOf(position, append);
    for (const StartPlace &place : position.places)
      forEachNumberOfPlace(place, append);
  }
}

/// Takes `groups` positions from the front of `counts`. Returns false if there
/// are fewer numbers.
static bool takePositions(int64_t groups, std::span<const int64_t> &counts,
                          std::vector<DataPosition> &positions) {
  const auto take = [&](int64_t &number) {
    number = counts.front();
    counts = counts.subspan(1);
  };
  for (int64_t g = 0; g < groups; ++g) {
    if (counts.size() < positionNumbers)
      return false;
    DataPosition &position = positions.emplace_back();
    forEachNumberOf(position, take);
    if (position.next >= 0)
      continue;
    const uint64_t count = -static_cast<uint64_t>(position.next);
    position.next = 0;
    if (count > counts.size() / placeNumbers)
      return false;
    std::vector<StartPlace> places(static_cast<size_t>(count));
    for (StartPlace &place : places)
      forEachNumberOfPlace(place, take);
    position.places = PartitionPlaces(std::move(places));
  }
  return true;
}

Message pdlrt::encodeRecoveryRecord(const RecoveryRecord &record) {
  ReduceVectors vectors;
  std::vector<int64_t> &counts = vectors.counts;
  counts = {int64_t(record.place), record.epochEnded, record.step.stop,
            record.stepsEnded, int64_t(record.positions.size())};
  forEachNumber(record, [&](int64_t number) { counts.push_back(number); });
  appendPositions(record.positions, counts);
  // Only topics have event times. So records of files have the bytes of
  // earlier versions.
  if (record.savedEventTime > 0)
    counts.push_back(record.savedEventTime);
  vectors.sums = {record.report.lossSum, record.report.weightSum};
  vectors.sums.insert(vectors.sums.end(), record.metrics.sums.begin(),
                      record.metrics.sums.end());
  return encodeReduce(vectors);
}

Expected<RecoveryRecord> pdlrt::decodeRecoveryRecord(const Message &message) {
  const Status damaged = damagedRecoveryRecord();
  Expected<ReduceVectors> vectors = decodeReduce(message);
  RecoveryRecord record;
  int64_t heads = 5;
  forEachNumber(record, [&](int64_t) { ++heads; });
  if (!vectors || int64_t(vectors->counts.size()) < heads ||
      vectors->sums.size() < 2)
    return damaged;
  const std::vector<int64_t> &counts = vectors->counts;
  const int64_t groups = counts[4];
  if (counts[0] < int64_t(RecoveryRecord::Place::EpochBegins) ||
      counts[0] > int64_t(RecoveryRecord::Place::Meets) || groups < 0)
    return damaged;
  record.place = RecoveryRecord::Place(counts[0]);
  record.epochEnded = counts[1] != 0;
  record.step.stop = counts[2] != 0;
  record.stepsEnded = counts[3] != 0;
  const int64_t *next = counts.data() + 5;
  forEachNumber(record, [&](int64_t &number) { number = *next++; });
  std::span<const int64_t> left(next, counts.data() + counts.size());
  if (!takePositions(groups, left, record.positions) || left.size() > 1)
    return damaged;
  if (!left.empty())
    record.savedEventTime = left.front();
  record.report.lossSum = vectors->sums[0];
  record.report.weightSum = vectors->sums[1];
  record.metrics.sums.assign(vectors->sums.begin() + 2, vectors->sums.end());
  return record;
}

namespace {

/// Number of integers before the positions of a WorkerRecoveryRecord; and, for
/// each StepResult in it, number of integers and of floating-point numbers.
constexpr size_t workerHeads = 5, resultCounts = 2, resultSums = 3;

} // namespace

Message pdlrt::encodeRecoveryRecord(const WorkerRecoveryRecord &record) {
  ReduceVectors own;
  own.counts = {record.mark.done, record.mark.hasNext, record.badRows,
                int64_t(record.positions.size()),
                int64_t(record.mark.results.size())};
  appendPositions(record.positions, own.counts);
  for (const StepResult &result : record.mark.results) {
    own.counts.insert(own.counts.end(), {result.samples, result.skipped});
    own.sums.insert(own.sums.end(),
                    {result.lossSum, result.weightSum, result.otherWeights});
  }
  own.sums.insert(own.sums.end(), record.metrics.begin(), record.metrics.end());
  const std::string process = encodeRecoveryRecord(record.process).toString();
  const uint64_t size = process.size();
  std::string bytes(reinterpret_cast<const char *>(&size), sizeof(size));
  bytes += process + encodeReduce(own).toString();
  return Message::ofString(std::move(bytes));
}

Expected<WorkerRecoveryRecord>
pdlrt::decodeWorkerRecoveryRecord(const Message &message) {
  const std::string bytes = message.toString();
  uint64_t size = 0;
  if (bytes.size() < sizeof(size))
    return damagedRecoveryRecord();
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size() - sizeof(size))
    return damagedRecoveryRecord();
  Expected<RecoveryRecord> process =
      decodeRecoveryRecord(Message::ofString(bytes.substr(sizeof(size), size)));
  if (!process)
    return process.status();
  Expected<ReduceVectors> own =
      decodeReduce(Message::ofString(bytes.substr(sizeof(size) + size)));
  if (!own || own->counts.size() < workerHeads)
    return damagedRecoveryRecord();
  WorkerRecoveryRecord record;
  record.process = std::move(*process);
  const std::vector<int64_t> &counts = own->counts;
  record.mark.done = counts[0];
  record.mark.hasNext = counts[1] != 0;
  record.badRows = counts[2];
  const auto results = uint64_t(counts[4]);
  auto left = std::span(counts).subspan(workerHeads);
  if (record.mark.done < 0 || counts[3] < 0 ||
      !takePositions(counts[3], left, record.positions) ||
      results > left.size() || results * resultCounts != left.size() ||
      results > uint64_t(record.mark.done) ||
      results * resultSums > own->sums.size())
    return damagedRecoveryRecord();
  const int64_t *next = left.data();
  const double *sums = own->sums.data();
  for (uint64_t i = 0; i < results; ++i) {
    StepResult &result = record.mark.results.emplace_back();
    result.samples = *next++;
    result.skipped = *next++ != 0;
    result.lossSum = *sums++;
    result.weightSum = *sums++;
    result.otherWeights = *sums++;
  }
  record.metrics.assign(sums,
                        std::as_const(own->sums).data() + own->sums.size());
  return record;
}

Status pdlrt::restoreMetrics(const RecoveryRecord &record, ReplicaSet &set) {
  constexpr auto scope = ReplicaSet::MetricScope::Process;
  const MetricSums own = set.collectMetrics(scope);
  if (record.metrics.sums.size() != own.sums.size())
    return Status::failedPrecondition(
        "this trainer's earlier start had other workers or metrics: start it "
        "with the same command line as before");
  set.restoreMetrics(scope, record.metrics);
  return {};
}
