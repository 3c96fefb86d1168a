//===- ChangingDataTest.cpp - Data that change during training ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TwoByTwo.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

using testing::HasSubstr;

namespace {

/// A job whose trainers read copies of one file, as on two hosts.
class TwoCopies {
public:
  /// `content` is the content of the second copy.
  explicit TwoCopies(const std::string &content) {
    for (int rank : {0, 1})
      job.startServer(rank, {});
    copy = other.write(std::filesystem::path(job.file).filename(), content);
    job.startTrainer(0, {"--epochs", "1000000"});
    job.startTrainer(1, {"--epochs", "1000000", "--data", copy});
  }
  /// Returns a text of the same size with another label.
  static std::string changed() {
    std::string text = data(300);
    text[0] = text[0] == '0' ? '1' : '0';
    return text;
  }
  void expectRefused() {
    for (auto &trainer : job.trainers) {
      EXPECT_EQ(trainer->wait(), 1) << trainer->said();
      EXPECT_THAT(trainer->said(),
                  HasSubstr("files of the same names and sizes with different "
                            "content"));
    }
  }

  TwoByTwo job;
  TestFolder other;
  std::string copy;
};

/// A job whose servers save slowly, so that trainer 1 meanwhile continues with
/// its next work. Trainer r reads file r.
class SlowSaves {
public:
  SlowSaves() {
    for (int rank : {0, 1})
      files[rank] =
          job.place.write("train" + std::to_string(rank) + ".tsv", data(300));
    for (int rank : {0, 1})
      tests[rank] =
          job.place.write("test" + std::to_string(rank) + ".tsv", data(40));
  }
  void start(bool tested) {
    std::vector<std::string> flags = {"--epochs", "50",     "--data",
                                      files[0],   files[1], "--checkpoint",
                                      job.saved()};
    if (tested)
      flags.insert(flags.end(), {"--evaluate-data", tests[0], tests[1]});
    const std::vector<std::string> slow = {"LD_PRELOAD=" SLOW_CALLS,
                                           "PDL_SLOW_FSYNCS=250"};
    for (int rank : {0, 1})
      job.startServer(rank, {}, slow);
    for (int rank : {0, 1})
      job.startTrainer(rank, flags);
    // Two epochs are trained, and the test data were read.
    TwoByTwo::await(*job.trainers[1], "epoch 2:");
  }
  /// Expects trainer 1 to fail without losing anything that was trained.
  void expectAllSaved(const std::string &path, int otherStatus) {
    EXPECT_EQ(job.trainers[1]->wait(), 1) << job.trainers[1]->said();
    EXPECT_THAT(job.trainers[1]->said(), HasSubstr(path));
    EXPECT_EQ(job.trainers[0]->wait(), otherStatus) << job.trainers[0]->said();
    for (auto &server : job.servers)
      server->wait();
    constexpr int64_t stepsInEpoch = 19;
    const int64_t saved = newestCheckpoint(job.saved());
    EXPECT_GE(saved, 2 * stepsInEpoch);
    EXPECT_THAT(
        job.trainers[1]->said(),
        HasSubstr("epoch " + std::to_string(saved / stepsInEpoch) + ":"));
    EXPECT_EQ(job.trainers[1]->said().find(
                  "epoch " + std::to_string(saved / stepsInEpoch + 1) + ":"),
              std::string::npos);
  }

  TwoByTwo job;
  std::string files[2], tests[2];
};

} // namespace

TEST(ChangingData, AFileThatGoesBetweenEpochsCostsNoCheckpoint) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  SlowSaves saves;
  saves.start(/*tested=*/false);
  std::filesystem::remove(saves.files[1]);
  saves.expectAllSaved(saves.files[1], 128 + SIGTERM);
}

TEST(ChangingData, AFileOfTheTestThatGoesCostsNoCheckpoint) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "a sanitizer's own library must come before slow calls";
#endif
  SlowSaves saves;
  saves.start(/*tested=*/true);
  std::filesystem::remove(saves.tests[1]);
  saves.expectAllSaved(saves.tests[1], 1);
  EXPECT_THAT(saves.job.trainers[0]->said(),
              HasSubstr("another trainer could not read"));
}

TEST(ChangingData, CopiesWithOtherContentAreRefusedAtTheStart) {
  TwoCopies copies(TwoCopies::changed());
  copies.expectRefused();
  EXPECT_EQ(copies.job.trainers[0]->said().find("epoch 1:"), std::string::npos);
}

TEST(ChangingData, CopiesThatChangeLaterAreRefusedAfterTheEpoch) {
  TwoCopies copies(data(300));
  copies.job.awaitTraining();
  std::filesystem::rename(copies.other.write("new", TwoCopies::changed()),
                          copies.copy);
  copies.expectRefused();
}

// Trainers must not train on data that a checkpoint does not describe.
TEST(ChangingData, AFileThatGrowsEndsTheTrainingAfterTheEpoch) {
  TwoByTwo job;
  const std::vector<std::string> flags = {"--checkpoint", job.saved(),
                                          "--epochs"};
  std::vector<std::string> first = flags;
  first.emplace_back("1000000");
  job.start(first);
  job.awaitTraining();
  std::ofstream(job.file, std::ios::app) << data(200);
  for (auto &trainer : job.trainers) {
    EXPECT_THAT(trainer->wait(), testing::AnyOf(1, 128 + SIGTERM))
        << trainer->said();
  }
  EXPECT_THAT(job.trainers[0]->said() + job.trainers[1]->said(),
              HasSubstr(job.file + ": has "));
  for (auto &server : job.servers)
    EXPECT_EQ(server->wait(), 0) << server->said();
  const int64_t steps = stepsOf(*job.trainers[0]);
  EXPECT_EQ(newestCheckpoint(job.saved()), steps);
  // All epochs have the same 19 batches, which two trainers share.
  EXPECT_EQ(steps % 10, 0) << steps;
  // Resume with the file as it is now.
  std::vector<std::string> second = flags;
  second.insert(second.end(), {std::to_string(steps / 10 + 1), "--resume"});
  job.start(second, {"--checkpoint", job.saved(), "--resume"});
  for (auto &trainer : job.trainers)
    EXPECT_EQ(trainer->wait(), 0) << trainer->said();
  for (auto &server : job.servers)
    EXPECT_EQ(server->wait(), 0) << server->said();
  EXPECT_EQ(newestCheckpoint(job.saved()), steps + 16);
}
