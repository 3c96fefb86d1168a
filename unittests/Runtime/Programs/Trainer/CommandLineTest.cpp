//===- CommandLineTest.cpp - A trainer as a process -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "Support/TrainerProcess.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/State/Model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

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
  // What is always refused is not offered.
  TrainerProcess sync(folder, {"train", "--help"}, HAND_WRITTEN_SYNC_TRAINER);
  EXPECT_EQ(sync.wait(), 0);
  EXPECT_THAT(sync.output(), HasSubstr("--servers"));
  for (const char *flag :
       {"--init-from FILE", "--dump FILE", "--dump-slots", "--dump-batches"})
    EXPECT_THAT(sync.output(), testing::Not(HasSubstr(flag)));
  EXPECT_EQ(run(folder, {"--version"}, &out), 0);
  for (const char *word :
       {"handwritten", "f32", "strict", "x86-64-v3", "0123456789abcdef",
        "none: no other process takes part"})
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

// A part of an epoch is not reported as the whole; and a test of what needs no
// more training is done.
TEST(CommandLine, PartsOfEpochsAndFinishedTrainings) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(100)),
                    test = folder.write("test.tsv", makeData(50, 2));
  const std::vector<std::string> line = {"train",
                                         "--data",
                                         data,
                                         "--batch-size",
                                         "10",
                                         "--steps",
                                         "16",
                                         "--evaluate-data",
                                         test,
                                         "--checkpoint",
                                         folder.file("saved"),
                                         "--resume"};
  std::string out, err;
  ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
  EXPECT_THAT(err, HasSubstr("epoch 1: train loss"));
  EXPECT_THAT(err, HasSubstr("epoch 2 (6 steps, not ended): train loss"));
  const double loss = figure(out, "test loss");
  ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
  EXPECT_THAT(out, HasSubstr("nothing left to train"));
  EXPECT_EQ(figure(out, "test loss"), loss);
}

// A test on what was trained on is said to be none.
TEST(CommandLine, TestRowsThatAreTrainedOnAreNamed) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(100)),
                    other = folder.write("other.tsv", makeData(50, 2));
  auto errorsOf = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {"train", "--data", data};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    std::string err;
    EXPECT_EQ(run(folder, arguments, nullptr, &err), 0);
    return err;
  };
  for (const std::vector<std::string> &flags :
       std::vector<std::vector<std::string>>{
           {"--evaluate-rows", "80%:"},
           {"--evaluate-rows", "90:"},
           {"--rows", "0%:80%", "--evaluate-rows", "70%:"},
           {"--rows", "0:81", "--evaluate-rows", "80:100"},
           {"--rows", "0:81", "--evaluate-rows", ":10%"},
           {"--rows", "0:80", "--evaluate-data", data},
           {"--evaluate-data", other, data}})
    EXPECT_THAT(errorsOf(flags), HasSubstr("says nothing about new data"))
        << flags.back();
  for (const std::vector<std::string> &flags :
       std::vector<std::vector<std::string>>{
           {"--rows", "0%:80%", "--evaluate-rows", "80%:"},
           {"--rows", "20:", "--evaluate-rows", ":20"},
           {"--rows", "0%:80%", "--evaluate-rows", "80:100"},
           {"--evaluate-data", other}})
    EXPECT_THAT(errorsOf(flags), testing::Not(HasSubstr("new data")))
        << flags.back();
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
  ASSERT_EQ(run(folder,
                {"predict", "--data", all, "--columns", "dense,ids",
                 "--init-from", model, "--batch-size", "3"},
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
    ASSERT_EQ(
        run(folder, {"predict", "--data", one, "--columns", "dense,ids",
                     "--init-from", model, "--output", folder.file("one.out")}),
        0);
    EXPECT_EQ(folder.read("one.out"), "p\n" + row + "\n");
    const double p = std::stod(row);
    EXPECT_GT(p, 0);
    EXPECT_LT(p, 1);
  }
  EXPECT_FALSE(std::getline(rows, row));
}

