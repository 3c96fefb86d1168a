//===- RunningEpochTest.cpp - State of a running epoch --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "Support/TestFolder.h"

#include "pdlabi/metrics.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/State/Model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::IsEmpty;

/// Saves a checkpoint of a model with the epoch, and opens it.
static Expected<Checkpoint> saved(const pdl_descriptor &descriptor,
                                  const RunningEpoch &running, int replicas,
                                  const std::string &path) {
  CheckpointWriter writer(path);
  CheckpointManifest manifest;
  PDLRT_RETURN_IF_ERROR(
      saveModel(Model(*handWrittenProgram({}), 3), writer, manifest));
  PDLRT_RETURN_IF_ERROR(
      saveRunningEpoch(descriptor, running, replicas, writer));
  PDLRT_RETURN_IF_ERROR(writer.commit(std::move(manifest)));
  return Checkpoint::open(path);
}

// The metrics may change within an epoch.
TEST(RunningEpoch, MetricsGoByNameAndKind) {
  TestFolder folder;
  const pdl_descriptor &descriptor = *handWrittenProgram({});
  constexpr int replicas = 2;
  RunningEpoch running = {1, 2, MetricSums(descriptor, replicas), {}};
  std::fill(running.metrics.sums.begin(), running.metrics.sums.end(), 0.5);
  Expected<Checkpoint> checkpoint =
      saved(descriptor, running, replicas, folder.file("c"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Expected<RunningEpoch> same =
      loadRunningEpoch(descriptor, replicas, *checkpoint);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_THAT(same->newMetrics, IsEmpty());
  EXPECT_THAT(same->metrics.sums, testing::Each(0.5));
  EXPECT_FALSE(loadRunningEpoch(descriptor, 3, *checkpoint).ok());
  // The AUC has other buckets, COPC became a log loss, and one metric is new.
  std::vector<pdl_metric> metrics(descriptor.metrics,
                                  descriptor.metrics + descriptor.metric_count);
  metrics[0].parameter *= 2;
  metrics[2].kind = PDL_METRIC_LOG_LOSS;
  metrics.push_back(metrics[1]);
  metrics.back().name = "another";
  pdl_descriptor edited = descriptor;
  edited.metrics = metrics.data();
  edited.metric_count = int32_t(metrics.size());
  Expected<RunningEpoch> other =
      loadRunningEpoch(edited, replicas, *checkpoint);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_THAT(other->newMetrics,
              ElementsAre(metrics[0].name, metrics[2].name, "another"));
  // Sums of the unchanged log loss, for each replica; all others are zero.
  const auto sumsOf = [&](size_t metric) {
    return replicas * pdlabi::metricSumCount(metrics[metric].kind,
                                             metrics[metric].parameter);
  };
  std::vector<double> sums(other->metrics.sums.size());
  std::fill_n(sums.begin() + sumsOf(0), sumsOf(1), 0.5);
  EXPECT_EQ(other->metrics.sums, sums);
}

// Samples of a group metric are restored, by replica.
TEST(RunningEpoch, GroupsAreKept) {
  TestFolder folder;
  pdl_metric metrics[] = {
      {sizeof(pdl_metric), "rmse", PDL_METRIC_RMSE, 0},
      {sizeof(pdl_metric), "gauc", PDL_METRIC_GROUPED_AUC, 0}};
  pdl_descriptor descriptor = *handWrittenProgram({});
  descriptor.metrics = metrics;
  descriptor.metric_count = 2;
  constexpr int replicas = 2;
  RunningEpoch running = {1, 2, MetricSums(descriptor, replicas), {}};
  running.groups.resize(4);
  // The first replica has no samples.
  running.groups[3].add(INT64_MIN, -0.5, true, 2);
  running.groups[3].add(7, 0.25, false, 0.5);
  Expected<Checkpoint> checkpoint =
      saved(descriptor, running, replicas, folder.file("c"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Expected<RunningEpoch> same =
      loadRunningEpoch(descriptor, replicas, *checkpoint);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_THAT(same->newMetrics, IsEmpty());
  ASSERT_EQ(same->groups.size(), 4u);
  EXPECT_EQ(same->groups[2].size(), 0u);
  EXPECT_THAT(same->groups[3].groups, ElementsAre(INT64_MIN, 7));
  EXPECT_THAT(same->groups[3].predictions, ElementsAre(-0.5, 0.25));
  EXPECT_THAT(same->groups[3].labels, ElementsAre(1, 0));
  EXPECT_THAT(same->groups[3].weights, ElementsAre(2, 0.5));
  // The sums of an unknown metric start at zero.
  metrics[1].name = "another";
  Expected<RunningEpoch> other =
      loadRunningEpoch(descriptor, replicas, *checkpoint);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_THAT(other->newMetrics, ElementsAre("another"));
  EXPECT_EQ(other->groups[3].size(), 0u);
}

// The sums of a recall@10 have the same size as those of a recall@20, but
// another meaning.
TEST(RunningEpoch, MetricsGoByTheirParameter) {
  TestFolder folder;
  pdl_metric metrics[] = {
      {sizeof(pdl_metric), "recall", PDL_METRIC_RECALL_AT, 10},
      {sizeof(pdl_metric), "accuracy", PDL_METRIC_ACCURACY, 0.5}};
  pdl_descriptor descriptor = *handWrittenProgram({});
  descriptor.metrics = metrics;
  descriptor.metric_count = 2;
  RunningEpoch running = {1, 2, MetricSums(descriptor, 1), {}};
  running.metrics.sums = {1, 2, 3, 4};
  Expected<Checkpoint> checkpoint =
      saved(descriptor, running, 1, folder.file("c"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Expected<RunningEpoch> same = loadRunningEpoch(descriptor, 1, *checkpoint);
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_THAT(same->newMetrics, IsEmpty());
  EXPECT_THAT(same->metrics.sums, ElementsAre(1, 2, 3, 4));
  metrics[0].parameter = 20;
  Expected<RunningEpoch> other = loadRunningEpoch(descriptor, 1, *checkpoint);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_THAT(other->newMetrics, ElementsAre("recall"));
  EXPECT_THAT(other->metrics.sums, ElementsAre(0, 0, 3, 4));
}

// In a job with other replicas, the first one gets all counts.
TEST(RunningEpoch, CountsGoToTheFirstOfOtherReplicas) {
  pdl_metric metrics[] = {
      {sizeof(pdl_metric), "accuracy", PDL_METRIC_ACCURACY, 0.5},
      {sizeof(pdl_metric), "gauc", PDL_METRIC_GROUPED_AUC, 0}};
  pdl_descriptor descriptor = *handWrittenProgram({});
  descriptor.metrics = metrics;
  descriptor.metric_count = 2;
  RunningEpoch running = {1, 2, MetricSums(descriptor, 3), {}};
  std::fill(running.metrics.sums.begin(), running.metrics.sums.begin() + 6, 5);
  running.metrics.sums[2] = 7;
  running.groups.resize(6);
  running.groups[4].add(1, 0.5, true, 2);
  running.groups[5].add(3, 0.25, false, 1);
  RunningEpoch fewer = running;
  giveToFirst(descriptor, 3, 2, fewer);
  EXPECT_EQ(fewer.metrics.sums.size(), MetricSums(descriptor, 2).sums.size());
  fewer.metrics.sums.resize(4);
  EXPECT_THAT(fewer.metrics.sums, ElementsAre(17, 15, 0, 0));
  ASSERT_EQ(fewer.groups.size(), 4u);
  EXPECT_THAT(fewer.groups[2].groups, ElementsAre(1, 3));
  EXPECT_EQ(fewer.groups[3].size(), 0u);
  giveToFirst(descriptor, 3, 5, running);
  EXPECT_EQ(running.groups.size(), 10u);
  EXPECT_THAT(running.groups[5].weights, ElementsAre(2, 1));
}

// The remaining rows, and the replicas among which they are divided.
TEST(RunningEpoch, ARestIsKept) {
  TestFolder folder;
  const pdl_descriptor &descriptor = *handWrittenProgram({});
  RunningEpoch running = {1, 2, MetricSums(descriptor, 2), {}};
  EpochRest rest;
  rest.runs = {{0, 5, 9}, {0, 12, 13}, {2, 0, RowRun::endOfFile}};
  rest.places = {{0, 4, 77, 6}};
  rest.windows = 3;
  rest.steps = 40;
  running.rest = std::make_shared<const EpochRest>(rest);
  Expected<Checkpoint> checkpoint =
      saved(descriptor, running, 2, folder.file("c"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  Expected<RunningEpoch> same = loadRunningEpoch(descriptor, 2, *checkpoint);
  ASSERT_TRUE(same.ok()) << same.status().message();
  ASSERT_TRUE(same->rest);
  EXPECT_EQ(*same->rest, rest);
  rest.runs[1].begin = 8;
  running.rest = std::make_shared<const EpochRest>(rest);
  checkpoint = saved(descriptor, running, 2, folder.file("d"));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_FALSE(loadRunningEpoch(descriptor, 2, *checkpoint).ok());
}

TEST(RunningEpoch, TheDivisionIsASetting) {
  TestFolder folder;
  int count = 0;
  const auto division = [&](const std::string &text, size_t groups) {
    CheckpointWriter writer(folder.file(std::to_string(count++)));
    CheckpointManifest manifest;
    EXPECT_TRUE(
        saveModel(Model(*handWrittenProgram({}), 3), writer, manifest).ok());
    manifest.settings = {{"--replicas", text}};
    manifest.progress.positions.resize(groups);
    EXPECT_TRUE(writer.commit(std::move(manifest)).ok());
    Expected<Checkpoint> checkpoint =
        Checkpoint::open(folder.file(std::to_string(count - 1)));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    return EpochDivision::of(*checkpoint);
  };
  for (const EpochDivision &one :
       {EpochDivision{2, 3, 0}, EpochDivision{4, 1, 40}}) {
    const Expected<EpochDivision> same = division(one.text(), one.groups);
    ASSERT_TRUE(same.ok()) << same.status().message();
    EXPECT_EQ(same->workers, one.workers);
    EXPECT_EQ(same->steps, one.steps);
  }
  EXPECT_FALSE(division("2x3", 3).ok());
  for (const char *text : {"", "2", "2x", "0x1", "2x3 from step", "2x3 on",
                           "2x3 from step 0 on", "2x3 from step 9", "2 x3"})
    EXPECT_FALSE(division(text, 2).ok()) << text;
}
