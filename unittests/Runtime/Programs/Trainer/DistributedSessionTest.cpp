//===- DistributedSessionTest.cpp - Output of a job's trainers ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestCluster.h"
#include "Support/TestFolder.h"

#include "pdlrt/Programs/Trainer/Session.h"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <map>
#include <thread>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr int trainers = 2, workers = 2;

/// Returns lines with a label, a weight, three numbers and two bags of ids.
std::string makeData(int rows) {
  uint64_t state = 1;
  auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 11) * 0x1p-53;
  };
  std::string text;
  for (int i = 0; i < rows; ++i) {
    const double x = 2 * uniform() - 1;
    const int a = int(uniform() * 50), b = int(uniform() * 9);
    const int label = uniform() < 1 / (1 + std::exp(-2 * x - a % 3));
    text += fmt::format("{}\t{:.2f}\t{:.3f}\t0.5\t{:.3f}\tu{}\tt{}|t{}\n",
                        label, 0.5 + uniform(), x, uniform(), a, b, b / 2);
  }
  return text;
}

class DistributedSession : public testing::Test {
protected:
  SessionOptions optionsFor(const std::string &losses) {
    SessionOptions options;
    options.data.files = {folder.file("train.tsv")};
    options.data.batchSize = 16;
    options.data.shuffleWindow = 100;
    options.seed = 3;
    options.groups = trainers;
    options.workers = workers;
    options.threads = 2;
    options.epochs = 2;
    options.evaluateFiles = {folder.file("test.tsv")};
    options.logLosses = folder.file(losses);
    return options;
  }

  /// Runs all trainers and returns their results by rank. `change` may modify
  /// the options of each.
  template <typename Change>
  std::vector<Status> runTrainers(TestCluster &cluster, Change change) {
    std::vector<Status> outcomes(trainers);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < trainers; ++rank)
      threads.emplace_back([&, rank] {
        SessionOptions options = optionsFor(fmt::format("losses{}", rank));
        options.distributed = cluster.options(rank);
        options.transport = cluster.transport.get();
        change(rank, options);
        outcomes[rank] = runTrain(*cluster.trainerProgram, options);
      });
    for (std::thread &thread : threads)
      thread.join();
    return outcomes;
  }

  void SetUp() override {
    folder.write("train.tsv", makeData(523));
    folder.write("test.tsv", makeData(205));
    variant.clipped = true;
    variant.mode = PDL_MODE_SYNC;
  }

  TestFolder folder;
  ProgramVariant variant;
};

/// Returns how often each line that starts with `label` occurs in `text`.
std::map<std::string, int> linesOf(const std::string &text,
                                   const std::string &label) {
  std::map<std::string, int> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.compare(0, label.size(), label) == 0)
      ++lines[line];
  return lines;
}

} // namespace

// Covers the losses of every step, and metrics of training and test over all
// trainers.
TEST_F(DistributedSession, AllTrainersPrintWhatOneProcessPrints) {
  ProgramVariant alone;
  alone.clipped = true;
  testing::internal::CaptureStdout();
  Status status = runTrain(*handWrittenProgram(alone), optionsFor("losses"));
  const std::string expected = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(status.ok()) << status.message();

  TestCluster cluster(variant, 3, trainers, workers, 3);
  testing::internal::CaptureStdout();
  const std::vector<Status> outcomes =
      runTrainers(cluster, [](int, SessionOptions &) {});
  const std::string printed = testing::internal::GetCapturedStdout();
  for (const Status &outcome : outcomes)
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  const std::string losses = folder.read("losses");
  EXPECT_GT(losses.size(), 200u);
  for (int rank = 0; rank < trainers; ++rank)
    EXPECT_EQ(folder.read(fmt::format("losses{}", rank)), losses);
  for (const char *label : {"train ", "test "}) {
    std::map<std::string, int> lines = linesOf(expected, label);
    EXPECT_GE(lines.size(), 4u) << expected;
    for (auto &[line, count] : lines)
      count *= trainers;
    EXPECT_EQ(linesOf(printed, label), lines);
  }
}

TEST_F(DistributedSession, EndsAfterTheSameNumberOfSteps) {
  TestCluster cluster(variant, 2, trainers, workers, 3);
  const std::vector<Status> outcomes =
      runTrainers(cluster, [](int, SessionOptions &options) {
        options.epochs.reset();
        options.steps = 13;
        options.evaluateFiles.clear();
      });
  for (int rank = 0; rank < trainers; ++rank) {
    ASSERT_TRUE(outcomes[rank].ok()) << outcomes[rank].message();
    const std::string losses = folder.read(fmt::format("losses{}", rank));
    EXPECT_EQ(std::count(losses.begin(), losses.end(), '\n'), 13);
  }
  for (const auto &state : cluster.states)
    EXPECT_EQ(state->model().stepCount(0), 13);
}

// Otherwise they would train on samples twice, or wait for each other.
TEST_F(DistributedSession, RefusesTrainersWithDifferentFlags) {
  TestCluster cluster(variant, 1, trainers, workers, 3);
  const std::vector<Status> outcomes =
      runTrainers(cluster, [](int rank, SessionOptions &options) {
        if (rank == 1)
          options.data.batchSize = 8;
      });
  EXPECT_THAT(outcomes[0].message(), HasSubstr("the same --batch-size"));
  EXPECT_THAT(outcomes[1].message(), HasSubstr("the same --batch-size"));
  EXPECT_EQ(cluster.states[0]->model().stepCount(0), 0);
}
