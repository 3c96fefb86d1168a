//===- ServerEndsTest.cpp - How trainers and jobs end ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"
#include "Support/IdleProcess.h"

#include <gmock/gmock.h>

#include <memory>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

using Seconds = std::chrono::seconds;

TEST_F(ServerCoreTest, AllLeaveAndTheJobIsFinished) {
  core();
  joinAll();
  int ends = 0;
  core().whenOver([&] { ++ends; });
  EXPECT_EQ(leave(0).kind(), MessageKind::Answer);
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_FALSE(core().waitUntilOver(std::chrono::milliseconds(0)));
  EXPECT_EQ(leave(0).kind(), MessageKind::Answer);
  EXPECT_EQ(leave(1).kind(), MessageKind::Answer);
  EXPECT_EQ(core().status().state, JobState::Finished);
  EXPECT_TRUE(core().waitUntilOver(std::chrono::milliseconds(0)));
  EXPECT_TRUE(core().allTold());
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(leave(1).kind(), MessageKind::Answer);
  EXPECT_THAT(join(1, 2).text(), HasSubstr("the job is finished"));
  // One that asks later is told too.
  core().whenOver([&] { ++ends; });
  advance(Seconds(0));
  EXPECT_EQ(ends, 2);
}

TEST_F(ServerCoreTest, AServerMayGoWhenTheLastAnswerIsSent) {
  options.trainers = 1;
  core();
  joinAll();
  // Another thread may see the end before the answer to the leave is sent.
  struct AskingSink final : Responder::Sink {
    explicit AskingSink(const ServerCore &of) : core(of) {}
    void answer(Message) override {
      isOver = core.waitUntilOver(std::chrono::milliseconds(0));
      isTold = core.waitUntilTold(std::chrono::milliseconds(0));
    }
    const ServerCore &core;
    bool isOver = false, isTold = false;
  };
  const auto sink = std::make_shared<AskingSink>(core());
  core().handle(joinFrame({MessageKind::Leave, 0, 0, 1, 0, 0}, {}),
                Responder(sink));
  EXPECT_TRUE(sink->isOver);
  EXPECT_FALSE(sink->isTold);
  EXPECT_TRUE(core().waitUntilTold(std::chrono::milliseconds(0)));
}

TEST_F(ServerCoreTest, ATrainerThatLeavesEarlyFailsTheOthersRound) {
  core();
  joinAll();
  const Reply waiting = exchange(0, 1, "a");
  leave(1);
  EXPECT_THAT(waiting.text(),
              HasSubstr("trainer 1 has left while others wait for its "
                        "exchange"));
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, ARoundAfterALeaveFails) {
  core();
  joinAll();
  leave(1);
  EXPECT_THAT(exchange(0, 1, "a").text(),
              HasSubstr("trainer 1 has left, but trainer 0 goes on with its "
                        "exchange"));
}

TEST_F(ServerCoreTest, AFailedTrainerEndsAll) {
  core();
  joinAll();
  int ends = 0;
  core().whenOver([&] { ++ends; });
  const Reply open = exchange(0, 1, "a");
  leave(1, "part-1.txt has no line 7");
  const std::string sentence = "trainer 1 failed: part-1.txt has no line 7";
  EXPECT_EQ(open.kind(), MessageKind::Refusal);
  EXPECT_EQ(open.text(), sentence);
  EXPECT_EQ(core().status().sentence, sentence);
  EXPECT_EQ(exchange(0, 1, "a").text(), sentence);
  EXPECT_EQ(exchange(0, 2, "a").text(), sentence);
  EXPECT_EQ(beat(0).text(), sentence);
  EXPECT_EQ(join(0).text(), sentence);
  EXPECT_EQ(leave(0, sentence).kind(), MessageKind::Answer);
  EXPECT_TRUE(core().allTold());
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(application->rounds, 0);
}

TEST_F(ServerCoreTest, ASilentTrainerEndsAll) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  for (int second = 0; second < 10; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Answer);
    EXPECT_FALSE(open.came());
  }
  EXPECT_FALSE(core().allTold());
  for (int second = 0; second < 6; ++second) {
    advance(Seconds(1));
    beat(0);
  }
  EXPECT_THAT(open.text(), HasSubstr("trainer 1 was not heard of for 1"));
  EXPECT_EQ(core().status().state, JobState::Failed);
  // An answer may be lost: who has left knows.
  EXPECT_FALSE(core().allTold());
  leave(0);
  EXPECT_TRUE(core().allTold());
}

TEST_F(ServerCoreTest, ATrainerThatNeverJoinsEndsAll) {
  options.joinLimit = Seconds(60);
  core();
  join(0);
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Answer);
  }
  advance(Seconds(3));
  EXPECT_THAT(beat(0).text(), HasSubstr("trainer 1 did not join for 6"));
}

