//===- CommandLineTest.cpp - A trainer as a process -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineRun.h"

#include "Support/HandWrittenProgram.h"
#include "Support/TrainerProcess.h"

#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/State/Model.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using testing::HasSubstr;

TEST(CommandLine, HelpAndVersion) {
  TestFolder folder;
  std::string out;
  EXPECT_EQ(run(folder, {"--help"}, &out), 0);
  for (const char *word : {"train", "evaluate", "predict", "Exit status"})
    EXPECT_THAT(out, HasSubstr(word));
  EXPECT_EQ(run(folder, {"train", "--help"}, &out), 0);
  for (const char *word : {"--replicas", "--init-from", "Example", "--steps"})
    EXPECT_THAT(out, HasSubstr(word));
  // Flags that are always refused are hidden.
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
  // With unit weights, the model's loss and the metric are the same mean.
  EXPECT_NEAR(loss, figure(out, "test log loss"), 1e-4);

  // The dump contains the whole model: another process computes the same
  // figures.
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

// A part of an epoch is not reported as a whole one. A test runs even if
// nothing is left to train.
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
  EXPECT_THAT(out, HasSubstr("already has all steps asked for (--steps 16, 16 "
                             "steps trained)"));
  EXPECT_THAT(out, HasSubstr("so give more than 16"));
  EXPECT_EQ(figure(out, "test loss"), loss);
}

// Rows that a range asks for and the data lack are reported.
TEST(CommandLine, RowRangesBeyondTheEnd) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(100)),
                    more = folder.write("more.tsv", makeData(50, 2));
  const auto errorsOf = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"train", "--epochs", "2", "--data"});
    std::string err;
    EXPECT_EQ(run(folder, flags, nullptr, &err), 0) << err;
    return err;
  };
  EXPECT_THAT(errorsOf({data, "--rows", "20:130"}),
              HasSubstr("the row range ends at row 130, but the data have 100 "
                        "rows; it ends with them"));
  EXPECT_THAT(errorsOf({data, more, "--rows", "20:151"}),
              HasSubstr("the row range ends at row 151, but the data have 150 "
                        "rows"));
  for (const char *rows : {"20:100", "20:", "0%:100%"})
    EXPECT_THAT(errorsOf({data, "--rows", rows}),
                testing::Not(HasSubstr("the row range ends")));
}

// A checkpoint after the last step of an epoch has nothing left either.
TEST(CommandLine, CheckpointsThatHaveAllEpochs) {
  for (const char *everySteps : {"5", "7"}) {
    TestFolder folder;
    const std::string data = folder.write("data.tsv", makeData(100));
    std::vector<std::string> line = {"train",
                                     "--data",
                                     data,
                                     "--batch-size",
                                     "10",
                                     "--checkpoint",
                                     folder.file("saved"),
                                     "--checkpoint-steps",
                                     everySteps,
                                     "--resume"};
    std::string out, err;
    ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
    EXPECT_THAT(out, testing::Not(HasSubstr("nothing left to train")));
    ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
    EXPECT_THAT(out, HasSubstr("already has all epochs asked for (--epochs 1 "
                               "by default, 10 steps trained); --epochs "
                               "counts from the beginning of the training, so "
                               "give more than 1"));
    line.insert(line.end(), {"--epochs", "2"});
    ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
    EXPECT_THAT(out, HasSubstr("trained 10 steps"));
    EXPECT_THAT(out, testing::Not(HasSubstr("nothing left to train")));
    ASSERT_EQ(run(folder, line, &out, &err), 0) << err;
    EXPECT_THAT(out, HasSubstr("(--epochs 2, 20 steps trained)"));
  }
}

// A test on training rows is reported.
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
    // The times are removed.
    return folder.read("d") + out.substr(out.find("train loss"));
  };
  const std::string cache = folder.file("cache");
  const std::string expected = train({"--epochs", "2"});
  EXPECT_EQ(train({"--epochs", "2", "--cache", cache}), expected);
  const std::filesystem::path file =
      std::filesystem::directory_iterator(cache)->path();
  const auto written = std::filesystem::last_write_time(file);
  EXPECT_EQ(train({"--epochs", "2", "--cache", cache}), expected);
  // Resume within an epoch, with text first and the cache later.
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
  // Two epochs, the second of which ends early.
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