// Scores stay in line with the rows that they are of.
TEST(CommandLine, PredictKeepsThePlacesOfBadRows) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(500)), out, err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string good = "0.1\t0\t0.5\tu1\tt1\n";
  std::string data = "id\tdense.0\tdense.1\tdense.2\tids.0\tids.1\n";
  for (const char *bad : {"a", "d", "e", "h"})
    data += std::string(bad) + "\twhat\t0\t0.5\tu1\tt1\n" + bad + "+\t" + good;
  data += "z z\t" + good + "last\n";
  const std::string file = folder.write("new.tsv", data);
  for (const char *threads : {"1", "3"}) {
    ASSERT_EQ(run(folder,
                  {"predict", "--data", file, "--header", "--init-from", model,
                   "--max-bad-rows", "5", "--batch-size", "2", "--threads",
                   threads, "--copy-column", "id"},
                  &out, &err),
              0)
        << err;
    EXPECT_THAT(err, HasSubstr("predicted 5 samples, nan for 5 bad rows"));
    std::istringstream lines(out);
    std::string line, score;
    std::vector<std::string> ids, scores;
    while (std::getline(lines, line)) {
      ids.push_back(line.substr(0, line.find('\t')));
      scores.push_back(line.substr(line.find('\t') + 1));
    }
    EXPECT_THAT(ids, testing::ElementsAre("id", "a", "a+", "d", "d+", "e", "e+",
                                          "h", "h+", "z z", "last"));
    ASSERT_EQ(scores.size(), 11u);
    EXPECT_EQ(scores[0], "p");
    for (int i : {1, 3, 5, 7, 10})
      EXPECT_EQ(scores[i], "nan");
    for (int i : {2, 4, 6, 8, 9})
      EXPECT_EQ(scores[i], scores[2]);
    EXPECT_GT(std::stod(scores[2]), 0);
  }
}

// Names that are not those of the fields are not passed over in silence, and
// not said of again by each epoch.
TEST(CommandLine, AHeaderOfOtherNamesIsSaid) {
  TestFolder folder;
  auto errorsFor = [&](const std::string &header) {
    const std::string data = folder.write("data.tsv", header + makeData(50));
    std::string err;
    EXPECT_EQ(run(folder,
                  {"train", "--data", data, "--header", "--epochs", "3",
                   "--replicas", "2x1", "--dump", folder.file("model")},
                  nullptr, &err),
              0);
    return err;
  };
  const std::string rest = "weight\tdense.0\tdense.1\tdense.2\tids.0\tids.1\n";
  EXPECT_THAT(errorsFor("label\t" + rest), testing::Not(HasSubstr("warning")));
  const std::string err = errorsFor("Label\t" + rest);
  const std::string sentence = "the header has no column `label`, which field "
                               "`label` reads, but `Label`, in other letters";
  EXPECT_THAT(err, HasSubstr(sentence));
  EXPECT_EQ(err.find(sentence), err.rfind(sentence));
  EXPECT_THAT(errorsFor("y\t" + rest),
              HasSubstr("`label` reads: columns are taken in the order"));
}

// Scores that were there stay until there are new ones for all rows.
TEST(CommandLine, PredictKeepsWhatItCannotReplace) {
  TestFolder folder;
  const std::string train = folder.write("train.tsv", makeData(50)),
                    model = folder.file("m.safetensors"),
                    scores = folder.write("scores.tsv", "old\n");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string good = "0.1\t0\t0.5\tu1\tt1\n";
  auto predict = [&](const std::string &rows) {
    const std::string data = folder.write("new.tsv", rows);
    return run(folder,
               {"predict", "--data", data, "--init-from", model, "--columns",
                "dense,ids", "--batch-size", "1", "--output", scores});
  };
  EXPECT_EQ(predict(good + good + "what\t0\t0.5\tu1\tt1\n"), 1);
  EXPECT_EQ(folder.read("scores.tsv"), "old\n");
  // Nor is anything left beside it.
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(scores).parent_path()))
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".tmp.")));
  EXPECT_EQ(predict(good), 0);
  EXPECT_THAT(folder.read("scores.tsv"), testing::StartsWith("p\n0."));
  // What a link stands for is written, not the link.
  const std::string link = folder.file("link.tsv");
  std::filesystem::create_symlink(scores, link);
  folder.write("scores.tsv", "old\n");
  const std::string data = folder.write("new.tsv", good);
  EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model,
                         "--columns", "dense,ids", "--output", link}),
            0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_THAT(folder.read("scores.tsv"), testing::StartsWith("p\n0."));
}

// A file without labels, but with weights, is no guessing matter.
TEST(CommandLine, PredictDoesNotGuessColumns) {
  TestFolder folder;
  std::string train = folder.write("train.tsv", makeData(50)), err;
  const std::string model = folder.file("m.safetensors");
  ASSERT_EQ(run(folder, {"train", "--data", train, "--dump", model}), 0);
  const std::string inputs = "0.1\t0\t0.5\tu1\tt1\n";
  for (const std::string &line : {inputs, "1\t" + inputs}) {
    const std::string data = folder.write("new.tsv", line);
    EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model},
                  nullptr, &err),
              1);
    EXPECT_THAT(err, HasSubstr("--columns"));
  }
  const std::string data = folder.write("new.tsv", "1\t" + inputs);
  EXPECT_EQ(run(folder, {"predict", "--data", data, "--init-from", model,
                         "--columns", "weight,dense,ids"}),
            0);
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

