//===- RecoveryTest.cpp - Continuing within a round -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/Recovery.h"

#include "Support/HandWrittenProgram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;
using Place = RecoveryRecord::Place;
using Entry = Recovery::Entry;

namespace {

constexpr int64_t flags = 77;

class FakeChannel final : public RecoveryChannel {
public:
  void attach(const Message &record) override {
    Expected<RecoveryRecord> decoded = decodeRecoveryRecord(record);
    ASSERT_TRUE(decoded.ok());
    attached.push_back(std::move(*decoded));
  }
  void attachOfWorker(int /*worker*/, const Message & /*record*/) override {
    ADD_FAILURE() << "workers step together";
  }
  std::optional<Previous> previous() const override { return before; }
  bool isRepeating() const override { return false; }
  void repeatWorker(int /*worker*/) override {}
  Status awaitSaved() override { return {}; }

  std::vector<RecoveryRecord> attached;
  std::optional<Previous> before;
};

/// An engine that only lists its calls.
class FakeEngine final : public StepEngine, RecoveryParticipant {
public:
  Status begin(RoundSource /*source*/) override {
    calls.emplace_back("begin");
    return {};
  }
  Expected<std::optional<StepResult>> next(bool /*last*/) override {
    return Status::internal("not used");
  }
  RecoveryParticipant *recovery() override {
    return participates ? this : nullptr;
  }
  void observe(RequestObserver *newObserver) override {
    observer = newObserver;
  }
  Status resume(RoundSource /*source*/, ResumePoint point) override {
    calls.push_back("resume a step of " +
                    std::to_string(std::get<PendingStep>(point).samples));
    return {};
  }
  bool stopped() const override { return false; }
  bool sumsOverJob() const override { return true; }
  ReplicaSet &replicas() override { return set; }
  StepCosts costs() const override { return {}; }

  bool participates = true;
  std::vector<std::string> calls;
  RequestObserver *observer = nullptr;

private:
  const pdl_descriptor &descriptor = *handWrittenProgram(
      {PDL_F32, PDL_UNTOUCHED_LAZY, false, PDL_MODE_SYNC, PDL_ROLE_TRAINER});
  Scheduler scheduler{1};
  Model model{descriptor, 1, StateLocation::Servers};
  ReplicaSet set{model, descriptor.programs[0], {}, 2, scheduler};
};

/// Trainer in the first epoch, with the objects that recovery uses.
struct Trainer {
  explicit Trainer(FakeChannel *channel) {
    auto created = std::make_unique<FakeEngine>();
    engine = created.get();
    run.engine = std::move(created);
    // The reader is one round ahead, at positions that the engine has not
    // reached.
    run.rounds = 100;
    run.positionsBefore.emplace_back().batch = 5;
    state.position.report = &report;
    state.position.readsWhole = true;
    recovery = std::make_unique<Recovery>(RecoveryParts{.channel = channel,
                                                        .workersSend = false,
                                                        .flagsDigest = flags,
                                                        .run = run,
                                                        .state = state,
                                                        .flushOutputs = [this] {
                                                          ++flushes;
                                                          return OutputProgress{
                                                              3, 20, 1};
                                                        }});
  }
  Expected<Entry> enter() {
    return recovery->enterEpoch(RoundSource(), /*allowed=*/10, /*last=*/false);
  }

  FakeEngine *engine = nullptr;
  int flushes = 0;
  PassReport report;
  TrainingState state;
  std::unique_ptr<Recovery> recovery;
  ProgramRun run;
};

RecoveryRecord recordAt(Place place, bool stepsEnded = false) {
  RecoveryRecord record;
  record.place = place;
  record.flags = flags;
  record.epoch = 2;
  record.totalSteps = 31;
  record.resumedSteps = 11;
  record.lossLines = 29;
  record.stepsEnded = stepsEnded;
  record.epochEnded = true;
  record.step.samples = 8;
  record.dividedAt = 12;
  return record;
}

} // namespace

TEST(Recovery, DoesNothingWithoutAChannel) {
  Trainer trainer(nullptr);
  Recovery &recovery = *trainer.recovery;
  EXPECT_FALSE(recovery.isRestart());
  const Expected<bool> rejoined = recovery.rejoin();
  ASSERT_TRUE(rejoined.ok());
  EXPECT_FALSE(*rejoined);
  const Expected<Entry> entry = trainer.enter();
  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(*entry, Entry::Steps);
  EXPECT_THAT(trainer.engine->calls, ElementsAre("begin"));
  EXPECT_EQ(trainer.engine->observer, nullptr);
  recovery.noteTaken();
  trainer.state.position.stepsEnded = true;
  recovery.enterMeeting();
  recovery.enterEpochEnd();
  EXPECT_EQ(trainer.flushes, 0);
}

