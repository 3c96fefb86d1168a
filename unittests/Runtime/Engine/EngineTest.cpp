//===- EngineTest.cpp - Steps against a plain computation -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/ErasedRow.h"
#include "Support/HandWrittenProgram.h"
#include "Support/ModelBytes.h"
#include "Support/NaiveTrainer.h"

#include "pdlabi/metrics.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Kernels/Metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

using namespace pdlrt;

namespace {

constexpr uint64_t seed = 17;

/// A model with an engine for one of its programs.
struct TrainedModel {
  TrainedModel(const pdl_descriptor *descriptor, int groups, int workers,
               int threads)
      : TrainedModel(descriptor, groups, workers,
                     std::make_unique<Scheduler>(threads)) {}
  TrainedModel(const pdl_descriptor *descriptor, int groups, int workers,
               std::unique_ptr<Scheduler> ownScheduler)
      : schedulerOwner(std::move(ownScheduler)), scheduler(*schedulerOwner),
        model(*descriptor, seed),
        engine(Engine::createLocal(model, *findProgram(*descriptor, "train"),
                                   ReplicaLayout::local(groups, workers),
                                   scheduler)),
        train(*engine) {}

  std::unique_ptr<Scheduler> schedulerOwner;
  Scheduler &scheduler;
  Model model;
  std::unique_ptr<Engine> engine;
  Engine &train;
};

struct Variant {
  bool clipped, dense;
  int groups, workers;
};

class EngineAgainstNaive : public testing::TestWithParam<Variant> {};

} // namespace

// In double precision, different orders of the same sums differ only by
// rounding.
TEST_P(EngineAgainstNaive, TwentySteps) {
  const Variant variant = GetParam();
  const pdl_descriptor *descriptor = handWrittenProgram(
      {PDL_F64, variant.dense ? PDL_UNTOUCHED_DENSE : PDL_UNTOUCHED_LAZY,
       variant.clipped});
  TrainedModel trained(descriptor, variant.groups, variant.workers, 2);
  NaiveTrainer naive(*descriptor, seed, variant.clipped, variant.dense);
  const int replicas = variant.groups * variant.workers;
  for (uint64_t step = 0; step < 20; ++step) {
    std::vector<Samples<double>> samples;
    std::vector<StepInput> inputs(replicas);
    std::vector<const Samples<double> *> pointers;
    for (int r = 0; r < replicas; ++r)
      samples.push_back(makeSamples<double>(step * 100 + r, 16 + r));
    for (int r = 0; r < replicas; ++r) {
      // In every third step the last replica has no batch.
      if (replicas > 1 && r == replicas - 1 && step % 3 == 0)
        continue;
      inputs[r] = samples[r].input();
      pointers.push_back(&samples[r]);
    }
    Expected<StepResult> result = trained.train.step(inputs);
    ASSERT_TRUE(result.ok()) << result.status().message();
    const double expected = naive.step(pointers);
    EXPECT_NEAR(result->lossSum / result->weightSum, expected, 1e-12);
  }
  auto *weights =
      static_cast<const double *>(trained.model.value(SymbolWeights));
  for (int64_t j = 0; j < handWrittenDense; ++j)
    EXPECT_NEAR(weights[j], naive.weights[j], 1e-12);
  EXPECT_NEAR(*static_cast<const double *>(trained.model.value(SymbolBias)),
              naive.bias, 1e-12);
  EmbeddingTable &table = *trained.model.table(SymbolTable);
  ASSERT_EQ(table.size(), int64_t(naive.rows.size()));
  for (const auto &[key, expected] : naive.rows) {
    void *row;
    TableScratch scratch;
    ASSERT_EQ(table.find(1, &key, &row, scratch), 0);
    auto *values = static_cast<const double *>(row);
    for (int64_t j = 0; j < handWrittenWidth; ++j) {
      EXPECT_NEAR(values[j], expected.value[j], 1e-10);
      EXPECT_NEAR(values[handWrittenWidth + j], expected.m[j], 1e-12);
      EXPECT_NEAR(values[2 * handWrittenWidth + j], expected.v[j], 1e-12);
    }
  }
  EXPECT_EQ(trained.model.stepCount(0), 20);
  EXPECT_EQ(trained.model.stepCount(1), 20);
}

