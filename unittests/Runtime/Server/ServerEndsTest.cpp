//===- ServerEndsTest.cpp - End of trainers and jobs ----------------------===//
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
  EXPECT_EQ(leave(0).kind(), MessageKind::Response);
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_FALSE(core().waitUntilOver(std::chrono::milliseconds(0)));
  EXPECT_EQ(leave(0).kind(), MessageKind::Response);
  EXPECT_EQ(leave(1).kind(), MessageKind::Response);
  EXPECT_EQ(core().status().state, JobState::Finished);
  EXPECT_TRUE(core().waitUntilOver(std::chrono::milliseconds(0)));
  EXPECT_TRUE(core().allNotified());
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(leave(1).kind(), MessageKind::Response);
  EXPECT_THAT(join(1, 2).text(), HasSubstr("the job is finished"));
  // A callback that is set later is called too.
  core().whenOver([&] { ++ends; });
  advance(Seconds(0));
  EXPECT_EQ(ends, 2);
}

TEST_F(ServerCoreTest, AServerMayExitWhenTheLastResponseIsSent) {
  options.trainers = 1;
  core();
  joinAll();
  // Another thread may see the end before the response to the leave is sent.
  struct AskingSink final : Responder::Sink {
    explicit AskingSink(const ServerCore &of) : core(of) {}
    void respond(Message) override {
      isOver = core.waitUntilOver(std::chrono::milliseconds(0));
      isNotified = core.waitUntilNotified(std::chrono::milliseconds(0));
    }
    const ServerCore &core;
    bool isOver = false, isNotified = false;
  };
  const auto sink = std::make_shared<AskingSink>(core());
  core().handle(joinFrame({MessageKind::Leave, 0, 0, 1, 0, 0}, {}),
                Responder(sink));
  EXPECT_TRUE(sink->isOver);
  EXPECT_FALSE(sink->isNotified);
  EXPECT_TRUE(core().waitUntilNotified(std::chrono::milliseconds(0)));
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
  const std::string message = "trainer 1 failed: part-1.txt has no line 7";
  EXPECT_EQ(open.kind(), MessageKind::Refusal);
  EXPECT_EQ(open.text(), message);
  EXPECT_EQ(core().status().message, message);
  EXPECT_EQ(exchange(0, 1, "a").text(), message);
  EXPECT_EQ(exchange(0, 2, "a").text(), message);
  EXPECT_EQ(beat(0).text(), message);
  EXPECT_EQ(join(0).text(), message);
  EXPECT_EQ(leave(0, message).kind(), MessageKind::Response);
  EXPECT_TRUE(core().allNotified());
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(application->rounds, 0);
}

TEST_F(ServerCoreTest, ASilentTrainerEndsAll) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  for (int second = 0; second < 10; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Response);
    EXPECT_FALSE(open.came());
  }
  EXPECT_FALSE(core().allNotified());
  for (int second = 0; second < 6; ++second) {
    advance(Seconds(1));
    beat(0);
  }
  EXPECT_THAT(open.text(), HasSubstr("trainer 1 was not heard of for 1"));
  EXPECT_EQ(core().status().state, JobState::Failed);
  // A response may be lost; a trainer that has left knows the end.
  EXPECT_FALSE(core().allNotified());
  leave(0);
  EXPECT_TRUE(core().allNotified());
}

TEST_F(ServerCoreTest, ATrainerThatNeverJoinsEndsAll) {
  options.joinLimit = Seconds(60);
  core();
  join(0);
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Response);
  }
  advance(Seconds(3));
  EXPECT_THAT(beat(0).text(), HasSubstr("trainer 1 did not join for 6"));
}

TEST_F(ServerCoreTest, ATrainerThatHasNotJoinedIsWaitedFor) {
  core();
  EXPECT_EQ(core().waitingFor(),
            "waiting for trainers 0 and 1 to join (0 s, at most 600 s)");
  join(0);
  for (int second = 0; second < 300; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).sign().message, "waiting for trainer 1 to join (" +
                                          std::to_string(second + 1) +
                                          " s, at most 600 s)");
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
  EXPECT_EQ(beat(0).sign().message,
            "waiting for the exchange of trainer 2 (13 s; "
            "trainer 2 was not heard of for 13 s); start trainer 2 again if it "
            "has died, or stop the job by SIGTERM to any process");
  EXPECT_EQ(core().status().state, JobState::Running);
  exchange(2, 1, "c");
  EXPECT_EQ(core().waitingFor(), "");
  EXPECT_EQ(application->rounds, 1);
}

/// Clock of a process that can be suspended; its timers then run late.
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