TEST(Recovery, AttachesARecordBeforeEachRequest) {
  FakeChannel channel;
  Trainer trainer(&channel);
  EXPECT_FALSE(trainer.recovery->isRestart());
  ASSERT_TRUE(trainer.enter().ok());
  RequestObserver *const observer = trainer.engine->observer;
  ASSERT_NE(observer, nullptr);
  observer->beforeRound(nullptr);
  trainer.state.totalSteps = 4;
  trainer.report.steps = 4;
  const PendingStep step = {8, true};
  observer->beforeRound(&step);
  // In this mode each step has left a record before this meeting.
  trainer.recovery->enterMeeting();
  trainer.state.position.stepsEnded = true;
  trainer.recovery->enterMeeting();
  trainer.recovery->enterEpochEnd();
  ASSERT_EQ(channel.attached.size(), 4U);
  const RecoveryRecord &begin = channel.attached[0];
  EXPECT_EQ(begin.place, Place::EpochBegins);
  EXPECT_EQ(begin.flags, flags);
  EXPECT_TRUE(begin.positions.empty());
  EXPECT_EQ(begin.lossLines, 3);
  EXPECT_EQ(begin.savedSteps, 20);
  EXPECT_EQ(begin.savedEpoch, 1);
  const RecoveryRecord &ofStep = channel.attached[1];
  EXPECT_EQ(ofStep.place, Place::Step);
  EXPECT_EQ(ofStep.totalSteps, 4);
  EXPECT_EQ(ofStep.passSteps, 4);
  EXPECT_EQ(ofStep.step.samples, 8);
  EXPECT_TRUE(ofStep.step.stop);
  ASSERT_EQ(ofStep.positions.size(), 1U);
  EXPECT_EQ(ofStep.positions[0].batch, 5);
  EXPECT_EQ(channel.attached[2].place, Place::Meets);
  EXPECT_TRUE(channel.attached[2].stepsEnded);
  EXPECT_EQ(channel.attached[3].place, Place::EpochEnds);
  EXPECT_EQ(trainer.flushes, 4);
}

// A process that died before its first record begins like the others, but is a
// restart: its folder of checkpoints may be in use.
TEST(Recovery, AnEmptyRecordIsNotNone) {
  FakeChannel channel;
  channel.before.emplace();
  Trainer trainer(&channel);
  EXPECT_TRUE(trainer.recovery->isRestart());
  const Expected<bool> rejoined = trainer.recovery->rejoin();
  ASSERT_TRUE(rejoined.ok());
  EXPECT_FALSE(*rejoined);
  EXPECT_FALSE(trainer.recovery->isResuming());
  EXPECT_TRUE(trainer.recovery->isRestart());
}

TEST(Recovery, EntersTheEpochWhereTheRecordWasAttached) {
  const struct {
    RecoveryRecord record;
    Entry entry;
    const char *call;
    int64_t dividedAt;
  } cases[] = {
      {recordAt(Place::EpochBegins), Entry::Steps, "begin", 12},
      {recordAt(Place::Step), Entry::Steps, "resume a step of 8", 12},
      {recordAt(Place::Meets), Entry::Meeting, "begin", 12},
      {recordAt(Place::Meets, true), Entry::AfterSteps, "", 0},
      {recordAt(Place::EpochEnds), Entry::AfterMeetings, "", 0},
  };
  for (const auto &each : cases) {
    SCOPED_TRACE(int64_t(each.record.place));
    FakeChannel channel;
    channel.before.emplace().pending = encodeRecoveryRecord(each.record);
    Trainer trainer(&channel);
    Recovery &recovery = *trainer.recovery;
    const Expected<bool> rejoined = recovery.rejoin();
    ASSERT_TRUE(rejoined.ok() && *rejoined);
    EXPECT_TRUE(recovery.isResuming());
    EXPECT_EQ(recovery.epoch(), 2);
    EXPECT_EQ(recovery.outputs().lossLines, 29);
    EXPECT_EQ(recovery.dividedAt(), each.dividedAt);
    EXPECT_EQ(trainer.state.totalSteps, 31);
    EXPECT_EQ(trainer.state.earlierSteps, 20);
    const Expected<Entry> entry = trainer.enter();
    ASSERT_TRUE(entry.ok());
    EXPECT_EQ(*entry, each.entry);
    const std::vector<std::string> &calls = trainer.engine->calls;
    EXPECT_EQ(calls.empty() ? "" : calls.front(), each.call);
    EXPECT_EQ(trainer.state.position.hasEnded, calls.empty());
    EXPECT_FALSE(recovery.isResuming());
  }
}

TEST(Recovery, RefusesWhatItCannotContinue) {
  FakeChannel channel;
  RecoveryRecord record = recordAt(Place::Step);
  channel.before.emplace().pending = encodeRecoveryRecord(record);
  Trainer unable(&channel);
  unable.engine->participates = false;
  ASSERT_TRUE(unable.recovery->rejoin().ok());
  EXPECT_THAT(unable.enter().status().message(),
              HasSubstr("does not continue within a step"));
  record.flags = flags + 1;
  channel.before->pending = encodeRecoveryRecord(record);
  Trainer other(&channel);
  EXPECT_THAT(other.recovery->rejoin().status().message(),
              HasSubstr("restarted with other flags"));
  channel.before->pending = Message::ofString("damaged");
  Trainer damaged(&channel);
  EXPECT_THAT(damaged.recovery->rejoin().status().message(),
              HasSubstr("is damaged"));
}
