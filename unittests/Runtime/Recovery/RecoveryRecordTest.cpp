//===- RecoveryRecordTest.cpp - Recovery records of workers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/RecoveryRecord.h"

#include "pdlrt/Core/Sha256.h"
#include "pdlrt/Data/PartitionPlaces.h"
#include "pdlrt/Protocol/ExchangeCodec.h"

#include <cstdint>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <string>
#include <vector>

using namespace pdlrt;

static WorkerRecoveryRecord example() {
  WorkerRecoveryRecord record;
  record.process.place = RecoveryRecord::Place::Step;
  record.process.epoch = 3;
  record.process.totalSteps = 71;
  record.process.agreedSteps = 60;
  record.process.passSteps = 11;
  record.process.dividedAt = 12;
  record.process.stepsEnded = true;
  record.process.report.lossSum = 0.125;
  record.process.metrics.sums = {4, 5};
  record.mark = {
      13, true, {{{0.5, 64, 0}, 64, false}, {{0.25, 0, 1}, 8, true}}};
  record.positions.resize(1);
  record.positions[0].epoch = 3;
  record.positions[0].batch = 26;
  record.badRows = 2;
  record.metrics = {1, 2, 3};
  return record;
}

TEST(WorkerRecoveryRecord, GoesBothWays) {
  const Expected<WorkerRecoveryRecord> read =
      decodeWorkerRecoveryRecord(encodeRecoveryRecord(example()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->process.epoch, 3);
  EXPECT_EQ(read->process.totalSteps, 71);
  EXPECT_EQ(read->process.agreedSteps, 60);
  EXPECT_EQ(read->process.passSteps, 11);
  EXPECT_EQ(read->process.dividedAt, 12);
  EXPECT_TRUE(read->process.stepsEnded);
  EXPECT_EQ(read->process.report.lossSum, 0.125);
  EXPECT_THAT(read->process.metrics.sums, testing::ElementsAre(4, 5));
  EXPECT_EQ(read->mark.done, 13);
  EXPECT_TRUE(read->mark.hasNext);
  ASSERT_EQ(read->mark.results.size(), 2U);
  EXPECT_EQ(read->mark.results[0].lossSum, 0.5);
  EXPECT_EQ(read->mark.results[1].samples, 8);
  EXPECT_TRUE(read->mark.results[1].skipped);
  ASSERT_EQ(read->positions.size(), 1U);
  EXPECT_EQ(read->positions[0].batch, 26);
  EXPECT_EQ(read->badRows, 2);
  EXPECT_THAT(read->metrics, testing::ElementsAre(1, 2, 3));
}

// A trainer of another version reads the records of this one.
TEST(WorkerRecoveryRecord, BytesStay) {
  const std::string bytes = encodeRecoveryRecord(example()).toString();
  EXPECT_EQ(bytes.size(), 504U);
  std::string digest;
  for (const uint8_t byte : sha256(bytes))
    digest += fmt::format("{:02x}", byte);
  EXPECT_EQ(digest,
            "547ca38e4e9175b1436f7767fd5661aec6b568117d1b16c7e139685ab1565433");
}

TEST(RecoveryRecord, HasPlacesAndEventTimesOfTopics) {
  RecoveryRecord record;
  record.savedEventTime = 1760000000000;
  record.positions.resize(2);
  const PartitionPlaces places({{1, 1760000000123, 8, 2}, {3, 0, 0, 0}});
  record.positions[1].places = places;
  const Expected<RecoveryRecord> read =
      decodeRecoveryRecord(encodeRecoveryRecord(record));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->savedEventTime, 1760000000000);
  ASSERT_EQ(read->positions.size(), 2U);
  EXPECT_EQ(read->positions, record.positions);
  EXPECT_EQ(eventTimeOf(read->positions), 1760000000123);
}

// The number of places is in `next`, negated, and the places follow.
TEST(RecoveryRecord, BytesOfPlacesStay) {
  RecoveryRecord record;
  record.positions.resize(1);
  record.positions[0].window = 5;
  record.positions[0].places =
      PartitionPlaces({{1, 1760000000123, 8, 2}, {3, 0, 0, 0}});
  const Expected<ReduceVectors> vectors =
      decodeReduce(encodeRecoveryRecord(record));
  ASSERT_TRUE(vectors.ok()) << vectors.status().message();
  const std::vector<int64_t> &counts = vectors->counts;
  ASSERT_GE(counts.size(), 20U);
  EXPECT_THAT(std::vector(counts.end() - 20, counts.end()),
              testing::ElementsAre(0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, //
                                   1, 1760000000123, 8, 2, 3, 0, 0, 0));
}

// Any bytes are safe, including damaged ones of the right size.
TEST(WorkerRecoveryRecord, DamageIsRefusedOrHarmless) {
  const std::string whole = encodeRecoveryRecord(example()).toString();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(
        decodeWorkerRecoveryRecord(Message::ofString(whole.substr(0, size)))
            .ok());
  for (size_t at = 0; at < whole.size(); ++at)
    for (const char bit : {1, 0x40, -0x80}) {
      std::string damaged = whole;
      damaged[at] = char(damaged[at] ^ bit);
      (void)decodeWorkerRecoveryRecord(Message::ofString(damaged));
    }
}
