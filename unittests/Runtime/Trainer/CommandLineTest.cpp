//===- CommandLineTest.cpp - A trainer as a process -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainerProcess.h"

#include "pdlrt/Checkpoint/Safetensors.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <thread>

using namespace pdlrt;
using testing::HasSubstr;

/// Lines of: label, weight, three numbers, two bags of ids. The label depends
/// on all of them, so that there is something to learn.
static std::string makeData(int rows, uint64_t seed = 1) {
  uint64_t state = seed;
  auto uniform = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 11) * 0x1p-53;
  };
  std::string text;
  for (int i = 0; i < rows; ++i) {
    double x[3];
    for (double &value : x)
      value = 2 * uniform() - 1;
    const int a = int(uniform() * 50), b = int(uniform() * 9);
    const double z = 2 * x[0] - x[1] + (a % 5 - 2) * 0.7 + (b % 3 - 1);
    const int label = uniform() < 1 / (1 + std::exp(-z));
    text += fmt::format("{}\t1\t{:.3f}\t{:.3f}\t{:.3f}\tu{}\tt{}|t{}\n", label,
                        x[0], x[1], x[2], a, b, b / 2);
  }
  return text;
}

static int run(const TestFolder &folder, std::vector<std::string> arguments,
               std::string *output = nullptr, std::string *errors = nullptr) {
  TrainerProcess process(folder, std::move(arguments));
  const int status = process.wait();
  if (output)
    *output = process.output();
  if (errors)
    *errors = process.errors();
  return status;
}

/// The number behind `name` at the beginning of a line; NaN if there is none.
static double figure(const std::string &text, const std::string &name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.rfind(name + " ", 0) == 0)
      return std::stod(line.substr(name.size() + 1));
  return std::nan("");
}

TEST(CommandLine, HelpAndVersion) {
  TestFolder folder;
  std::string out;
  EXPECT_EQ(run(folder, {"--help"}, &out), 0);
  for (const char *word : {"train", "evaluate", "predict", "Exit status"})
    EXPECT_THAT(out, HasSubstr(word));
  EXPECT_EQ(run(folder, {"train", "--help"}, &out), 0);
  for (const char *word : {"--replicas", "--init-from", "Example", "--steps"})
    EXPECT_THAT(out, HasSubstr(word));
  EXPECT_EQ(run(folder, {"--version"}, &out), 0);
  for (const char *word : {"handwritten", "f32", "strict", "x86-64-v3",
                           "0123456789abcdef", "fedcba9876543210"})
    EXPECT_THAT(out, HasSubstr(word));
}

TEST(CommandLine, TrainsTestsAndEvaluates) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(4000)), out, err;
  const std::string model = folder.file("model.safetensors");
  ASSERT_EQ(run(folder,
                {"train", "--data", data, "--rows", "0%:80%", "--evaluate-rows",
                 "80%:", "--epochs", "3", "--batch-size", "64",
                 "--shuffle-window", "1000", "--dump", model},
                &out, &err),
            0)
      << err;
  EXPECT_THAT(err, HasSubstr("epoch 3: train loss"));
  EXPECT_THAT(out, HasSubstr("trained 150 steps, 9600 samples"));
  EXPECT_GT(figure(out, "train AUC"), 0.8);
  const double auc = figure(out, "test AUC");
  EXPECT_GT(auc, 0.8);
  const double loss = figure(out, "test loss");
  // For unit weights the model's loss and the metric are the same mean.
  EXPECT_NEAR(loss, figure(out, "test log loss"), 1e-4);

  // The dump holds all of it: another process finds the same figures.
  ASSERT_EQ(run(folder,
                {"evaluate", "--data", data, "--rows", "80%:", "--init-from",
                 model, "--threads", "1"},
                &out, &err),
            0)
      << err;
  EXPECT_THAT(out, HasSubstr("evaluated 800 samples"));
  EXPECT_EQ(figure(out, "test AUC"), auc);
  EXPECT_EQ(figure(out, "test loss"), loss);
}

TEST(CommandLine, PredictsInOrder) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(500)), out, err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  // Without label and weight: three numbers and two bags.
  std::string inputs;
  std::vector<std::string> lines;
  for (int i = 0; i < 10; ++i) {
    lines.push_back(fmt::format("{}\t0\t0.5\tu{}\t\n", 0.1 * i, i));
    inputs += lines.back();
  }
  std::string all = folder.write("all.tsv", inputs);
  ASSERT_EQ(
      run(folder,
          {"predict", "--data", all, "--init-from", model, "--batch-size", "3"},
          &out, &err),
      0)
      << err;
  EXPECT_THAT(err, HasSubstr("predicted 10 samples"));
  // Each line alone gives the same number.
  std::istringstream rows(out);
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "p");
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(std::getline(rows, row));
    std::string one = folder.write("one.tsv", lines[i]);
    ASSERT_EQ(run(folder, {"predict", "--data", one, "--init-from", model,
                           "--output", folder.file("one.out")}),
              0);
    EXPECT_EQ(folder.read("one.out"), "p\n" + row + "\n");
    const double p = std::stod(row);
    EXPECT_GT(p, 0);
    EXPECT_LT(p, 1);
  }
  EXPECT_FALSE(std::getline(rows, row));
}