INSTANTIATE_TEST_SUITE_P(
    Variants, EngineAgainstNaive,
    testing::Values(Variant{false, false, 1, 1}, Variant{true, false, 1, 1},
                    Variant{false, true, 1, 1}, Variant{true, true, 1, 1},
                    Variant{false, false, 2, 3}, Variant{true, false, 3, 1},
                    Variant{true, true, 1, 4}));

TEST(Engine, AStepEndsAtAQuiescentPoint) {
  const pdl_descriptor *descriptor =
      handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, false});
  TrainedModel trained(descriptor, 1, 1, 1);
  test::ErasedRow row(*trained.model.table(SymbolTable));
  Samples<float> samples = makeSamples<float>(1, 16);
  const StepInput input = samples.input();
  for (int step = 0; step < 2; ++step) {
    EXPECT_FALSE(row.isUsedAgain());
    ASSERT_TRUE(trained.train.step({&input, 1}).ok());
  }
  EXPECT_TRUE(row.isUsedAgain());
}

/// Returns the state after steps that are large enough for several threads.
static std::vector<char> stateAfterLargeSteps(TrainedModel &trained) {
  for (uint64_t step = 0; step < 4; ++step) {
    std::vector<Samples<float>> samples;
    std::vector<StepInput> inputs;
    for (int r = 0; r < 6; ++r)
      samples.push_back(makeSamples<float>(step * 10 + r, 1000, 20000));
    for (Samples<float> &replica : samples)
      inputs.push_back(replica.input());
    EXPECT_TRUE(trained.train.step(inputs).ok());
  }
  EXPECT_GT(trained.model.table(SymbolTable)->size(), 10000);
  return stateOf(trained.model);
}

TEST(Engine, ThreadsChangeNoBit) {
  for (int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE}) {
    const pdl_descriptor *descriptor =
        handWrittenProgram({PDL_F32, untouched, true});
    TrainedModel alone(descriptor, 2, 3, 1);
    const std::vector<char> expected = stateAfterLargeSteps(alone);
    for (int threads : {2, 5}) {
      TrainedModel trained(descriptor, 2, 3, threads);
      EXPECT_EQ(stateAfterLargeSteps(trained), expected)
          << threads << " threads";
    }
  }
}

// Runs tasks in another order, some of them late. The result must hold for
// schedules that this machine never chooses.
TEST(Engine, SchedulesChangeNoBit) {
  for (int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE}) {
    const pdl_descriptor *descriptor =
        handWrittenProgram({PDL_F32, untouched, true});
    TrainedModel alone(descriptor, 2, 3, 1);
    const std::vector<char> expected = stateAfterLargeSteps(alone);
    for (uint64_t disturbance = 1; disturbance <= 6; ++disturbance) {
      const int threads = disturbance % 2 ? 1 : 3;
      TrainedModel trained(descriptor, 2, 3,
                           std::make_unique<Scheduler>(threads, disturbance));
      EXPECT_EQ(stateAfterLargeSteps(trained), expected)
          << threads << " threads, disturbance " << disturbance;
    }
  }
}

// A replica without a batch must not add anything, not even a zero.
TEST(Engine, AbsentReplicasAreAsIfTheyWereNotThere) {
  const pdl_descriptor *descriptor = handWrittenProgram({});
  TrainedModel alone(descriptor, 1, 1, 1), among(descriptor, 2, 2, 1);
  for (uint64_t step = 0; step < 5; ++step) {
    Samples<float> samples = makeSamples<float>(step, 32);
    StepInput inputs[4] = {};
    inputs[2] = samples.input();
    ASSERT_TRUE(alone.train.step({&inputs[2], 1}).ok());
    ASSERT_TRUE(among.train.step(inputs).ok());
  }
  EXPECT_EQ(stateOf(alone.model), stateOf(among.model));
}

