//===- Bookmark.cpp - Where a trainer that died goes on -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trainer/Bookmark.h"

#include "pdlrt/Comm/ExchangeCodec.h"
#include "pdlrt/Core/Metrics.h"

#include <algorithm>

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
  visit(bookmark.savedSteps);
  visit(bookmark.savedEpoch);
  visit(bookmark.report.samples);
  visit(bookmark.report.steps);
  visit(bookmark.report.skippedUpdates);
  visit(bookmark.earlierBadRows);
  visit(bookmark.step.samples);
}

Message pdlrt::encodeBookmark(const Bookmark &bookmark) {
  ReduceVectors vectors;
  std::vector<int64_t> &counts = vectors.counts;
  counts = {int64_t(bookmark.place), bookmark.epochEnded, bookmark.step.stop,
            int64_t(bookmark.positions.size())};
  forEachNumber(bookmark, [&](int64_t number) { counts.push_back(number); });
  for (const DataPosition &position : bookmark.positions)
    counts.insert(counts.end(), {position.epoch, position.window,
                                 position.offset, position.batch});
  counts.insert(counts.end(), bookmark.counts.begin(), bookmark.counts.end());
  vectors.sums = {bookmark.report.lossSum, bookmark.report.weightSum};
  vectors.sums.insert(vectors.sums.end(), bookmark.sums.begin(),
                      bookmark.sums.end());
  return encodeReduce(vectors);
}

Expected<Bookmark> pdlrt::decodeBookmark(const Message &message) {
  const Status damaged = Status::invalid(
      "what the servers keep of this trainer's earlier start is damaged: end "
      "all trainers and servers, and start them from the last checkpoint");
  constexpr int64_t positionFields = 4;
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
      counts[0] > int64_t(Bookmark::Place::EpochEnds) || groups < 0 ||
      groups > (int64_t(counts.size()) - heads) / positionFields)
    return damaged;
  bookmark.place = Bookmark::Place(counts[0]);
  bookmark.epochEnded = counts[1] != 0;
  bookmark.step.stop = counts[2] != 0;
  const int64_t *next = counts.data() + 4;
  forEachNumber(bookmark, [&](int64_t &number) { number = *next++; });
  for (int64_t g = 0; g < groups; ++g, next += positionFields)
    bookmark.positions.push_back({next[0], next[1], next[2], next[3]});
  bookmark.counts.assign(next, counts.data() + counts.size());
  bookmark.report.lossSum = vectors->sums[0];
  bookmark.report.weightSum = vectors->sums[1];
  bookmark.sums.assign(vectors->sums.begin() + 2, vectors->sums.end());
  return bookmark;
}

/// Metric by metric, in it replica by replica.
template <typename Visit>
static void forEachMetric(const pdl_descriptor &descriptor,
                          const ReplicaSet &set, Visit visit) {
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    for (int r = 0; r < set.count(); ++r)
      visit(metricCountSize(descriptor.metrics[m]),
            metricSumSize(descriptor.metrics[m]), set[r].metric(m));
}

void pdlrt::collectMetrics(const pdl_descriptor &descriptor,
                           const ReplicaSet &set, Bookmark &bookmark) {
  forEachMetric(descriptor, set,
                [&](int64_t counts, int64_t sums, const pdl_metric_data &data) {
                  bookmark.counts.insert(bookmark.counts.end(), data.counts,
                                         data.counts + counts);
                  bookmark.sums.insert(bookmark.sums.end(), data.sums,
                                       data.sums + sums);
                });
}

Status pdlrt::restoreMetrics(const pdl_descriptor &descriptor,
                             const Bookmark &bookmark, ReplicaSet &set) {
  size_t allCounts = 0, allSums = 0;
  forEachMetric(descriptor, set,
                [&](int64_t counts, int64_t sums, const pdl_metric_data &) {
                  allCounts += size_t(counts);
                  allSums += size_t(sums);
                });
  if (bookmark.counts.size() != allCounts || bookmark.sums.size() != allSums)
    return Status::invalid(
        "this trainer's earlier start had other workers or metrics: start it "
        "with the same command line as before");
  const int64_t *nextCount = bookmark.counts.data();
  const double *nextSum = bookmark.sums.data();
  forEachMetric(descriptor, set,
                [&](int64_t counts, int64_t sums, const pdl_metric_data &data) {
                  std::copy_n(nextCount, counts, data.counts);
                  std::copy_n(nextSum, sums, data.sums);
                  nextCount += counts;
                  nextSum += sums;
                });
  return {};
}