TEST(CommandLine, ReplicasAreMeaningAndThreadsAreNot) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(1500));
  auto dumpOf = [&](const char *replicas, const char *threads) {
    EXPECT_EQ(run(folder,
                  {"train", "--data", data, "--replicas", replicas, "--threads",
                   threads, "--batch-size", "32", "--dump", folder.file("d"),
                   "--dump-slots", "--log-losses", folder.file("l")}),
              0);
    return folder.read("d") + folder.read("l");
  };
  const std::string once = dumpOf("2x3", "1");
  EXPECT_EQ(dumpOf("2x3", "2"), once);
  EXPECT_EQ(dumpOf("2x3", "7"), once);
  EXPECT_NE(dumpOf("3x2", "1"), once);
}

TEST(CommandLine, WritesLossesBatchesAndSlots) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(100)), out, err;
  ASSERT_EQ(run(folder,
                {"train", "--data", data, "--batch-size", "30", "--steps", "6",
                 "--log-losses", folder.file("losses"), "--dump-batches",
                 folder.file("batches"), "--dump", folder.file("model"),
                 "--dump-slots", "--seed", "9"},
                &out, &err),
            0)
      << err;
  // Two epochs, of which the second ends early.
  EXPECT_THAT(out, HasSubstr("trained 6 steps, 160 samples"));
  std::istringstream losses(folder.read("losses"));
  int count = 0;
  for (std::string line; std::getline(losses, line); ++count) {
    EXPECT_GT(std::stod(line), 0.1);
    EXPECT_LT(std::stod(line), 2);
  }
  EXPECT_EQ(count, 6);

  Expected<SafetensorsFile> batches =
      SafetensorsFile::open(folder.file("batches"));
  ASSERT_TRUE(batches.ok());
  EXPECT_EQ(batches->metadata().at("batches"), "6");
  EXPECT_EQ(batches->find("batch3/dense")->shape,
            (std::vector<int64_t>{10, 3}));

  Expected<SafetensorsFile> model = SafetensorsFile::open(folder.file("model"));
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->metadata().at("seed"), "9");
  const TensorView *keys = model->find("emb.keys");
  ASSERT_NE(keys, nullptr);
  std::vector<int64_t> list(keys->elementCount);
  keys->copyTo(list.data());
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end()));
  for (const char *name : {"emb.values", "emb.slot.m", "emb.slot.v"})
    EXPECT_EQ(model->find(name)->shape,
              (std::vector<int64_t>{keys->elementCount, 4}));
  EXPECT_EQ(model->find("w")->shape, (std::vector<int64_t>{3, 1}));
}

// What a dump with slots holds is read back bit for bit.
TEST(CommandLine, InitFromReadsWhatDumpWrote) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(300)), err;
  ASSERT_EQ(run(folder, {"train", "--data", data, "--seed", "4", "--dump",
                         folder.file("a"), "--dump-slots"}),
            0);
  // All weights are zero, so the step is skipped and counted.
  std::string zero = folder.write("zero.tsv", "1\t0\t1\t1\t1\tu1\tt1\n"), out;
  ASSERT_EQ(run(folder,
                {"train", "--data", zero, "--init-from", folder.file("a"),
                 "--dump", folder.file("b"), "--dump-slots"},
                &out, &err),
            0)
      << err;
  EXPECT_EQ(folder.read("a"), folder.read("b"));
  EXPECT_EQ(figure(out, "updates skipped for a zero sum of weights"), 1);
}

TEST(CommandLine, BadRowsStopOrAreSkipped) {
  TestFolder folder;
  std::string good = makeData(20), out, err;
  std::string data =
      folder.write("data.tsv", good + "what\t1\t0\t0\t0\tu\tt\n" + good);
  EXPECT_EQ(run(folder, {"train", "--data", data}, &out, &err), 1);
  EXPECT_THAT(err, HasSubstr("data.tsv:21:1: "));
  EXPECT_EQ(
      run(folder, {"train", "--data", data, "--max-bad-rows", "1"}, &out, &err),
      0);
  EXPECT_EQ(figure(out, "bad rows skipped"), 1);
  EXPECT_THAT(out, HasSubstr("40 samples"));
  EXPECT_THAT(err, HasSubstr("data.tsv:21:1: "));
}

