//===- BadRowsTest.cpp - Rows that cannot be read -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineRun.h"

#include "pdlrt/Files/Safetensors.h"

#include <gmock/gmock.h>

#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using testing::HasSubstr;

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

// Steps before an unreadable row are saved as after Ctrl-C. A resumed run is
// bit-identical to one that was not stopped.
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
  // An unreadable first row does not overwrite the model of another run.
  const std::string bad = folder.write("bad.tsv", "what\n");
  folder.write("old.dump", "old");
  EXPECT_EQ(
      run(folder, {"train", "--data", bad, "--dump", folder.file("old.dump")}),
      1);
  EXPECT_EQ(folder.read("old.dump"), "old");
}

// A failed test loses nothing that was trained.
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

// The count covers the rows before the last step, not those that a reader
// thread has seen by then. The bad rows of the test are counted separately.
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
    // A window of 10 rows has fewer good ones, so the third batch ends in the
    // fourth window, rows 30 to 39.
    EXPECT_EQ(figure(out, "train bad rows skipped"), 3) << threads;
    EXPECT_EQ(figure(out, "test bad rows skipped"), 2) << threads;
  }
}

// The counts belong to the epoch and the test next to which they are printed,
// even if the epoch started in an earlier run.
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
  // The run ends at different places of an epoch.
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
