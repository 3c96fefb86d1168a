//===- StoppedTrainerTest.cpp - Pipes, signals and threads ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineRun.h"

#include "Support/HandWrittenProgram.h"
#include "Support/TrainerProcess.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Files/Safetensors.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using testing::HasSubstr;

// The test does not write the data to a file first.
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
  // There is no writer: flags that would wait forever or lose rows are refused
  // at once.
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

// After Ctrl-C, the step ends, the dump is written, and the exit status has the
// signal.
TEST(CommandLine, SignalsEndAfterTheStep) {
  TestFolder folder;
  std::string data = folder.write("data.tsv", makeData(2000));
  for (int number : {SIGINT, SIGTERM}) {
    const std::string dump = folder.file("dump" + std::to_string(number));
    TrainerProcess process(folder,
                           {"train", "--data", data, "--epochs", "1000000000",
                            "--batch-size", "50", "--dump", dump});
    // A reported epoch proves that steps are in progress.
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

// A silent writer of a pipe does not prevent a stop.
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
    // Everything that was trained is saved.
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
  // The pipe has no writer at all.
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

// Each thread needs a stack, for which there is no memory here.
TEST(CommandLine, ThreadsThatCannotStartAreOneMessage) {
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