TEST(CommandLine, ACacheChangesNothing) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(1500));
  auto train = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--data", data, "--replicas", "2x2", "--threads", "2",
                 "--batch-size", "32", "--rows", "0%:80%", "--evaluate-rows",
                 "80%:", "--shuffle-window", "300", "--dump",
                 folder.file("d")});
    std::string out, errors;
    EXPECT_EQ(run(folder, more, &out, &errors), 0) << errors;
    // Without the times.
    return folder.read("d") + out.substr(out.find("train loss"));
  };
  const std::string cache = folder.file("cache");
  const std::string expected = train({"--epochs", "2"});
  EXPECT_EQ(train({"--epochs", "2", "--cache", cache}), expected);
  const std::filesystem::path file =
      std::filesystem::directory_iterator(cache)->path();
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(train({"--epochs", "2", "--cache", cache}), expected);
  // In the middle of an epoch, from text to the cache.
  train({"--steps", "13", "--checkpoint", folder.file("saved")});
  EXPECT_EQ(train({"--epochs", "2", "--cache", cache, "--checkpoint",
                   folder.file("saved"), "--resume"}),
            expected);
  EXPECT_EQ(std::filesystem::last_write_time(file), written);
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
  ASSERT_TRUE(keys->copyTo(list.data()).ok());
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
  ASSERT_EQ(run(folder,
                {"train", "--data", data, "--steps", "0", "--init-from",
                 folder.file("a"), "--dump", folder.file("b"), "--dump-slots"},
                nullptr, &err),
            0)
      << err;
  EXPECT_EQ(folder.read("a"), folder.read("b"));
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
  EXPECT_EQ(figure(out, "train bad rows skipped"), 1);
  EXPECT_THAT(out, HasSubstr("40 samples"));
  EXPECT_THAT(err, HasSubstr("data.tsv:21:1: "));
}

// What was trained before a row that cannot be read is kept as on Ctrl-C, and
// goes on to the bits of a run that was not stopped.
TEST(CommandLine, ABadRowCostsNothingThatWasTrained) {
  TestFolder folder;
  const std::string data =
      folder.write("data.tsv", makeData(205) + "what\t1\t0\t0\t0\tu\tt\n" +
                                   makeData(100, 2));
  for (const char *threads : {"1", "3"})
    for (const char *replicas : {"1x1", "1x3", "2x2"}) {
      const std::string name = fmt::format("{}-{}", threads, replicas);
      auto train = [&](const std::string &saved, std::vector<std::string> more,
                       std::string *out, std::string *err) {
        std::vector<std::string> arguments = {
            "train",
            "--data",
            data,
            "--epochs",
            "2",
            "--batch-size",
            "10",
            "--replicas",
            replicas,
            "--threads",
            threads,
            "--checkpoint",
            folder.file(saved + name),
            "--dump",
            folder.file(saved + name + ".dump"),
            "--dump-slots"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run(folder, arguments, out, err);
      };
      std::string out, err;
      EXPECT_EQ(train("stopped", {}, &out, &err), 1);
      EXPECT_THAT(err, HasSubstr("error: " + data + ":206:1: "));
      EXPECT_THAT(err, HasSubstr("steps, not ended): train loss"));
      EXPECT_THAT(out, HasSubstr("stopped after the current step by data"));
      const double steps = figure(out, "trained");
      EXPECT_GE(steps, 4);
      EXPECT_TRUE(
          SafetensorsFile::open(folder.file("stopped" + name + ".dump")).ok());
      ASSERT_EQ(
          train("stopped", {"--resume", "--max-bad-rows", "1"}, &out, &err), 0)
          << err;
      EXPECT_EQ(figure(out, "resumed after"), steps);
      ASSERT_EQ(train("whole", {"--max-bad-rows", "1"}, &out, &err), 0) << err;
      EXPECT_EQ(folder.read("stopped" + name + ".dump"),
                folder.read("whole" + name + ".dump"))
          << name;
    }
  // A first row that cannot be read costs no model of another run.
  const std::string bad = folder.write("bad.tsv", "what\n");
  folder.write("old.dump", "old");
  EXPECT_EQ(
      run(folder, {"train", "--data", bad, "--dump", folder.file("old.dump")}),
      1);
  EXPECT_EQ(folder.read("old.dump"), "old");
}

// A test that fails costs nothing of what was trained.
TEST(CommandLine, ABadTestRowCostsNoEpoch) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(50)),
                    test = folder.write(
                        "test.tsv", makeData(5) + "what\t1\t0\t0\t0\tu\tt\n"),
                    dump = folder.file("dump");
  std::string err;
  EXPECT_EQ(
      run(folder,
          {"train", "--data", data, "--evaluate-data", test, "--dump", dump},
          nullptr, &err),
      1);
  EXPECT_THAT(err, HasSubstr("epoch 1: train loss"));
  EXPECT_THAT(err, HasSubstr("error: " + test + ":6:1: "));
  EXPECT_TRUE(SafetensorsFile::open(dump).ok());
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
    EXPECT_EQ(figure(out, "train bad rows skipped"), 3) << threads;
    EXPECT_EQ(figure(out, "test bad rows skipped"), 2) << threads;
  }
}

