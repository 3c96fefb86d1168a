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

using namespace pdlrt;

/// Calls `visit` with each whole number of a bookmark but positions and
/// metrics, in the order in which they travel.
template <typename Of, typename Visit>
static void forEachNumber(Of &bookmark, Visit visit) {
  visit(bookmark.flags);
  visit(bookmark.epoch);
  visit(bookmark.totalSteps);
  visit(bookmark.agreedSteps);
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
}

Message pdlrt::encodeBookmark(const Bookmark &bookmark) {
  ReduceVectors vectors;
  std::vector<int64_t> &counts = vectors.counts;
  counts = {int64_t(bookmark.place), bookmark.epochEnded, bookmark.step.stop,
            int64_t(bookmark.positions.size())};
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
  const Status damaged = Status::invalid(
      "what the servers keep of this trainer's earlier start is damaged: end "
      "all trainers and servers, and start them from the last checkpoint");
  constexpr int64_t positionFields = positionNumbers;
  Expected<ReduceVectors> vectors = decodeReduce(message);
  Bookmark bookmark;
  int64_t heads = 4;
  forEachNumber(bookmark, [&](int64_t) { ++heads; });
  if (!vectors || int64_t(vectors->counts.size()) < heads ||
      vectors->sums.size() < 2)
    return damaged;
  const std::vector<int64_t> &counts = vectors->counts;
  const int64_t groups = counts[3];
  if (counts[0] < int64_t(Bookmark::Place::EpochBegins) ||
      counts[0] > int64_t(Bookmark::Place::EpochEnds) ||
      (int64_t(counts.size()) - heads) % positionFields != 0 ||
      groups != (int64_t(counts.size()) - heads) / positionFields)
    return damaged;
  bookmark.place = Bookmark::Place(counts[0]);
  bookmark.epochEnded = counts[1] != 0;
  bookmark.step.stop = counts[2] != 0;
  const int64_t *next = counts.data() + 4;
  forEachNumber(bookmark, [&](int64_t &number) { number = *next++; });
  for (int64_t g = 0; g < groups; ++g)
    forEachNumberOf(bookmark.positions.emplace_back(),
                    [&](int64_t &number) { number = *next++; });
  bookmark.report.lossSum = vectors->sums[0];
  bookmark.report.weightSum = vectors->sums[1];
  bookmark.metrics.sums.assign(vectors->sums.begin() + 2, vectors->sums.end());
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
