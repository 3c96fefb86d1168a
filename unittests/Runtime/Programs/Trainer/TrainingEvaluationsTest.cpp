//===- TrainingEvaluationsTest.cpp - Evaluations while training -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingEvaluations.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace pdlrt;
using Goal = TrackedMetric::Goal;
using Purpose = TrainingEvaluations::Purpose;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

pdl_metric metricOf(const char *name, int32_t kind) {
  pdl_metric metric = {};
  metric.struct_size = sizeof metric;
  metric.name = name;
  metric.kind = kind;
  return metric;
}

/// A model with some metrics, and a program that evaluates it.
struct EvaluatedModel {
  explicit EvaluatedModel(std::vector<pdl_metric> all)
      : metrics(std::move(all)) {
    descriptor.metrics = metrics.data();
    descriptor.metric_count = int32_t(metrics.size());
    program.name = "evaluate";
  }

  std::vector<pdl_metric> metrics;
  pdl_descriptor descriptor = {};
  pdl_program program = {};
};

EvaluatedModel clickModel() {
  return EvaluatedModel({metricOf("loss_of_clicks", PDL_METRIC_LOG_LOSS),
                         metricOf("auc", PDL_METRIC_AUC),
                         metricOf("copc", PDL_METRIC_COPC)});
}

/// A training whose evaluations return given values of its AUC.
class EvaluatedTraining {
public:
  EvaluatedTraining(int64_t every, int64_t patience, double minDelta = 0)
      : model(clickModel()) {
    options.evaluateEvery = every;
    options.patience = patience;
    options.minDelta = minDelta;
    evaluations.emplace(
        model.descriptor, &model.program, options, state,
        [this](PassReport &report) -> Expected<bool> {
          if (fails)
            return Status::ioError("no data");
          report.samples = 1;
          report.metrics = {{0.3, ""}, {next, ""}, {1.0, ""}};
          return !isInterrupted;
        },
        [this](int64_t steps, const PassReport &) { noted.push_back(steps); });
  }

  TrainingEvaluations *operator->() { return &*evaluations; }
  void evaluate(int64_t steps, double auc,
                Purpose purpose = Purpose::WithinEpoch) {
    next = auc;
    ASSERT_TRUE(evaluations->run(steps, purpose).ok());
  }

  bool isInterrupted = false, fails = false;
  /// Steps of the evaluations within epochs that were passed on.
  std::vector<int64_t> noted;
  TrainingState state;

private:
  EvaluatedModel model;
  SessionOptions options;
  double next = none;
  std::optional<TrainingEvaluations> evaluations;
};

} // namespace

TEST(TrackedMetric, IsTheFirstAucByDefault) {
  const EvaluatedModel clicks = clickModel();
  const auto found = TrackedMetric::find(clicks.descriptor, clicks.program, "");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name, "@auc");
  EXPECT_EQ(found->goal, Goal::Highest);
}

TEST(TrackedMetric, IsTheFirstMetricWithoutAnAuc) {
  const EvaluatedModel model({metricOf("copc", PDL_METRIC_COPC)});
  const auto found = TrackedMetric::find(model.descriptor, model.program, "");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->name, "@copc");
}

TEST(TrackedMetric, NeedsAMetric) {
  const EvaluatedModel model({});
  const auto found = TrackedMetric::find(model.descriptor, model.program, "");
  EXPECT_EQ(found.status().message(),
            "program @evaluate has no metric; observe one in it");
}

TEST(TrackedMetric, NamesTheMetricsIfThereIsNone) {
  const EvaluatedModel clicks = clickModel();
  const auto found =
      TrackedMetric::find(clicks.descriptor, clicks.program, "acc");
  EXPECT_EQ(found.status().message(),
            "program @evaluate has no metric 'acc', only @loss_of_clicks, "
            "@auc, @copc; name one of them");
  EXPECT_FALSE(
      TrackedMetric::find(clicks.descriptor, clicks.program, "loss").ok());
}

TEST(TrackedMetric, KnowsWhichValuesAreBetter) {
  const EvaluatedModel clicks = clickModel();
  const auto isBetter = [&](const char *name, double value, double best) {
    const auto metric =
        TrackedMetric::find(clicks.descriptor, clicks.program, name);
    BestValue all = {.metric = metric->name, .value = best, .steps = 1};
    return metric->note(value, 2, 0, all);
  };
  EXPECT_TRUE(isBetter("@auc", 0.8, 0.7));
  EXPECT_FALSE(isBetter("@auc", 0.7, 0.7));
  EXPECT_TRUE(isBetter("loss_of_clicks", 0.2, 0.3));
  EXPECT_FALSE(isBetter("loss_of_clicks", 0.4, 0.3));
  EXPECT_TRUE(isBetter("copc", 0.95, 1.1));
  EXPECT_FALSE(isBetter("copc", 1.2, 0.9));
  EXPECT_FALSE(isBetter("auc", none, 0.7));
}