// The counts are those of the epoch and the test that they stand beside, also
// where the epoch began in an earlier run.
TEST(CommandLine, BadRowsAreThoseOfTheLastEpochAndTest) {
  TestFolder folder;
  const std::string bad = "what\t1\t0\t0\t0\tu\tt\n";
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += makeData(10, i) + bad;
  const std::string data = folder.write("data.tsv", text),
                    test = folder.write("test.tsv", makeData(10) + bad + bad);
  auto train = [&](const std::string &saved, std::vector<std::string> more,
                   std::string &out) {
    std::vector<std::string> arguments = {"train",
                                          "--data",
                                          data,
                                          "--evaluate-data",
                                          test,
                                          "--max-bad-rows",
                                          "100",
                                          "--batch-size",
                                          "10",
                                          "--checkpoint",
                                          folder.file(saved)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::string err;
    EXPECT_EQ(run(folder, arguments, &out, &err), 0) << err;
  };
  std::string out;
  train("three", {"--epochs", "3"}, out);
  EXPECT_EQ(figure(out, "train bad rows skipped"), 10);
  EXPECT_EQ(figure(out, "test bad rows skipped"), 2);
  // Ends of a run at any place of an epoch.
  for (const char *threads : {"1", "3"})
    for (const char *replicas : {"1x1", "2x2"})
      for (const char *steps : {"1", "2", "3", "4"}) {
        const std::string name =
            std::string("saved-") + threads + replicas + steps;
        train(name,
              {"--steps", steps, "--replicas", replicas, "--threads", threads},
              out);
        train(name,
              {"--epochs", "2", "--resume", "--replicas", replicas, "--threads",
               threads},
              out);
        EXPECT_EQ(figure(out, "train bad rows skipped"), 10) << name;
        EXPECT_EQ(figure(out, "test bad rows skipped"), 2) << name;
      }
}

// A loss without weight is no number, on every machine the same text.
TEST(CommandLine, LossesOfStepsWithoutWeightAreNan) {
  TestFolder folder;
  const std::string zero = "1\t0\t1\t1\t1\tu1\tt1\n",
                    one = "1\t1\t1\t1\t1\tu1\tt1\n";
  std::string data = folder.write("data.tsv", zero + one), out;
  ASSERT_EQ(run(folder,
                {"train", "--data", data, "--batch-size", "1", "--log-losses",
                 folder.file("losses")},
                &out),
            0);
  EXPECT_THAT(folder.read("losses"), testing::StartsWith("nan\n"));
  EXPECT_EQ(figure(out, "updates skipped for a zero sum of weights"), 1);
  // Where no sample has any, that is said.
  std::string err;
  EXPECT_EQ(run(folder, {"train", "--data", folder.write("zero.tsv", zero)},
                nullptr, &err),
            0);
  EXPECT_THAT(err, HasSubstr("all weights in "));
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
  std::string model = folder.file("model"), other = folder.file("other");
  ASSERT_EQ(run(folder, {"train", "--data", data, "--dump", model}), 0);
  const std::vector<BadFlags> cases = {
      {{}, 2, "train, evaluate or predict"},
      {{"fly"}, 2, "fly is no command"},
      {{"train"}, 2, "--data is required"},
      {{"train", "--dta", "x"},
       2,
       "--dta is no flag here; did you mean '--data'?; --data is required"},
      {{"train", "--data", data, "--frobnicate"}, 2, "--frobnicate"},
      {{"train", "--data", data, "--replicas", "2y3"}, 2, "GROUPSxWORKERS"},
      {{"train", "--data", data, "--replicas", "0x3"}, 2, "GROUPSxWORKERS"},
      {{"train", "--data", data, "--replicas", "999999x9"}, 2, "at most"},
      {{"train", "--data", data, "--threads", "0"}, 2, "--threads"},
      {{"train", "--data", data, "--batch-size", "0"}, 2, "--batch-size"},
      {{"train", "--data", data, "--batch-size", "x"}, 2, "--batch-size"},
      {{"train", "--data", data, "--epochs", "-1"}, 2, "--epochs"},
      {{"train", "--data", data, "--epochs", "0x10"}, 2, "'0x10'"},
      {{"train", "--data", data, "--steps", "1e3"}, 2, "'1e3'"},
      {{"train", "--data", data, "--steps", "99999999999999999999"},
       2,
       "'99999999999999999999' is no whole number"},
      {{"train", "--data", data, "--seed", "0x7"}, 2, "'0x7'"},
      {{"train", "--data", data, "--seed", "-1"}, 2, "'-1'"},
      {{"train", "--data", data, "--seed", "18446744073709551616"},
       2,
       "'18446744073709551616'"},
      {{"train", "--data", data, "--seed", ""}, 2, "''"},
      {{"train", "--data", data, "--replicas", "0x1x1"}, 2, "GROUPSxWORKERS"},
      {{"train", "--data", data, "--dump", ""}, 2, "the value is empty"},
      {{"train", "--data", data, "--checkpoint", ""}, 2, "the value is empty"},
      {{"train", "--data", ""}, 2, "the value is empty"},
      {{"train", "--data", data, "--dump", "-"}, 1, "the standard output"},
      {{"train", "--data", data, "--columns", "dense"},
       2,
       "--columns does not name field `label`"},
      {{"train", "--data", data, "--columns", "who"}, 2, "names `who`, but"},
      {{"train", "--data", data, "--columns", ""}, 2, "names ``, but"},
      {{"train", "--data", data, "--delimiter", "\""}, 2, "another delimiter"},
      {{"predict", "--data", data, "--init-from", model, "--copy-column", "0"},
       2,
       "no number of a column, counted from 1"},
      {{"predict", "--data", data, "--init-from", model, "--copy-column=-1"},
       2,
       "no number of a column, counted from 1"},
      {{"predict", "--data", data, "--init-from", model, "--copy-column", "99"},
       1,
       "--copy-column wants cell 99"},
      {{"evaluate", "--data", model + ".safetensors", "--init-from", model,
        "--header"},
       2,
       "are for delimited text"},
      {{"train", "--data", data, "--evaluate-data", model + ".safetensors",
        "--delimiter", "tab"},
       2,
       "are for delimited text"},
      {{"train", "--data", data, "--rows", "5"}, 2, "--rows"},
      {{"train", "--data", data, "--evaluate-rows", "b:a"}, 2, "evaluate-rows"},
      {{"train", "--data", data, "--delimiter", "abc"}, 2, "delimiter"},
      {{"train", "--data", data, "--dump-slots"}, 2, "--dump"},
      {{"evaluate", "--data", data}, 2, "--init-from is required"},
      {{"train", "--data", data, "--init-from", "/no/file"}, 2, "/no/file"},
      {{"train", "--data", "/no/file.tsv"}, 1, "/no/file.tsv"},
      {{"train", "--data", empty, "--dump", other}, 1, "no samples"},
      {{"train", "--data", data, "--rows", "30:40", "--dump", other},
       1,
       "no samples"},
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
      {{"train", "--data", data, "--device", "cuda"},
       2,
       "error: --device is for a program that computes on devices, but this "
       "program computes on CPUs: leave it out"},
      {{"predict", "--data", data, "--init-from", model, "--device", "fake"},
       2,
       "translate the model with --target=cuda"},
      {{"train", "--data", data, "--table-placement", "device"},
       2,
       "--table-placement device is for a program that was translated with "
       "--target=cuda: use --table-placement host"},
      {{"predict", "--data", data, "--init-from", model, "--output",
        "/no/folder/p"},
       1,
       "/no/folder/p"},
      {{"predict", "--data", data, "--init-from", model, "--output-format",
        "json"},
       2,
       "--output-format"},
      {{"predict", "--data", data, "--init-from", model, "--output-format",
        "safetensors"},
       2,
       "cannot write to the standard output what is not text"},
      {{"predict", "--data", data, "--init-from", model, "--output",
        "/dev/null", "--output-format", "safetensors"},
       2,
       "is no regular file"},
      {{"predict", "--data", data, "--init-from", model, "--flush-after", "1s"},
       2,
       "--flush-after"},
      {{"predict", "--data", "-", "--init-from", model},
       1,
       "standard input has no name that says what ends a cell"},
      {{"predict", "--data", "-", data, "-", "--init-from", model},
       2,
       "standard input can be read but once, but is named twice"},
      {{"predict", "--data", "-", "--init-from", model, "--cache", "c"},
       2,
       "leave --cache out"},
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

// What a program writes destroys nothing that it, or somebody else, reads.
TEST(CommandLine, OutputsDestroyNothing) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(30));
  const std::string link = folder.file("link.tsv"), hard = folder.file("hard");
  const std::string to = folder.file("to"), model = folder.file("model");
  std::filesystem::create_symlink(data, link);
  std::filesystem::create_hard_link(data, hard);
  std::filesystem::create_symlink(folder.file("elsewhere"), to);
  ASSERT_EQ(run(folder, {"train", "--data", data, "--dump", model,
                         "--checkpoint", folder.file("saved")}),
            0);
  const std::string saved = folder.file("saved/step-000000000001");
  const std::string before = folder.read("data.tsv");
  const std::string manifest =
      folder.read("saved/step-000000000001/manifest.json");
  const std::string dotted = folder.file("./other/../d");
  const std::vector<std::vector<std::string>> refused = {
      {"--log-losses", data},
      {"--log-losses", link},
      {"--log-losses", hard},
      {"--dump", data},
      {"--dump", hard},
      {"--dump-batches", data},
      {"--evaluate-data", data, "--dump", hard},
      {"--init-from", model, "--dump", model},
      {"--dump", folder.file("d"), "--dump-batches", folder.file("d")},
      {"--dump", folder.file("d"), "--dump-batches", dotted},
      {"--dump", folder.file("d"), "--log-losses", folder.file("d")},
      {"--dump", saved + "/manifest.json"},
      {"--dump", saved + "/new"},
      {"--log-losses", saved + "/dense.safetensors"},
      {"--dump", to},
  };
  std::filesystem::create_directory(folder.file("other"));
  for (const std::vector<std::string> &flags : refused) {
    std::vector<std::string> arguments = {"train", "--data", data};
    std::string err, joined;
    for (const std::string &flag : flags) {
      arguments.push_back(flag);
      joined += " " + flag;
    }
    EXPECT_NE(run(folder, arguments, nullptr, &err), 0) << joined;
    EXPECT_THAT(err, testing::StartsWith("error: ")) << joined;
    EXPECT_EQ(folder.read("data.tsv"), before) << joined;
    EXPECT_EQ(folder.read("saved/step-000000000001/manifest.json"), manifest);
    EXPECT_FALSE(std::filesystem::exists(folder.file("d"))) << joined;
    EXPECT_TRUE(std::filesystem::is_symlink(to)) << joined;
  }
  std::string err;
  for (const std::string &target : {data, model, link})
    EXPECT_EQ(run(folder,
                  {"predict", "--data", data, "--init-from", model, "--output",
                   target},
                  nullptr, &err),
              2)
        << err;
  EXPECT_EQ(folder.read("data.tsv"), before);
  // What swallows everything is nobody's.
  EXPECT_EQ(run(folder, {"train", "--data", data, "--log-losses", "/dev/null"}),
            0);
}

// Numbers are decimal, whatever they begin with.
TEST(CommandLine, NumbersOfFlagsAreDecimal) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(30));
  auto dumpOf = [&](const char *seed) {
    EXPECT_EQ(run(folder, {"train", "--data", data, "--seed", seed, "--dump",
                           folder.file("d")}),
              0);
    return folder.read("d");
  };
  const std::string ten = dumpOf("10");
  EXPECT_EQ(dumpOf("010"), ten);
  EXPECT_NE(dumpOf("8"), ten);
}