TEST(Engine, StopsBeforeApplyingWhatIsNotFinite) {
  const pdl_descriptor *descriptor = handWrittenProgram({});
  TrainedModel trained(descriptor, 1, 2, 2);
  Samples<float> good = makeSamples<float>(1, 8);
  StepInput inputs[2] = {good.input(), good.input()};
  ASSERT_TRUE(trained.train.step(inputs).ok());
  const std::vector<char> before = stateOf(trained.model);

  Samples<float> bad = good;
  bad.dense[4] = std::numeric_limits<float>::quiet_NaN();
  inputs[1] = bad.input();
  Expected<StepResult> result = trained.train.step(inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find(
                "the loss is not finite in batch 7 of samples.tsv (group 0, "
                "worker 1)"),
            std::string::npos)
      << result.status().message();
  EXPECT_EQ(stateOf(trained.model), before);

  // The loss is finite but the gradient overflows: each sample's share of the
  // gradient of @w is near the largest float, and both losses are finite.
  bad = Samples<float>();
  static_cast<float *>(trained.model.value(SymbolWeights))[0] = 0;
  const std::vector<char> zeroed = stateOf(trained.model);
  for (int i = 0; i < 8; ++i)
    bad.add(1, 1, {3e38f, 0, 0}, {});
  inputs[1] = bad.input();
  result = trained.train.step(inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("the gradient of @w is not finite"),
            std::string::npos)
      << result.status().message();
  EXPECT_EQ(stateOf(trained.model), zeroed);
  EXPECT_EQ(trained.model.stepCount(0), 1);
}

// Each replica's gradient is finite, but their sum is not.
TEST(Engine, StopsWhenTheMergedGradientOverflows) {
  TrainedModel trained(handWrittenProgram({}), 1, 2, 1);
  static_cast<float *>(trained.model.value(SymbolWeights))[0] = 0;
  Samples<float> large;
  large.add(1, 1, {3.3e38f, 0, 0}, {});
  large.add(1, 1, {2.0e38f, 0, 0}, {});
  StepInput inputs[2] = {large.input(), large.input()};
  const std::vector<char> before = stateOf(trained.model);
  Expected<StepResult> result = trained.train.step(inputs);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("@w"), std::string::npos)
      << result.status().message();
  EXPECT_EQ(stateOf(trained.model), before);
}

// If weights almost cancel, the division by their sum would overflow.
TEST(Engine, StopsAtANegativeWeight) {
  TrainedModel trained(handWrittenProgram({}), 1, 1, 1);
  static_cast<float *>(trained.model.value(SymbolWeights))[0] = 0;
  Samples<float> samples;
  samples.add(1, 1, {1e35f, 0, 0}, {});
  samples.add(0, -0.99999994f, {0, 0, 0}, {});
  StepInput input = samples.input();
  const std::vector<char> before = stateOf(trained.model);
  Expected<StepResult> result = trained.train.step({&input, 1});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(
      result.status().message().find("a weight is negative or not finite"),
      std::string::npos)
      << result.status().message();
  EXPECT_EQ(stateOf(trained.model), before);
  EXPECT_EQ(trained.model.stepCount(0), 0);
}

TEST(Engine, ZeroWeightSkipsTheUpdateAndCountsIt) {
  TrainedModel trained(handWrittenProgram({}), 1, 1, 1);
  Samples<float> samples = makeSamples<float>(3, 8);
  std::fill(samples.weight.begin(), samples.weight.end(), 0.f);
  auto *weights =
      static_cast<const float *>(trained.model.value(SymbolWeights));
  const float before = weights[0];
  StepInput input = samples.input();
  Expected<StepResult> result = trained.train.step({&input, 1});
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->skipped);
  EXPECT_EQ(weights[0], before);
  EXPECT_EQ(trained.model.stepCount(0), 0);
}

/// Returns the value of a metric of the process with these labels; 0 if there
/// is none.
static double metric(const std::string &name,
                     const std::vector<std::string> &labels) {
  for (const MetricRegistry::Collected &family : processMetrics().collect())
    for (const MetricValue &value : family.values)
      if (family.info.name == name && value.labels == labels)
        return value.value();
  return 0;
}

