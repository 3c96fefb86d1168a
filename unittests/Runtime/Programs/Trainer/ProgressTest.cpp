//===- ProgressTest.cpp - Text of progress and reports --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"

#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Programs/Trainer/Progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace pdlrt;

TEST(Progress, WithoutATotal) {
  EXPECT_EQ(
      Progress::describe("epoch 1", {1000, 10, 0, 0.5, 0.75}, {500}, true),
      "epoch 1 step 10, 1000 samples, 500 samples/s, loss 0.5000, AUC "
      "0.7500");
}

TEST(Progress, BarOnATerminalOnly) {
  const ProgressState state = {1000, 10, 20, std::nan(""), std::nan("")};
  EXPECT_EQ(Progress::describe("e", state, {1000}, true),
            "e [============            ]  50% step 10, 1000 samples, 1000 "
            "samples/s");
  EXPECT_EQ(Progress::describe("e", state, {1000}, false),
            "e  50% step 10, 1000 samples, 1000 samples/s");
}

TEST(Progress, LatestStepsAndTimeLeft) {
  ProgressState state = {1000, 10, 20, 0.5, 0.75};
  state.latestLoss = 0.25;
  state.keys = 77;
  state.memoryBytes = int64_t(3) << 29;
  EXPECT_EQ(Progress::describe("e", state, {7, 59.5}, false),
            "e  50% step 10, 1000 samples, 7 samples/s, loss 0.2500 (epoch "
            "0.5000), AUC 0.7500, 1 min 0 s left, 77 keys, 1.5 GiB");
  EXPECT_EQ(Progress::describe("e", {}, {0, 7290}, false),
            "e step 0, 0 samples, 0 samples/s, loss 0.0000, AUC 0.0000, 2 h 1 "
            "min left");
}

TEST(Progress, RateBetweenTwoDisplays) {
  const ProgressState before = {1000, 10, 40}, now = {3000, 30, 40};
  const ProgressRate rate = Progress::rateOf(before, now, 4);
  EXPECT_EQ(rate.samplesPerSecond, 500);
  EXPECT_EQ(rate.secondsLeft, 2);
  // The number of steps is not known, or is wrong, or no step was done.
  EXPECT_TRUE(std::isnan(Progress::rateOf({}, {3000, 30, 0}, 4).secondsLeft));
  EXPECT_TRUE(std::isnan(Progress::rateOf({}, {3000, 30, 20}, 4).secondsLeft));
  EXPECT_TRUE(std::isnan(Progress::rateOf(now, now, 4).secondsLeft));
  EXPECT_EQ(Progress::rateOf(before, now, 0).samplesPerSecond, 0);
}

TEST(PassReport, Lines) {
  PassReport report;
  StepResult step;
  step.lossSum = 3;
  step.weightSum = 4;
  step.samples = 4;
  report.add(step);
  step.lossSum = 1;
  step.skipped = true;
  report.add(step);
  EXPECT_EQ(report.meanLoss(), 0.5);
  EXPECT_EQ(report.samples, 8);
  EXPECT_EQ(report.skippedUpdates, 1);
  report.metrics = {{0.91554, ""}, {std::nan(""), ""}, {1, ""}};
  EXPECT_EQ(
      reportLines("test", *handWrittenProgram({}), true, report),
      (std::vector<std::string>{"test loss 0.500000", "test AUC 0.9155 (@auc)",
                                "test COPC 1.0000 (@copc)"}));
}

TEST(PassReport, NamesMetricsThatShareAKind) {
  pdl_descriptor descriptor = *handWrittenProgram({});
  const pdl_metric metrics[] = {
      {sizeof(pdl_metric), "click", PDL_METRIC_AUC, 16},
      {sizeof(pdl_metric), "buy", PDL_METRIC_AUC, 16},
      {sizeof(pdl_metric), "loss", PDL_METRIC_MEAN, 0}};
  descriptor.metric_count = 3;
  descriptor.metrics = metrics;
  PassReport report;
  report.metrics = {{0.5, ""}, {0.25, ""}, {0.75, ""}};
  EXPECT_EQ(reportLines("train", descriptor, false, report),
            (std::vector<std::string>{"train AUC 0.5000 (@click)",
                                      "train AUC 0.2500 (@buy)",
                                      "train mean 0.750000 (@loss)"}));
  // A remark on a value follows the name.
  report.metrics[1].remark = "of few";
  EXPECT_EQ(reportLines("train", descriptor, false, report)[1],
            "train AUC 0.2500 (@buy; of few)");
  // No line is omitted.
  report.metrics = {{0.5, ""}, {std::nan(""), "because"}, {std::nan(""), ""}};
  EXPECT_EQ(reportLines("train", descriptor, false, report),
            (std::vector<std::string>{"train AUC 0.5000 (@click)",
                                      "train AUC undefined: because (@buy)"}));
  report.metrics.assign(3, {std::nan(""), ""});
  EXPECT_EQ(reportLines("train", descriptor, false, report),
            std::vector<std::string>{"train metrics undefined: nothing of any "
                                     "weight was observed"});
}