TEST(CommandLine, StandardOutputTakesLossesAndPredictions) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(30));
  const std::string model = folder.file("model");
  std::string out;
  ASSERT_EQ(run(folder,
                {"train", "--data", data, "--batch-size", "10", "--log-losses",
                 "-", "--dump", model},
                &out),
            0);
  std::istringstream lines(out);
  std::string line;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_GT(std::stod(line), 0.1) << line;
  }
  EXPECT_FALSE(std::filesystem::exists("-"));
  std::string predicted;
  ASSERT_EQ(
      run(folder,
          {"predict", "--data", data, "--init-from", model, "--output", "-"},
          &predicted),
      0);
  EXPECT_EQ(std::count(predicted.begin(), predicted.end(), '\n'), 31);
}

// Nothing is trained, and everything else is done.
TEST(CommandLine, NoStepsWriteInitialValues) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(30));
  std::string out, err;
  ASSERT_EQ(
      run(folder,
          {"train", "--data", data, "--steps", "0", "--seed", "5", "--dump",
           folder.file("d"), "--checkpoint", folder.file("saved")},
          &out, &err),
      0)
      << err;
  EXPECT_THAT(out, HasSubstr("trained 0 steps"));
  EXPECT_TRUE(SafetensorsFile::open(folder.file("d")).ok());
  // What begins there is what begins by itself.
  auto trained = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {
        "train",  "--data",         data,           "--seed",  "5",
        "--dump", folder.file("t"), "--dump-slots", "--steps", "3"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_EQ(run(folder, arguments, nullptr, &err), 0) << err;
    return folder.read("t");
  };
  const std::string once = trained({});
  EXPECT_EQ(trained({"--checkpoint", folder.file("saved"), "--resume"}), once);
  EXPECT_EQ(trained({"--init-from", folder.file("d")}), once);
}