TEST_F(ServerCoreTest, ATrainerThatHasNotJoinedIsWaitedFor) {
  core();
  EXPECT_EQ(core().waitingFor(), "waiting for trainers 0 and 1 to join (0 s)");
  join(0);
  for (int second = 0; second < 300; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).sign().sentence, "waiting for trainer 1 to join (" +
                                           std::to_string(second + 1) + " s)");
  }
  EXPECT_EQ(core().status().state, JobState::Running);
}

TEST_F(ServerCoreTest, WhoIsWaitedForIsSaid) {
  options.trainers = 3;
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  EXPECT_EQ(core().waitingFor(), "");
  exchange(1, 1, "b");
  advance(Seconds(3));
  EXPECT_EQ(core().waitingFor(),
            "waiting for the exchange of trainers 0 and 2 (3 s)");
  exchange(0, 1, "a");
  for (int second = 0; second < 10; ++second) {
    advance(Seconds(1));
    beat(0);
    beat(1);
  }
  EXPECT_EQ(beat(0).sign().sentence,
            "waiting for the exchange of trainer 2 (13 s; "
            "trainer 2 was not heard of for 13 s)");
  EXPECT_EQ(core().status().state, JobState::Running);
  exchange(2, 1, "c");
  EXPECT_EQ(core().waitingFor(), "");
  EXPECT_EQ(application->rounds, 1);
}

/// A clock of a process that can be stopped: its timers come late then.
class StoppableClock final : public Clock {
public:
  ClockTime now() const override { return running.now() + stopped; }
  void runAt(ClockTime when, std::function<void()> action) override {
    running.runAt(when - stopped, std::move(action));
  }
  void stopFor(ClockTime time) { stopped += time; }
  void advance(ClockTime time) { running.advanceTo(running.now() + time); }

private:
  ManualClock running;
  ClockTime stopped{0};
};

TEST(ServerCoreClockTest, TimeInWhichTheServerStoodStillIsNoSilence) {
  StoppableClock clock;
  RecordingApplication application(1);
  ServerCore core({}, application, clock);
  const Reply joined;
  core.handle(joinFrame({MessageKind::Join, 0, 0, 1, 0, 0}, {}),
              joined.responder());
  ASSERT_TRUE(joined.came());
  clock.advance(Seconds(5));
  clock.stopFor(Seconds(60));
  clock.advance(Seconds(4));
  EXPECT_EQ(core.status().state, JobState::Running);
  clock.advance(Seconds(6));
  EXPECT_EQ(core.status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, ARequestToStopIsToldWithBeatsAndAllLeaveInOrder) {
  core();
  joinAll();
  EXPECT_FALSE(beat(0).sign().stop);
  core().askToStop();
  EXPECT_TRUE(beat(0).sign().stop);
  EXPECT_TRUE(beat(1).sign().stop);
  // The step ends, and what follows it: the job is not over.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
  EXPECT_EQ(send({MessageKind::Join, 0, 0, 1, 0, 0}, "again").text(),
            "welcome");
  leave(0);
  leave(1);
  EXPECT_EQ(core().status().state, JobState::Finished);
}

TEST_F(ServerCoreTest, ATrainersRequestToStopReachesTheOthers) {
  core();
  joinAll();
  EXPECT_TRUE(beat(1, 1, /*stop=*/true).sign().stop);
  EXPECT_TRUE(beat(0).sign().stop);
}

TEST_F(ServerCoreTest, AStopWaitsForNobodyWhoIsLost) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    beat(0);
  }
  EXPECT_FALSE(open.came());
  core().askToStop();
  EXPECT_THAT(open.text(), HasSubstr("trainer 1 was not heard of for"));
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, AStopBeforeAllHaveJoinedEndsTheJobSoon) {
  core();
  ASSERT_EQ(join(0).text(), "welcome");
  core().askToStop();
  EXPECT_TRUE(beat(0).sign().stop);
  EXPECT_TRUE(join(1).sign().stop);
  leave(0, "stopped while it waited");
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, AStopWithoutTrainersEndsTheJobSoon) {
  core();
  core().askToStop();
  EXPECT_EQ(join(1).kind(), MessageKind::Wait);
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(3));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(core().status().sentence, HasSubstr("had joined"));
}

TEST_F(ServerCoreTest, AProcessThatDiesOnThisHostIsKnownAtOnce) {
  for (const FailurePolicy policy :
       {FailurePolicy::Abort, FailurePolicy::Wait}) {
    options.onFailure = policy;
    server.reset();
    core();
    joinAll();
    const IdleProcess process;
    const Reply sign;
    core().handle(joinFrame({MessageKind::Beat, 1, 0, 1, 0, 0},
                            encodeLifeSign({false, "", process.identity()})),
                  sign.responder());
    advance(Seconds(1));
    EXPECT_EQ(core().status().state, JobState::Running);
    process.end();
    advance(Seconds(1));
    EXPECT_EQ(core().status().state, policy == FailurePolicy::Abort
                                         ? JobState::Failed
                                         : JobState::Running);
    EXPECT_THAT(core().status().sentence + core().waitingFor(),
                HasSubstr("trainer 1 has died: there is no process"));
  }
}

} // namespace