TEST(TrainingEvaluations, AreDueAfterEveryNthStep) {
  EvaluatedTraining training(10, 2);
  EXPECT_EQ(training->stepsUntilNext(0), 10);
  EXPECT_EQ(training->stepsUntilNext(9), 1);
  EXPECT_EQ(training->stepsUntilNext(10), 10);
  EXPECT_FALSE(training->isDue(0));
  EXPECT_FALSE(training->isDue(9));
  EXPECT_TRUE(training->isDue(10));
  training.evaluate(10, 0.7);
  EXPECT_FALSE(training->isDue(10));
  EXPECT_TRUE(training->isCurrent(10));
  EXPECT_FALSE(training->isDueAtEnd(10));
  EXPECT_TRUE(training->isDueAtEnd(11));
}

TEST(TrainingEvaluations, StopAfterConsecutiveMisses) {
  EvaluatedTraining training(10, 2);
  training.evaluate(10, 0.7);
  training.evaluate(20, 0.6);
  training.evaluate(30, 0.71);
  training.evaluate(40, 0.70);
  EXPECT_FALSE(training->areOver());
  training.evaluate(45, 0.71, Purpose::EndOfEpoch);
  EXPECT_TRUE(training->endsEarly());
  EXPECT_EQ(training.noted, (std::vector<int64_t>{10, 20, 30, 40}));
  EXPECT_EQ(training->describeEnd(),
            "stopped early after 45 steps: 2 consecutive evaluations have not "
            "improved on the best, @auc 0.7100 after 30 steps");
}

TEST(TrainingEvaluations, NeedTheMinimumDifference) {
  EvaluatedTraining training(10, 2, 0.01);
  training.evaluate(10, 0.7);
  training.evaluate(20, 0.705);
  // Compared with the best value, not with the last one.
  training.evaluate(30, 0.7125);
  EXPECT_EQ(training.state.evaluations.monitored.steps, 30);
  training.evaluate(40, 0.72);
  training.evaluate(50, 0.72);
  EXPECT_TRUE(training->endsEarly());
}

TEST(TrainingEvaluations, CountAnUndefinedValueAsAMiss) {
  EvaluatedTraining training(10, 2);
  training.evaluate(10, none);
  training.evaluate(20, none);
  EXPECT_TRUE(training->endsEarly());
  EXPECT_EQ(training->describeEnd(),
            "stopped early after 20 steps: 2 consecutive evaluations have not "
            "computed a value of @auc");
}

TEST(TrainingEvaluations, DoNotCountReports) {
  EvaluatedTraining training(10, 1);
  training.evaluate(10, 0.7);
  training.evaluate(15, 0.6, Purpose::Report);
  EXPECT_FALSE(training->endsEarly());
  EXPECT_EQ(training.state.evaluations.steps, 10);
  EXPECT_TRUE(training->isCurrent(15));
}

TEST(TrainingEvaluations, EndTheTrainingIfInterruptedWithoutAResult) {
  EvaluatedTraining training(10, 1);
  training.isInterrupted = true;
  training.evaluate(10, 0.7);
  EXPECT_TRUE(training->areOver());
  EXPECT_FALSE(training->endsEarly());
  EXPECT_FALSE(training->isCurrent(10));
  // A resumed training repeats it.
  EXPECT_TRUE(training->isDue(10));
}

TEST(TrainingEvaluations, DoNotRepeatAFailedOne) {
  EvaluatedTraining training(10, 1);
  training.fails = true;
  EXPECT_FALSE(training->run(10, Purpose::EndOfEpoch).ok());
  training.fails = false;
  EXPECT_EQ(training->run(10, Purpose::Report).message(), "no data");
  EXPECT_FALSE(training->isCurrent(10));
  training.evaluate(20, 0.7);
}

TEST(TrainingEvaluations, HaveNotEndedEarlyForAnotherMetric) {
  const EvaluatedModel clicks = clickModel();
  pdl_descriptor descriptor = clicks.descriptor;
  descriptor.programs = &clicks.program;
  descriptor.program_count = 1;
  SessionOptions options;
  options.patience = 2;
  const EvaluationProgress saved = {
      .steps = 30, .monitored = {.metric = "@auc", .steps = 10, .misses = 2}};
  EXPECT_TRUE(hasEndedEarly(descriptor, options, saved));
  options.monitor = "copc";
  EXPECT_FALSE(hasEndedEarly(descriptor, options, saved));
  options.monitor = "auc";
  options.patience = 3;
  EXPECT_FALSE(hasEndedEarly(descriptor, options, saved));
}