// A dump with slots goes on as the training that wrote it does: Adam's bias
// correction needs the number of updates.
TEST(CommandLine, ADumpWithSlotsGoesOnWithItsSteps) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(300));
  const std::string half = folder.file("half"), whole = folder.file("whole"),
                    again = folder.file("again");
  auto train = [&](std::vector<std::string> flags) {
    std::vector<std::string> arguments = {
        "train", "--data", data, "--batch-size", "10", "--dump-slots"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    std::string err;
    EXPECT_EQ(run(folder, arguments, nullptr, &err), 0) << err;
    return err;
  };
  train({"--steps", "20", "--dump", whole});
  train({"--steps", "10", "--dump", half});
  std::string err =
      train({"--rows", "100:200", "--init-from", half, "--dump", again});
  EXPECT_THAT(err, HasSubstr("took w, b, emb from " + half));
  EXPECT_EQ(folder.read("again"), folder.read("whole"));

  // Values alone, so that what depends on steps begins anew: as from a dump
  // that has neither slots nor counts.
  const auto rest = [&](std::vector<std::string> from) {
    from.insert(from.end(), {"--rows", "100:200", "--dump", again});
    err = train(from);
    return folder.read("again");
  };
  const std::string anew = rest({"--init-from", half, "--init-values-only"});
  EXPECT_THAT(err, HasSubstr("were not taken (--init-values-only)"));
  EXPECT_THAT(err, testing::Not(HasSubstr("belongs to nothing")));
  EXPECT_NE(anew, folder.read("whole"));
  Model model(*handWrittenProgram({}), 0);
  ASSERT_TRUE(initializeModel(model, half, FileCoverage::AnyValues).ok());
  const std::string values = folder.file("values");
  ASSERT_TRUE(dumpModel(model, values, /*withSlots=*/false).ok());
  EXPECT_EQ(rest({"--init-from", values}), anew);

  // The same without the counts: not the same, and the log says why.
  Expected<SafetensorsFile> file = SafetensorsFile::open(half);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->metadata().at("group.sparse.steps"), "10");
  SafetensorsWriter writer;
  for (const TensorView &tensor : file->tensors()) {
    std::vector<char> bytes(tensor.byteSize());
    ASSERT_TRUE(tensor.copyTo(bytes.data()).ok());
    ASSERT_TRUE(
        writer.addCopy(tensor.name, tensor.type, tensor.shape, bytes.data())
            .ok());
  }
  const std::string stripped = folder.file("stripped");
  ASSERT_TRUE(writer.write(stripped).ok());
  err = train({"--rows", "100:200", "--init-from", stripped, "--dump", again});
  EXPECT_THAT(err, HasSubstr("bias corrections and schedules begin anew"));
  EXPECT_NE(folder.read("again"), folder.read("whole"));
  // A dump of values alone is a beginning, and no cause for a warning.
  train({"--steps", "0", "--dump", again, "--init-from", half});
  EXPECT_THAT(train({"--steps", "0", "--dump", folder.file("n")}),
              testing::Not(HasSubstr("begin anew")));
}