TEST_F(ServerCoreTest, HeartbeatsCarryAStopRequestAndAllLeaveInOrder) {
  core();
  joinAll();
  EXPECT_FALSE(beat(0).sign().stop);
  core().requestStop();
  EXPECT_TRUE(beat(0).sign().stop);
  EXPECT_TRUE(beat(1).sign().stop);
  // The step ends, and so does what follows it, because the job has not ended.
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

TEST_F(ServerCoreTest, AStopWaitsForNoLostTrainer) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    beat(0);
  }
  EXPECT_FALSE(open.came());
  core().requestStop();
  EXPECT_THAT(open.text(), HasSubstr("trainer 1 was not heard of for"));
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, AStopWithoutALostTrainerMaySaveFirst) {
  options.onFailure = FailurePolicy::Wait;
  options.savesBeforeLoss = true;
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    beat(0);
  }
  EXPECT_FALSE(core().pendingLoss());
  core().requestStop();
  EXPECT_THAT(core().pendingLoss().value_or(""),
              HasSubstr("told to stop; trainer 1 was not heard of for"));
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_FALSE(open.came());
  // The progress of trainers between two requests.
  uint64_t received = 0, answered = 1;
  const auto look = [&](const std::vector<SenderMark> &marks) {
    EXPECT_EQ(marks.size(), 2u);
    received = marks.front().received;
    answered = marks.front().answered;
    return Status();
  };
  Status ended = Status::invalidArgument("nothing");
  core().betweenRequests(look, [&](Status with) { ended = std::move(with); });
  EXPECT_TRUE(ended.ok()) << ended.message();
  EXPECT_EQ(received, 1u);
  EXPECT_EQ(answered, 0u);
  // A restarted trainer would change the state that is saved.
  EXPECT_EQ(join(1, 2).kind(), MessageKind::Wait);
  core().fail(Status::unavailable("saved"));
  EXPECT_THAT(open.text(), HasSubstr("saved"));
}

TEST_F(ServerCoreTest, AStateThatAnUpdateLeftBehindIsNotSaved) {
  core();
  joinAll();
  const auto look = [](const std::vector<SenderMark> &) {
    ADD_FAILURE();
    return Status();
  };
  core().fail(Status::unavailable("out of memory while it applied a step"));
  std::vector<std::string> ends;
  const auto note = [&](const Status &with) { ends.push_back(with.message()); };
  core().betweenRequests(look, note);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_THAT(ends[0], HasSubstr("the job has failed: out of memory while it"));
  // The same after the orderly end.
  server.reset();
  core();
  joinAll();
  leave(0);
  leave(1);
  core().betweenRequests(look, note);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_THAT(ends[1], HasSubstr("the job is finished"));
}

TEST_F(ServerCoreTest, WorkBetweenRequestsMayThrow) {
  core();
  joinAll();
  Status ended;
  const auto note = [&](Status with) { ended = std::move(with); };
  core().betweenRequests(
      [](const std::vector<SenderMark> &) -> Status { throw std::bad_alloc(); },
      note);
  EXPECT_EQ(ended.code(), PDL_OUT_OF_MEMORY);
  core().betweenRequests(
      [](const std::vector<SenderMark> &) -> Status {
        throw std::length_error("too long");
      },
      note);
  EXPECT_EQ(ended.message(), "too long");
  EXPECT_EQ(core().status().state, JobState::Running);
}

TEST_F(ServerCoreTest, WorkThatIsDroppedHasAnEndToo) {
  struct DroppingExecutor final : Executor {
    void run(std::function<void()>) override {}
  } dropping;
  ServerCore own(options, clock, dropping);
  Status ended;
  own.betweenRequests([](const std::vector<SenderMark> &) { return Status(); },
                      [&](Status with) { ended = std::move(with); });
  EXPECT_EQ(ended.message(), "the server ends");
}

TEST_F(ServerCoreTest, TrainersThatHaveAllFailedMaySaveFirst) {
  options.onFailure = FailurePolicy::Wait;
  options.savesBeforeLoss = true;
  core();
  joinAll();
  leave(0, "no data");
  EXPECT_FALSE(core().pendingLoss());
  leave(1, "no disk");
  EXPECT_EQ(core().pendingLoss(), "trainer 1 failed: no disk");
  EXPECT_EQ(core().status().state, JobState::Running);
}

TEST_F(ServerCoreTest, OtherServersRequestWithoutJoining) {
  core();
  const Envelope head = {MessageKind::Peer, 9, 0, 0, 0, 0};
  EXPECT_THAT(send(head, "{}").text(), HasSubstr("takes no requests of"));
  core().respondToPeers([](const Message &payload) -> Expected<Message> {
    if (payload.size() == 0)
      return Status::invalidArgument("empty");
    return payload;
  });
  EXPECT_EQ(send(head, "hello").text(), "hello");
  EXPECT_EQ(send(head, "").kind(), MessageKind::Refusal);
  // Requests are small, and strangers may send them.
  EXPECT_FALSE(core().screen(joinFrame(head, Message()), 1 << 19));
  EXPECT_TRUE(core().screen(joinFrame(head, Message()), (1 << 20) + 1));
  EXPECT_EQ(send(head, std::string(1 << 20, 'x')).kind(), MessageKind::Refusal);
}

TEST_F(ServerCoreTest, AStopBeforeAllHaveJoinedEndsTheJobSoon) {
  core();
  ASSERT_EQ(join(0).text(), "welcome");
  core().requestStop();
  EXPECT_TRUE(beat(0).sign().stop);
  EXPECT_TRUE(join(1).sign().stop);
  leave(0, "stopped while it waited");
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, AStopWithoutTrainersEndsTheJobSoon) {
  core();
  core().requestStop();
  EXPECT_EQ(join(1).kind(), MessageKind::Wait);
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(3));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(core().status().message, HasSubstr("had joined"));
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
    core().handle(joinFrame({MessageKind::Heartbeat, 1, 0, 1, 0, 0},
                            encodeHeartbeat({false, "", process.identity()})),
                  sign.responder());
    advance(Seconds(1));
    EXPECT_EQ(core().status().state, JobState::Running);
    process.end();
    advance(Seconds(1));
    EXPECT_EQ(core().status().state, policy == FailurePolicy::Abort
                                         ? JobState::Failed
                                         : JobState::Running);
    EXPECT_THAT(core().status().message + core().waitingFor(),
                HasSubstr("trainer 1 has died: there is no process"));
  }
}

} // namespace
