//===- Bookmark.cpp - Where a trainer that died goes on -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/Bookmark.h"

#include "pdlrt/Protocol/ExchangeCodec.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

using namespace pdlrt;

/// Calls `visit` with each whole number of a bookmark but positions and
/// metrics, in the order in which they travel.
template <typename Of, typename Visit>
static void forEachNumber(Of &bookmark, Visit visit) {
  visit(bookmark.flags);
  visit(bookmark.epoch);
  visit(bookmark.totalSteps);
  visit(bookmark.totalSamples);
  visit(bookmark.skippedUpdates);
  visit(bookmark.resumedSteps);
  visit(bookmark.resumedSamples);
  visit(bookmark.stepsInEpoch);
  visit(bookmark.lossLines);
  visit(bookmark.savedSteps);
  visit(bookmark.savedEpoch);
  visit(bookmark.report.samples);
  visit(bookmark.report.steps);
  visit(bookmark.report.skippedUpdates);
  visit(bookmark.badRows);
  visit(bookmark.step.samples);
  visit(bookmark.agreedSteps);
  visit(bookmark.passSteps);
}

static Status damagedBookmark() {
  return Status::invalid(
      "what the servers keep of this trainer's earlier start is damaged: end "
      "all trainers and servers, and start them from the last checkpoint");
}

Message pdlrt::encodeBookmark(const Bookmark &bookmark) {
  ReduceVectors vectors;
  std::vector<int64_t> &counts = vectors.counts;
  counts = {int64_t(bookmark.place), bookmark.epochEnded, bookmark.step.stop,
            bookmark.stepsEnded, int64_t(bookmark.positions.size())};
  forEachNumber(bookmark, [&](int64_t number) { counts.push_back(number); });
  for (const DataPosition &position : bookmark.positions)
    forEachNumberOf(position,
                    [&](int64_t number) { counts.push_back(number); });
  vectors.sums = {bookmark.report.lossSum, bookmark.report.weightSum};
  vectors.sums.insert(vectors.sums.end(), bookmark.metrics.sums.begin(),
                      bookmark.metrics.sums.end());
  return encodeReduce(vectors);
}

Expected<Bookmark> pdlrt::decodeBookmark(const Message &message) {
  const Status damaged = damagedBookmark();
  constexpr int64_t positionFields = positionNumbers;
  Expected<ReduceVectors> vectors = decodeReduce(message);
  Bookmark bookmark;
  int64_t heads = 5;
  forEachNumber(bookmark, [&](int64_t) { ++heads; });
  if (!vectors || int64_t(vectors->counts.size()) < heads ||
      vectors->sums.size() < 2)
    return damaged;
  const std::vector<int64_t> &counts = vectors->counts;
  const int64_t groups = counts[4];
  if (counts[0] < int64_t(Bookmark::Place::EpochBegins) ||
      counts[0] > int64_t(Bookmark::Place::Meets) ||
      (int64_t(counts.size()) - heads) % positionFields != 0 ||
      groups != (int64_t(counts.size()) - heads) / positionFields)
    return damaged;
  bookmark.place = Bookmark::Place(counts[0]);
  bookmark.epochEnded = counts[1] != 0;
  bookmark.step.stop = counts[2] != 0;
  bookmark.stepsEnded = counts[3] != 0;
  const int64_t *next = counts.data() + 5;
  forEachNumber(bookmark, [&](int64_t &number) { number = *next++; });
  for (int64_t g = 0; g < groups; ++g)
    forEachNumberOf(bookmark.positions.emplace_back(),
                    [&](int64_t &number) { number = *next++; });
  bookmark.report.lossSum = vectors->sums[0];
  bookmark.report.weightSum = vectors->sums[1];
  bookmark.metrics.sums.assign(vectors->sums.begin() + 2, vectors->sums.end());
  return bookmark;
}

namespace {

/// Numbers of a WorkerBookmark before its positions, and of each result.
constexpr size_t workerHeads = 5, resultCounts = 2, resultSums = 3;

} // namespace

Message pdlrt::encodeBookmark(const WorkerBookmark &bookmark) {
  ReduceVectors own;
  own.counts = {bookmark.mark.done, bookmark.mark.hasNext, bookmark.badRows,
                int64_t(bookmark.positions.size()),
                int64_t(bookmark.mark.results.size())};
  for (const DataPosition &position : bookmark.positions)
    forEachNumberOf(position,
                    [&](int64_t number) { own.counts.push_back(number); });
  for (const StepResult &result : bookmark.mark.results) {
    own.counts.insert(own.counts.end(), {result.samples, result.skipped});
    own.sums.insert(own.sums.end(),
                    {result.lossSum, result.weightSum, result.otherWeights});
  }
  own.sums.insert(own.sums.end(), bookmark.metrics.begin(),
                  bookmark.metrics.end());
  const std::string process = encodeBookmark(bookmark.process).toString();
  const uint64_t size = process.size();
  std::string bytes(reinterpret_cast<const char *>(&size), sizeof(size));
  bytes += process + encodeReduce(own).toString();
  return Message::ofString(std::move(bytes));
}

Expected<WorkerBookmark> pdlrt::decodeWorkerBookmark(const Message &message) {
  const std::string bytes = message.toString();
  uint64_t size = 0;
  if (bytes.size() < sizeof(size))
    return damagedBookmark();
  std::memcpy(&size, bytes.data(), sizeof(size));
  if (size > bytes.size() - sizeof(size))
    return damagedBookmark();
  Expected<Bookmark> process =
      decodeBookmark(Message::ofString(bytes.substr(sizeof(size), size)));
  if (!process)
    return process.status();
  Expected<ReduceVectors> own =
      decodeReduce(Message::ofString(bytes.substr(sizeof(size) + size)));
  if (!own || own->counts.size() < workerHeads)
    return damagedBookmark();
  WorkerBookmark bookmark;
  bookmark.process = std::move(*process);
  const std::vector<int64_t> &counts = own->counts;
  bookmark.mark.done = counts[0];
  bookmark.mark.hasNext = counts[1] != 0;
  bookmark.badRows = counts[2];
  const auto positions = uint64_t(counts[3]), results = uint64_t(counts[4]);
  const size_t left = counts.size() - workerHeads;
  if (bookmark.mark.done < 0 || positions > left || results > left ||
      positions * positionNumbers + results * resultCounts != left ||
      results > uint64_t(bookmark.mark.done) ||
      results * resultSums > own->sums.size())
    return damagedBookmark();
  const int64_t *next = counts.data() + workerHeads;
  for (uint64_t i = 0; i < positions; ++i)
    forEachNumberOf(bookmark.positions.emplace_back(),
                    [&](int64_t &number) { number = *next++; });
  const double *sums = own->sums.data();
  for (uint64_t i = 0; i < results; ++i) {
    StepResult &result = bookmark.mark.results.emplace_back();
    result.samples = *next++;
    result.skipped = *next++ != 0;
    result.lossSum = *sums++;
    result.weightSum = *sums++;
    result.otherWeights = *sums++;
  }
  bookmark.metrics.assign(sums,
                          std::as_const(own->sums).data() + own->sums.size());
  return bookmark;
}

Status pdlrt::restoreMetrics(const Bookmark &bookmark, ReplicaSet &set) {
  constexpr auto scope = ReplicaSet::MetricScope::Process;
  const MetricSums own = set.collectMetrics(scope);
  if (bookmark.metrics.sums.size() != own.sums.size())
    return Status::invalid(
        "this trainer's earlier start had other workers or metrics: start it "
        "with the same command line as before");
  set.restoreMetrics(scope, bookmark.metrics);
  return {};
}
