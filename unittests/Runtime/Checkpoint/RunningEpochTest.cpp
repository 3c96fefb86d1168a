//===- RunningEpochTest.cpp - What an epoch has measured so far -----------===//
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
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::IsEmpty;

/// A checkpoint of a model with the epoch, opened.
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

// What is measured may change within an epoch.
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
  // The AUC has other buckets, COPC became a log loss, and one is new.
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
  // The sums of the log loss that stayed, for each replica; else zeros.
  const auto sumsOf = [&](size_t metric) {
    return replicas * pdlabi::metricSumCount(metrics[metric].kind,
                                             metrics[metric].parameter);
  };
  std::vector<double> sums(other->metrics.sums.size());
  std::fill_n(sums.begin() + sumsOf(0), sumsOf(1), 0.5);
  EXPECT_EQ(other->metrics.sums, sums);
}

// What a metric of groups keeps is there again, by replica.
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
  // Nothing for the first replica.
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
  // A metric that it does not know begins anew.
  metrics[1].name = "another";
  Expected<RunningEpoch> other =
      loadRunningEpoch(descriptor, replicas, *checkpoint);
  ASSERT_TRUE(other.ok()) << other.status().message();
  EXPECT_THAT(other->newMetrics, ElementsAre("another"));
  EXPECT_EQ(other->groups[3].size(), 0u);
}

// The sums of a recall@10 are as many as those of a recall@20, and something
// else.
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