// Without being written to a file first.
TEST(CommandLine, TrainsFromAPipeOnce) {
  TestFolder folder;
  const std::string text = makeData(3000);
  const std::string data = folder.write("data.tsv", text);
  const std::string pipe = folder.file("pipe.tsv");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::string out, err;
  {
    std::thread writer([&] { std::ofstream(pipe) << text; });
    EXPECT_EQ(run(folder, {"train", "--data", pipe, "--dump", folder.file("p")},
                  &out, &err),
              0)
        << err;
    writer.join();
  }
  EXPECT_THAT(out, HasSubstr("3000 samples"));
  ASSERT_EQ(run(folder, {"train", "--data", data, "--dump", folder.file("f")}),
            0);
  EXPECT_EQ(folder.read("p"), folder.read("f"));
  // Nobody writes: what would wait for ever, or lose rows, is refused at once.
  for (std::vector<std::string> flags :
       {std::vector<std::string>{"--epochs", "2"},
        {"--steps", "5"},
        {"--evaluate-rows", "0:5"},
        {"--evaluate-data", pipe},
        {"--data", pipe},
        {"--rows", "0%:50%"},
        {"--replicas", "2x1"}}) {
    std::vector<std::string> arguments = {"train", "--data", pipe};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    EXPECT_NE(run(folder, arguments, nullptr, &err), 0);
    EXPECT_THAT(err, HasSubstr("can be read but once")) << flags.front();
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

// The writer of a pipe that has nothing to say keeps nobody from stopping.
TEST(CommandLine, ASignalEndsWhoWaitsForData) {
  TestFolder folder;
  const std::string pipe = folder.file("pipe.tsv"),
                    saved = folder.file("saved");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const char *threads : {"1", "2"}) {
    TrainerProcess process(folder, {"train", "--data", pipe, "--batch-size",
                                    "50", "--threads", threads, "--log-losses",
                                    folder.file("losses"), "--checkpoint",
                                    saved, "--checkpoint-steps", "3"});
    std::ofstream writer(pipe);
    writer << makeData(200) << std::flush;
    for (int i = 0; i < 3000 && listCheckpoints(saved).empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(process.id(), SIGTERM);
    EXPECT_EQ(process.wait(), 128 + SIGTERM) << process.errors();
    EXPECT_THAT(process.output(), HasSubstr("stopped by a signal"));
    // All that was trained is saved.
    std::vector<std::string> refused;
    Expected<Checkpoint> last = openCheckpoint(saved, refused);
    ASSERT_TRUE(last.ok()) << last.status().message();
    EXPECT_EQ(last->manifest().progress.samples,
              50 * last->manifest().progress.steps);
    const std::string losses = folder.read("losses");
    EXPECT_EQ(std::count(losses.begin(), losses.end(), '\n'),
              last->manifest().progress.steps);
    std::filesystem::remove_all(saved);
  }
  // Not even a writer is there.
  TrainerProcess process(folder, {"train", "--data", pipe});
  for (int i = 0; i < 3000; ++i) {
    std::error_code error;
    const std::string files = "/proc/" + std::to_string(process.id()) + "/fd";
    bool isOpen = false;
    for (const auto &entry : std::filesystem::directory_iterator(files, error))
      isOpen |= std::filesystem::read_symlink(entry, error) == pipe;
    if (isOpen)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process.id(), SIGTERM);
  EXPECT_EQ(process.wait(), 128 + SIGTERM) << process.errors();
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
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1,b:1,a:1"}),
              HasSubstr("--servers names a:1 twice"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1,b"}),
              HasSubstr("--servers: 'b' is no address: it has no port"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--replicas", "2x3"}),
              HasSubstr("give --replicas 1x3, and start 2 trainers"));
  EXPECT_THAT(
      errorsOf(sync, {"--servers", "a:1", "--rank", "2", "--trainers", "2"}),
      HasSubstr("numbered from 0 to 1"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--dump", "model"}),
              HasSubstr("pdl-checkpoint dump FOLDER -o FILE"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--init-from", data}),
              HasSubstr("give it to the servers"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--init-values-only"}),
              HasSubstr("--init-from"));
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--placement", "best"}),
              HasSubstr("least-loaded"));
  const std::string token = folder.write("token", "");
  ASSERT_EQ(::chmod(token.c_str(), 0600), 0);
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--token-file", token}),
              HasSubstr("the first line is empty"));
}

TEST(CommandLine, ATokenIsTheFirstLineWhateverItHolds) {
  TestFolder folder;
  const std::string token("sesam\0open sesam", 16);
  const std::string path = folder.write("whole", token + "\nnot");
  EXPECT_THAT(readTokenFile("--token-file", path).status().message(),
              HasSubstr("other users can read or change this file"));
  for (const mode_t mode : {0604, 0602, 0640, 0620}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(readTokenFile("--token-file", path).ok(),
              mode == 0640 && ::geteuid() == 0);
  }
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(*readTokenFile("--token-file", path), token);
  const std::string brief = folder.write("brief", "fifteen letters\n");
  ASSERT_EQ(::chmod(brief.c_str(), 0600), 0);
  EXPECT_THAT(readTokenFile("--token-file", brief).status().message(),
              AllOf(HasSubstr("--token-file " + brief +
                              ": the secret has 15 "
                              "bytes"),
                    Not(HasSubstr("letters"))));
}
