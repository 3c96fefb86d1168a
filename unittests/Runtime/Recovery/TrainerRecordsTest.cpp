//===- TrainerRecordsTest.cpp - Progress of trainers from their records ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/TrainerRecords.h"

#include "Recovery/RecoveryRecord.h"
#include "Recovery/WorkerNote.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// Returns a record with a step of 8 samples, after `steps` steps of an epoch.
RecoveryRecord atStep(int64_t steps) {
  RecoveryRecord record;
  record.place = RecoveryRecord::Place::Step;
  record.epoch = 2;
  record.totalSteps = 100 + steps;
  record.totalSamples = 1600;
  record.report.steps = steps;
  record.report.samples = 8 * steps;
  record.report.lossSum = 10;
  record.report.weightSum = 20;
  record.lossLines = 100 + steps;
  record.step.samples = 8;
  record.positions.emplace_back();
  return record;
}

/// Returns the progress of a trainer whose last records came with requests 5
/// and 6.
SenderMark markOf(uint32_t trainer, uint64_t answered,
                  const RecoveryRecord &fifth, const RecoveryRecord &sixth) {
  return {trainer,
          0,
          answered,
          6,
          {{5, encodeRecoveryRecord(fifth)}, {6, encodeRecoveryRecord(sixth)}}};
}

const ObservedMetrics noMetrics({});

} // namespace

TEST(TrainerRecordsTest, TheStepThatIsAppliedCounts) {
  // One trainer has sent the next step, the other one is lost.
  std::vector<SenderMark> marks = {markOf(0, 5, atStep(3), atStep(4)),
                                   markOf(1, 5, atStep(3), atStep(3))};
  StateServer::LastStep last;
  last.sums = {{4, 16}};
  const auto place = placeOfTraining(noMetrics, 2, 1, marks, last);
  ASSERT_TRUE(place.ok()) << place.status().message();
  const TrainingProgress &progress = place->progress;
  EXPECT_EQ(progress.steps, 104);
  EXPECT_EQ(progress.epoch, 2);
  EXPECT_EQ(progress.epochSteps, 4);
  EXPECT_EQ(progress.epochSamples, 2 * 32);
  EXPECT_EQ(progress.samples, 1600 + 64);
  EXPECT_EQ(progress.lossLines, 104);
  EXPECT_EQ(progress.positions.size(), 2u);
  // The sums are equal on both trainers, and are not added.
  EXPECT_EQ(place->running.lossSum, 14);
  EXPECT_EQ(place->running.weightSum, 36);
}

TEST(TrainerRecordsTest, AStepWhoseNormsArePendingDoesNotCount) {
  std::vector<SenderMark> marks = {markOf(0, 6, atStep(3), atStep(4)),
                                   markOf(1, 6, atStep(3), atStep(4))};
  StateServer::LastStep last;
  last.isWhole = false;
  last.sums = {{4, 16}};
  const auto place = placeOfTraining(noMetrics, 2, 1, marks, last);
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->progress.steps, 104);
}

TEST(TrainerRecordsTest, AnEpochThatHasEndedHasNoPositions) {
  RecoveryRecord ended = atStep(5);
  ended.place = RecoveryRecord::Place::EpochEnds;
  ended.epochEnded = true;
  std::vector<SenderMark> marks = {markOf(0, 6, atStep(4), ended),
                                   markOf(1, 6, atStep(4), ended)};
  const auto place = placeOfTraining(noMetrics, 2, 1, marks, {});
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->progress.epoch, 3);
  EXPECT_EQ(place->progress.steps, 105);
  EXPECT_EQ(place->progress.samples, 1600 + 80);
  EXPECT_TRUE(place->progress.positions.empty());
  EXPECT_EQ(place->progress.epochSamples, 0);
}

TEST(TrainerRecordsTest, WhatIsMissingIsSaid) {
  const std::vector<SenderMark> one = {markOf(0, 5, atStep(3), atStep(4))};
  StateServer::LastStep last;
  last.sums = {{4, 16}};
  EXPECT_THAT(placeOfTraining(noMetrics, 2, 1, one, last).status().message(),
              HasSubstr("trainer 1 has left no recovery record"));
  const std::vector<SenderMark> apart = {markOf(0, 6, atStep(3), atStep(4)),
                                         markOf(1, 5, atStep(3), atStep(3))};
  EXPECT_THAT(placeOfTraining(noMetrics, 2, 1, apart, last).status().message(),
              HasSubstr("of other steps"));
}

TEST(TrainerRecordsTest, WithoutRoundsEachTrainerHasAPlaceOfItsOwn) {
  RecoveryRecord meets = atStep(9);
  meets.place = RecoveryRecord::Place::Meets;
  meets.stepsEnded = meets.epochEnded = true;
  // There is no response to the sum in which the first trainer waits.
  std::vector<SenderMark> marks = {markOf(0, 5, atStep(8), meets),
                                   markOf(1, 5, atStep(3), atStep(4))};
  const auto place =
      placeOfRestingTraining(noMetrics, 2, 1, /*workersSend=*/false, marks);
  ASSERT_TRUE(place.ok()) << place.status().message();
  // The fourth step of the other trainer is applied, and the fifth is not.
  EXPECT_EQ(place->progress.steps, 109);
  EXPECT_EQ(place->progress.epochSamples, 8 * 9 + 8 * 4);
  EXPECT_EQ(place->progress.positions.size(), 2u);
  EXPECT_EQ(place->progress.epoch, 2);
}

TEST(TrainerRecordsTest, TheSlowestWorkerOfATrainerCounts) {
  const auto markOfWorker = [](uint32_t worker, int64_t done) {
    WorkerRecoveryRecord record;
    record.process = atStep(3);
    record.process.passSteps = 3;
    record.mark.done = done;
    for (int64_t step = 4; step <= done; ++step) {
      StepResult &result = record.mark.results.emplace_back();
      result.samples = 4;
      result.lossSum = 1;
      result.weightSum = 2;
    }
    record.positions.emplace_back();
    record.badRows = done;
    const WorkerNote note = {0, encodeRecoveryRecord(record)};
    return SenderMark{0, worker, 7, 7, {{7, encodeWorkerNote(note)}}};
  };
  const auto place =
      placeOfRestingTraining(noMetrics, 1, 2, /*workersSend=*/true,
                             {markOfWorker(1, 6), markOfWorker(2, 5)});
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->progress.steps, 105);
  EXPECT_EQ(place->progress.epochSteps, 5);
  EXPECT_EQ(place->progress.epochSamples, 8 * 3 + 2 * 2 * 4);
  EXPECT_EQ(place->running.lossSum, 10 + 2 * 2);
  EXPECT_EQ(place->progress.badRows, 5);
}