// The count is that of the rows before the last step, not of those that a
// reading thread has met by then; the test's bad rows are told apart.
TEST(CommandLine, BadRowsAreCountedAlikeByAnyNumberOfThreads) {
  TestFolder folder;
  const std::string bad = "what\t1\t0\t0\t0\tu\tt\n";
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += makeData(10, i) + bad;
  std::string data = folder.write("data.tsv", text);
  std::string test = folder.write("test.tsv", makeData(10) + bad + bad);
  for (const char *threads : {"1", "2", "4"}) {
    std::string out, err;
    ASSERT_EQ(
        run(folder,
            {"train", "--data", data, "--evaluate-data", test, "--max-bad-rows",
             "100", "--batch-size", "10", "--steps", "3", "--threads", threads},
            &out, &err),
        0)
        << err;
    // A window of 10 rows holds fewer good ones, so that the third batch ends
    // in the fourth window, rows 30 to 39.
    EXPECT_EQ(figure(out, "bad rows skipped"), 3) << threads;
    EXPECT_EQ(figure(out, "test bad rows skipped"), 2) << threads;
  }
}

// A loss without weight is no number, on every machine the same text.
TEST(CommandLine, LossesOfStepsWithoutWeightAreNan) {
  TestFolder folder;
  std::string zero = folder.write("zero.tsv", "1\t0\t1\t1\t1\tu1\tt1\n");
  ASSERT_EQ(run(folder, {"train", "--data", zero, "--log-losses",
                         folder.file("losses")}),
            0);
  EXPECT_EQ(folder.read("losses"), "nan\n");
}

// The model is written although the batches, which are asked for too, cannot
// be.
TEST(CommandLine, AnotherOutputThatFailsDoesNotCostTheModel) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(20)), err;
  const std::string model = folder.file("model");
  // A name for the temporary file that is too long for any file system.
  const std::string longName = folder.file(std::string(250, 'b'));
  EXPECT_EQ(run(folder,
                {"train", "--data", data, "--dump", model, "--dump-batches",
                 longName},
                nullptr, &err),
            1);
  EXPECT_THAT(err, HasSubstr("cannot be created"));
  EXPECT_TRUE(SafetensorsFile::open(model).ok());
}

TEST(CommandLine, WhatIsNotFiniteStopsTheProgram) {
  TestFolder folder;
  std::string data = folder.write(
      "data.tsv", makeData(40) + "1\t1\t3e38\t-3e38\t3e38\tu\tt\n");
  std::string out, err;
  EXPECT_EQ(
      run(folder,
          {"train", "--data", data, "--batch-size", "10", "--epochs", "50"},
          &out, &err),
      1);
  EXPECT_THAT(err, HasSubstr("not finite in batch 4 of " + data));
}

namespace {

struct BadFlags {
  std::vector<std::string> arguments;
  int status;
  const char *sentence;
};

} // namespace

TEST(CommandLine, BadFlagsAndFiles) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(30));
  std::string empty = folder.write("empty.tsv", "");
  std::string text = folder.write("text", "no tensors");
  std::string model = folder.file("model");
  ASSERT_EQ(run(folder, {"train", "--data", data, "--dump", model}), 0);
  const std::vector<BadFlags> cases = {
      {{}, 2, "train, evaluate or predict"},
      {{"fly"}, 2, "fly is no command"},
      {{"train"}, 2, "--data is required"},
      {{"train", "--data", data, "--frobnicate"}, 2, "--frobnicate"},
      {{"train", "--data", data, "--replicas", "2y3"}, 2, "GROUPSxWORKERS"},
      {{"train", "--data", data, "--replicas", "0x3"}, 2, "GROUPSxWORKERS"},
      {{"train", "--data", data, "--replicas", "999999x9"}, 2, "at most"},
      {{"train", "--data", data, "--threads", "0"}, 2, "--threads"},
      {{"train", "--data", data, "--batch-size", "0"}, 2, "--batch-size"},
      {{"train", "--data", data, "--batch-size", "x"}, 2, "--batch-size"},
      {{"train", "--data", data, "--epochs", "-1"}, 2, "--epochs"},
      {{"train", "--data", data, "--rows", "5"}, 2, "--rows"},
      {{"train", "--data", data, "--evaluate-rows", "b:a"}, 2, "evaluate-rows"},
      {{"train", "--data", data, "--delimiter", "abc"}, 2, "delimiter"},
      {{"train", "--data", data, "--dump-slots"}, 2, "--dump"},
      {{"evaluate", "--data", data}, 2, "--init-from is required"},
      {{"train", "--data", data, "--init-from", "/no/file"}, 2, "/no/file"},
      {{"train", "--data", "/no/file.tsv"}, 1, "/no/file.tsv"},
      {{"train", "--data", empty}, 1, "no samples"},
      {{"train", "--data", data, "--rows", "30:40"}, 1, "no samples"},
      {{"train", "--data", data, "--delimiter", "comma"}, 1, "data.tsv:1:"},
      {{"train", "--data", data, "--init-from", text}, 1, text.c_str()},
      {{"train", "--data", data, "--dump", "/no/folder/m"}, 1, "/no/folder"},
      {{"train", "--data", data, "--log-losses", "/no/folder/l"}, 1, "/no/fol"},
      {{"train", "--data", data, "--dump", "/tmp"}, 1, "no regular file"},
      {{"train", "--data", data, "--dump-batches", "/dev/null"},
       1,
       "no regular file"},
      {{"train", "--data", data, "--rows", "5:5"},
       1,
       "selects none of the rows of the data"},
      {{"predict", "--data", data, "--init-from", model, "--output",
        "/no/folder/p"},
       1,
       "/no/folder/p"},
  };
  for (const BadFlags &bad : cases) {
    std::string out, err, joined;
    for (const std::string &argument : bad.arguments)
      joined += " " + argument;
    EXPECT_EQ(run(folder, bad.arguments, &out, &err), bad.status) << joined;
    EXPECT_THAT(err, HasSubstr(bad.sentence)) << joined;
    EXPECT_THAT(err, testing::StartsWith("error: ")) << joined;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(out, "") << joined;
  }
}