TEST(Engine, CostsAreRegisteredMetrics) {
  const auto steps = [] {
    return metric("pdl_trainer_steps_total", {"train"});
  };
  const auto samples = [] {
    return metric("pdl_trainer_samples_total", {"train"});
  };
  const auto compute = [] {
    return metric("pdl_trainer_phase_seconds_total",
                  {"forward/backward", "train"});
  };
  const double stepsBefore = steps(), samplesBefore = samples(),
               computeBefore = compute();
  double seconds = 0;
  {
    TrainedModel trained(handWrittenProgram({}), 1, 1, 1);
    Samples<float> batch = makeSamples<float>(3, 8);
    StepInput input = batch.input();
    for (int step = 0; step < 3; ++step)
      ASSERT_TRUE(trained.train.step({&input, 1}).ok());
    // The costs are those of this engine alone.
    const StepCosts costs = trained.train.costs();
    EXPECT_EQ(costs.steps, 3);
    EXPECT_EQ(costs.ids, 3 * int64_t(batch.ids.size()));
    EXPECT_GT(costs.apply, 0);
    seconds = costs.compute;
    EXPECT_EQ(steps(), stepsBefore + 3);
    // An engine without steps changes nothing.
    TrainedModel other(handWrittenProgram({}), 1, 1, 1);
    EXPECT_EQ(other.train.costs().steps, 0);
    EXPECT_EQ(steps(), stepsBefore + 3);
  }
  // Counts remain after the end of the engine.
  EXPECT_EQ(steps(), stepsBefore + 3);
  EXPECT_EQ(samples(), samplesBefore + 3 * 8);
  EXPECT_GT(seconds, 0);
  EXPECT_NEAR(compute() - computeBefore, seconds, 1e-9);
}

TEST(Engine, FrozenProgramsInsertNothingAndSeeInitialValues) {
  const pdl_descriptor *descriptor = handWrittenProgram({PDL_F64});
  TrainedModel trained(descriptor, 1, 1, 1);
  const std::unique_ptr<Engine> frozenEngine =
      Engine::createLocal(trained.model, *findProgram(*descriptor, "evaluate"),
                          ReplicaLayout::local(1, 1), trained.scheduler);
  Engine &evaluate = *frozenEngine;
  Samples<double> samples = makeSamples<double>(5, 32);
  StepInput input = samples.input();
  Expected<StepResult> frozen = evaluate.step({&input, 1});
  ASSERT_TRUE(frozen.ok());
  EXPECT_EQ(trained.model.table(SymbolTable)->size(), 0);
  EXPECT_EQ(evaluate.replicas().pullCounts().unknownInitial,
            int64_t(samples.ids.size()));
  EXPECT_EQ(evaluate.replicas().pullCounts().unknownZero, 0);
  // The same loss as the first training step, which creates the rows.
  Expected<StepResult> first = trained.train.step({&input, 1});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(frozen->lossSum, first->lossSum);
}

// A trainer of mode geo evaluates its copy in this way.
TEST(Engine, SumsOfItsOwnGroupsAreNotThoseOfTheJob) {
  const pdl_descriptor *descriptor = handWrittenProgram({PDL_F64});
  TrainedModel trained(descriptor, 2, 1, 1);
  EXPECT_TRUE(trained.train.sumsOverJob());
  const std::unique_ptr<Engine> ownShare = Engine::createLocal(
      trained.model, *findProgram(*descriptor, "evaluate"),
      ReplicaLayout{
          .groups = 2, .workers = 1, .firstGroup = 1, .localGroups = 1},
      trained.scheduler);
  EXPECT_FALSE(ownShare->sumsOverJob());
}

TEST(Engine, MetricsAreSummedOverReplicas) {
  const pdl_descriptor *descriptor = handWrittenProgram({PDL_F64});
  TrainedModel two(descriptor, 2, 1, 2);
  Samples<double> a = makeSamples<double>(1, 20),
                  b = makeSamples<double>(2, 30);
  StepInput inputs[2] = {a.input(), b.input()};
  ASSERT_TRUE(two.train.step(inputs).ok());
  const pdl_metric &auc = descriptor->metrics[0];
  const auto buckets = size_t(auc.parameter);
  std::vector<double> counts(pdlabi::metricSumCount(auc.kind, auc.parameter));
  two.train.replicas().sumMetric(0, counts);
  double total = 0, positives = 0;
  for (size_t i = 0; i < 2 * buckets; ++i)
    (i < buckets ? total : positives) += counts[i];
  total += positives;
  EXPECT_EQ(total, 50);
  double labels = 0;
  for (const Samples<double> *samples : {&a, &b})
    for (double y : samples->label)
      labels += y;
  EXPECT_EQ(positives, labels);
  two.train.replicas().resetCounters();
  std::fill(counts.begin(), counts.end(), 0);
  two.train.replicas().sumMetric(0, counts);
  EXPECT_THAT(counts, testing::Each(0.0));
}