// A metric that the compiler added is not printed, but its values are checked.
TEST(PassReport, WarnsOnceOfNumbersOutsideOfTheirRange) {
  pdl_descriptor descriptor = *handWrittenProgram({});
  const pdl_metric metrics[] = {
      {sizeof(pdl_metric), "auc", PDL_METRIC_AUC, 2},
      {sizeof(pdl_metric), "labels.range", PDL_METRIC_BUCKET_ERROR, 2}};
  descriptor.metric_count = 2;
  descriptor.metrics = metrics;
  RangeWarnings warnings(descriptor);
  const auto logOf = [&](int32_t metric, double outside) {
    testing::internal::CaptureStderr();
    const double sums[] = {1, 0, 0, 1, outside};
    warnings.check(metric, sums);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logOf(0, 0), "");
  EXPECT_THAT(logOf(0, 3),
              testing::HasSubstr("metric @auc expects probabilities, and 3 "
                                 "predictions so far lie outside of [0, 1]"));
  EXPECT_EQ(logOf(0, 5), "");
  EXPECT_THAT(logOf(1, 7), testing::HasSubstr("7 samples so far have a label "
                                              "outside of [0, 1]"));
  EXPECT_EQ(logOf(1, 8), "");
  PassReport report;
  report.metrics = {{0.5, ""}, {std::nan(""), "because"}};
  EXPECT_EQ(reportLines("train", descriptor, false, report),
            std::vector<std::string>{"train AUC 0.5000 (@auc)"});
  // Without a metric of the model there is no warning.
  descriptor.metric_count = 1;
  descriptor.metrics = metrics + 1;
  report.metrics = {{std::nan(""), ""}};
  EXPECT_EQ(reportLines("train", descriptor, false, report),
            std::vector<std::string>{});
}

TEST(PassReport, AMetricWithoutAValueSaysWhy) {
  auto why = [](int32_t kind, std::vector<double> sums) {
    return whyUndefined({sizeof(pdl_metric), "m", kind, 2}, sums);
  };
  EXPECT_EQ(why(PDL_METRIC_AUC, {0, 0, 1, 1}),
            "no negative labels of any weight");
  EXPECT_EQ(why(PDL_METRIC_AUC, {1, 1, 0, 0}),
            "no positive labels of any weight");
  EXPECT_EQ(why(PDL_METRIC_AUC, {1, 1, 0, 1}), "");
  // The same result as for a metric that the program does not observe.
  EXPECT_EQ(why(PDL_METRIC_AUC, {0, 0, 0, 0}), "");
  EXPECT_EQ(why(PDL_METRIC_AUC, {std::nan(""), 1, 0, 1}),
            "it observed a number that is not finite");
  EXPECT_EQ(why(PDL_METRIC_COPC, {1, 0}), "the predictions sum to 0");
  EXPECT_EQ(why(PDL_METRIC_MEAN, {1, 0}), "the weights sum to 0");
  EXPECT_EQ(why(PDL_METRIC_LOG_LOSS, {1, 2}), "");
  EXPECT_EQ(why(PDL_METRIC_RMSE, {-1, 2}),
            "the mean of the squares is below 0: a weight is negative");
  EXPECT_EQ(why(PDL_METRIC_RMSE, {1, 0}), "the weights sum to 0");
  EXPECT_EQ(why(PDL_METRIC_BUCKET_ERROR, {1, 1, 0, 1}),
            "no span of predictions holds enough samples");
  EXPECT_EQ(why(PDL_METRIC_MRR, {1, 0}), "the weights sum to 0");
}

TEST(PassReport, NamesHowManyItemsAMetricLooksAt) {
  pdl_descriptor descriptor = *handWrittenProgram({});
  const pdl_metric metrics[] = {
      {sizeof(pdl_metric), "a", PDL_METRIC_ACCURACY_AT, 1},
      {sizeof(pdl_metric), "r", PDL_METRIC_RECALL_AT, 20},
      {sizeof(pdl_metric), "n", PDL_METRIC_NDCG_AT, 10},
      {sizeof(pdl_metric), "m", PDL_METRIC_MRR, 0}};
  descriptor.metric_count = 4;
  descriptor.metrics = metrics;
  PassReport report;
  report.metrics = {{0.5, ""}, {0.25, ""}, {0.75, ""}, {1, ""}};
  EXPECT_EQ(reportLines("test", descriptor, false, report),
            (std::vector<std::string>{
                "test accuracy@1 0.5000 (@a)", "test recall@20 0.2500 (@r)",
                "test NDCG@10 0.7500 (@n)", "test MRR 1.0000 (@m)"}));
}
