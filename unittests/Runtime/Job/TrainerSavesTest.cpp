//===- TrainerSavesTest.cpp - Saves of trainers, seen by a server ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job/TrainerSaves.h"
#include "Support/TestFolder.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace pdlrt;
namespace fs = std::filesystem;
using Progress = TrainerSaves::Progress;

namespace {

class TrainerSavesTest : public testing::Test {
protected:
  static SaveSchedule::Time at(int seconds) {
    return SaveSchedule::Time(std::chrono::seconds(seconds));
  }
  /// Trainers begin a save.
  BegunSave begin(int64_t number) {
    fs::create_directory(unfinished);
    return {number, unfinished, FileIdentity::of(unfinished)};
  }
  Progress follow(const BegunSave &last, int second) {
    return saves.follow(last, requests, at(second), schedule);
  }

  const TestFolder folder;
  const std::string published = folder.file("step-000000000007");
  const std::string unfinished = published + ".tmp.17-1";
  int requests = 1;
  SaveSchedule schedule = SaveSchedule(std::nullopt, at(0), /*requests=*/0);
  TrainerSaves saves;
};

} // namespace

TEST_F(TrainerSavesTest, NothingHasBegun) {
  EXPECT_EQ(follow({}, 1), Progress::None);
  EXPECT_TRUE(schedule.isDue(at(1), requests));
}

TEST_F(TrainerSavesTest, OnlyAPublishedSaveServesARequest) {
  const BegunSave save = begin(1);
  EXPECT_EQ(follow(save, 1), Progress::Running);
  EXPECT_TRUE(schedule.isDue(at(1), requests));
  fs::rename(unfinished, published);
  EXPECT_EQ(follow(save, 2), Progress::Published);
  EXPECT_FALSE(schedule.isDue(at(2), requests));
  EXPECT_EQ(follow(save, 3), Progress::None);
}

TEST_F(TrainerSavesTest, ALaterRequestIsNotServed) {
  const BegunSave save = begin(1);
  EXPECT_EQ(follow(save, 1), Progress::Running);
  requests = 2;
  fs::rename(unfinished, published);
  EXPECT_EQ(follow(save, 2), Progress::Published);
  EXPECT_TRUE(schedule.isDue(at(2), requests));
}

TEST_F(TrainerSavesTest, ASaveThatFailsServesNoRequest) {
  // An older checkpoint of the same step has the name that the save would get.
  fs::create_directory(published);
  const BegunSave save = begin(1);
  EXPECT_EQ(follow(save, 1), Progress::Running);
  fs::remove_all(unfinished);
  EXPECT_EQ(follow(save, 2), Progress::Lost);
  EXPECT_EQ(follow(save, 3), Progress::None);
  EXPECT_TRUE(schedule.isDue(at(3), requests));
}

TEST_F(TrainerSavesTest, ASaveWhoseWriterHasDiedStalls) {
  const BegunSave save = begin(1);
  EXPECT_EQ(follow(save, 1), Progress::Running);
  std::ofstream(unfinished + "/part") << "rows";
  EXPECT_EQ(follow(save, 11), Progress::Running);
  EXPECT_EQ(follow(save, 21), Progress::Running);
  EXPECT_EQ(follow(save, 22), Progress::Stalled);
  EXPECT_TRUE(schedule.isDue(at(22), requests));
  // The next one counts.
  fs::remove_all(unfinished);
  const BegunSave next = begin(2);
  EXPECT_EQ(follow(next, 23), Progress::Running);
  fs::rename(unfinished, published);
  EXPECT_EQ(follow(next, 24), Progress::Published);
  EXPECT_FALSE(schedule.isDue(at(24), requests));
}