// A dump with slots is read back bit for bit.
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

// The loss of a step without weight is NaN, printed in the same way everywhere.
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
  // If no sample has any weight, an error says so.
  std::string err;
  EXPECT_EQ(run(folder, {"train", "--data", folder.write("zero.tsv", zero)},
                nullptr, &err),
            0);
  EXPECT_THAT(err, HasSubstr("all weights in "));
}

// The model is written although the batches, which were requested too, cannot
// be written.
TEST(CommandLine, AnotherOutputThatFailsDoesNotCostTheModel) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(20)), err;
  const std::string model = folder.file("model");
  // The name of the temporary file is too long for any file system.
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
  const char *message;
};

/// Runs each command. It must fail with its status and one line on the standard
/// error.
void expectRefused(TestFolder &folder, const std::vector<BadFlags> &cases) {
  for (const BadFlags &bad : cases) {
    std::string out, err, joined;
    for (const std::string &argument : bad.arguments)
      joined += " " + argument;
    EXPECT_EQ(run(folder, bad.arguments, &out, &err), bad.status) << joined;
    EXPECT_THAT(err, HasSubstr(bad.message)) << joined;
    EXPECT_THAT(err, testing::StartsWith("error: ")) << joined;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(out, "") << joined;
  }
}

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
      {{"train", "--data", data, "--dump", "-"}, 2, "the standard output"},
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
      {{"train", "--data", data, "--init-from", "/no/file"}, 1, "/no/file"},
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
  };
  expectRefused(folder, cases);
}

TEST(CommandLine, BadFlagsOfPredictions) {
  TestFolder folder;
  const std::string data = folder.write("data.tsv", makeData(30));
  const std::string model = folder.file("model");
  ASSERT_EQ(run(folder, {"train", "--data", data, "--dump", model}), 0);
  expectRefused(
      folder,
      {
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
           1,
           "is no regular file"},
          {{"predict", "--data", data, "--init-from", model, "--flush-after",
            "1s"},
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
      });
}

// Outputs never overwrite files that this program or another one reads.
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
  // /dev/null belongs to no file and may be written.
  EXPECT_EQ(run(folder, {"train", "--data", data, "--log-losses", "/dev/null"}),
            0);
}

// Numbers are decimal, even with leading zeros.
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
  // A run that starts from these values equals a normal run.
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

// A training from a dump with slots equals the continued training that wrote
// it. Adam's bias correction needs the number of updates.
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
  EXPECT_THAT(err, HasSubstr("took w, b, emb from " + half +
                             ", with their optimizer slots and with step "
                             "counts (dense 10, sparse 10), from which"));
  EXPECT_EQ(folder.read("again"), folder.read("whole"));

  // Only values are loaded, so everything that depends on steps starts anew, as
  // from a dump without slots and counts.
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
  EXPECT_THAT(err, HasSubstr("took w, b, emb from " + values +
                             ", without optimizer slots and without step "
                             "counts: "));

  // Without the counts the result differs, and the log says why.
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
  // Starting from a dump with only values is normal and gives no warning.
  train({"--steps", "0", "--dump", again, "--init-from", half});
  EXPECT_THAT(train({"--steps", "0", "--dump", folder.file("n")}),
              testing::Not(HasSubstr("begin anew")));
}

// Flags of trainers with servers are checked before connecting to servers.
TEST(CommandLine, RefusesWrongFlagsOfACluster) {
  TestFolder folder;
  const std::string data = folder.write("train.tsv", makeData(10));
  auto errorsOf = [&](const char *program, std::vector<std::string> flags,
                      int status = 2) {
    std::vector<std::string> arguments = {"train", "--data", data};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    TrainerProcess process(folder, std::move(arguments), program);
    EXPECT_EQ(process.wait(), status);
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
  // A file that does not fit is no wrong flag.
  EXPECT_THAT(errorsOf(sync, {"--servers", "a:1", "--token-file", token}, 1),
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