// Ctrl-C: the step ends, the dump is written, the status names the signal.
TEST(CommandLine, SignalsEndAfterTheStep) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(2000));
  for (int number : {SIGINT, SIGTERM}) {
    const std::string dump = folder.file("dump" + std::to_string(number));
    TrainerProcess process(folder,
                           {"train", "--data", data, "--epochs", "1000000000",
                            "--batch-size", "50", "--dump", dump});
    // An epoch that was reported proves that the steps are under way.
    for (int i = 0; i < 3000; ++i) {
      if (process.errors().find("epoch 2:") != std::string::npos)
        break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(process.id(), number);
    EXPECT_EQ(process.wait(), 128 + number);
    EXPECT_THAT(process.output(), HasSubstr("stopped by a signal"));
    Expected<SafetensorsFile> file = SafetensorsFile::open(dump);
    ASSERT_TRUE(file.ok()) << file.status().message();
    EXPECT_NE(file->find("w"), nullptr);
  }
}

// Each thread wants a stack, for which there is no room here.
TEST(CommandLine, ThreadsThatCannotStartAreOneSentence) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers reserve more addresses than the limit allows";
#endif
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(30));
  const std::string errors = folder.file("errors");
  const std::string command =
      "ulimit -v 1500000; " + std::string(HAND_WRITTEN_TRAINER) +
      " train --threads 1024 --data " + data + " 2> " + errors;
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_THAT(folder.read("errors"),
              HasSubstr("of 1024 threads can be started"));
  EXPECT_THAT(folder.read("errors"), HasSubstr("give fewer --threads"));
}

// Flags of trainers with servers, before any server is looked for.
TEST(CommandLine, RefusesWrongFlagsOfACluster) {
  TestFolder folder;
  const std::string data = folder.write("train.tsv", makeData(10));
  auto errorsOf = [&](const char *program, std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"train", "--data", data};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    TrainerProcess process(folder, std::move(arguments), program);
    EXPECT_EQ(process.wait(), 2);
    return process.errors();
  };
  EXPECT_THAT(errorsOf(HAND_WRITTEN_TRAINER, {"--servers", "a:1"}),
              HasSubstr("--servers is for trainers with servers"));
  EXPECT_THAT(errorsOf(HAND_WRITTEN_TRAINER, {"--rank", "0"}),
              HasSubstr("--rank is for trainers with servers"));
  const char *sync = HAND_WRITTEN_SYNC_TRAINER;
  EXPECT_THAT(errorsOf(sync, {}), HasSubstr("--servers is required"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--replicas", "2x3"}),
              HasSubstr("give --replicas 1x3, and start 2 trainers"));
  EXPECT_THAT(
      errorsOf(sync, {"--servers", "a:1", "--rank", "2", "--trainers", "2"}),
      HasSubstr("numbered from 0 to 1"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--dump", "model"}),
              HasSubstr("--dump is not for a trainer with servers"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--init-from", data}),
              HasSubstr("give it to the servers"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--placement", "best"}),
              HasSubstr("least-loaded"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--token-file",
                              folder.write("token", "")}),
              HasSubstr("the first line is empty"));
}
