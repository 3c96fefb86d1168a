//===- ServerCoreTest.cpp - Copies, rounds and delayed responses ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"
#include "pdlrt/Core/OutOfMemory.h"

#include <gmock/gmock.h>

#include <deque>
#include <memory>
#include <numeric>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Seconds = std::chrono::seconds;

TEST_F(ServerCoreTest, RoundsAreClosedInRankOrder) {
  options.trainers = 3;
  core();
  joinAll();
  const Reply second = exchange(1, 1, "b");
  const Reply third = exchange(2, 1, "c");
  EXPECT_THAT(application->calls, IsEmpty());
  EXPECT_FALSE(second.came());
  const Reply first = exchange(0, 1, "a");
  EXPECT_THAT(application->calls,
              ElementsAre("take0", "take1", "take2", "close-exchange"));
  EXPECT_EQ(first.text(), "0 reads abc");
  EXPECT_EQ(second.text(), "1 reads abc");
  EXPECT_EQ(third.text(), "2 reads abc");
  EXPECT_EQ(third.head(), (Envelope{MessageKind::Response, 2, 0, 1, 1, 0}));
}

TEST_F(ServerCoreTest, PartialSumsAreAddedAsThePrefixIsComplete) {
  options.trainers = 3;
  core();
  joinAll();
  exchange(0, 1, "a");
  EXPECT_THAT(application->calls, ElementsAre("take0"));
  exchange(2, 1, "c");
  EXPECT_THAT(application->calls, ElementsAre("take0"));
  exchange(1, 1, "b");
  EXPECT_EQ(application->calls.size(), 4u);
}

TEST_F(ServerCoreTest, ResponsesAreHeldBackUntilTheSlowestIsNear) {
  options.trainers = 3;
  const auto policy = createBoundedStaleness(1);
  joinAll(*policy);
  // No sender has finished a step. So the responses to keys, and to a request
  // that is one step ahead, are sent immediately.
  EXPECT_TRUE(exchange(0, 1, "keys").came());
  EXPECT_TRUE(exchange(0, 2, "a").came());
  const Reply held = exchange(0, 3, "b");
  EXPECT_FALSE(held.came());
  EXPECT_THAT(application->calls, ElementsAre("alone0", "alone0", "alone0"));
  advance(Seconds(3));
  EXPECT_THAT(core().waitingFor(),
              HasSubstr("waiting for trainers 1 and 2, which others are as far "
                        "ahead of as --max-staleness allows (3 s"));
  EXPECT_TRUE(exchange(1, 1, "c").came());
  EXPECT_FALSE(held.came());
  // The response contains the state at the time when it is given.
  EXPECT_TRUE(exchange(2, 1, "d").came());
  EXPECT_EQ(held.text(), "0 reads d");
  EXPECT_EQ(core().waitingFor(), "");
  // A trainer without further steps delays no other.
  const Reply again = exchange(0, 4, "e");
  EXPECT_FALSE(again.came());
  EXPECT_TRUE(exchange(1, 2, "f.").came());
  EXPECT_FALSE(again.came());
  EXPECT_TRUE(exchange(2, 2, "keys.").came());
  EXPECT_TRUE(again.came());
  EXPECT_TRUE(exchange(0, 5, "g").came());
  // After a round of sums, steps are counted from zero again, and a trainer
  // that has sent nothing is the slowest.
  send({MessageKind::Reduce, 0, 0, 1, 6, 0}, "");
  send({MessageKind::Reduce, 1, 0, 1, 3, 0}, "");
  EXPECT_TRUE(send({MessageKind::Reduce, 2, 0, 1, 3, 0}, "").came());
  EXPECT_TRUE(exchange(0, 7, "h").came());
  EXPECT_FALSE(exchange(0, 8, "i").came());
  const StalenessCounts counts = core().staleness();
  EXPECT_EQ(std::accumulate(counts.begin() + 2, counts.end(), int64_t(0)), 0);
}

TEST_F(ServerCoreTest, AWorkerCountsFromItsFirstRequest) {
  options.workersOfTrainer = 2;
  options.trainers = 1;
  const auto policy = createBoundedStaleness(0);
  core();
  application->policy = policy.get();
  const auto worker = [&](uint32_t number, uint64_t sequence,
                          const std::string &payload) {
    return send({MessageKind::Exchange, 0, number, 1, sequence, 0}, payload);
  };
  for (uint32_t number = 0; number <= 2; ++number)
    send({MessageKind::Join, 0, number, 1, 0, 0}, "hello");
  EXPECT_TRUE(worker(1, 1, "keys").came());
  EXPECT_TRUE(worker(1, 2, "a").came());
  EXPECT_TRUE(worker(2, 1, "keys").came());
  const Reply held = worker(1, 3, "b");
  EXPECT_FALSE(held.came());
  EXPECT_TRUE(worker(2, 2, "c").came());
  EXPECT_FALSE(held.came());
  EXPECT_TRUE(worker(2, 3, "d").came());
  EXPECT_TRUE(held.came());
}

// Trainers with different amounts of data are in this state at a checkpoint
// within an epoch.
TEST_F(ServerCoreTest, NoneIsHeldBackForATrainerThatWaitsForSums) {
  options.trainers = 2;
  const auto policy = createBoundedStaleness(0);
  joinAll(*policy);
  EXPECT_TRUE(exchange(0, 1, "keys").came());
  EXPECT_TRUE(exchange(1, 1, "keys").came());
  const Reply held = exchange(0, 2, "a");
  EXPECT_FALSE(held.came());
  const Reply first = send({MessageKind::Reduce, 1, 0, 1, 2, 0}, "sums");
  EXPECT_FALSE(first.came());
  EXPECT_TRUE(held.came());
  EXPECT_TRUE(exchange(0, 3, "b").came());
  const Reply second = send({MessageKind::Reduce, 0, 0, 1, 4, 0}, "sums");
  EXPECT_TRUE(first.came());
  EXPECT_TRUE(second.came());
  // Steps are counted from zero again.
  EXPECT_FALSE(exchange(0, 5, "c").came());
}

TEST_F(ServerCoreTest, AQuorumEndsARound) {
  options.trainers = 3;
  for (const LateGradients late : {LateGradients::Count, LateGradients::Drop}) {
    const auto policy = createQuorum(2, late);
    joinAll(*policy);
    const Reply first = exchange(2, 1, "a");
    EXPECT_FALSE(first.came());
    EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ba");
    EXPECT_EQ(first.text(), "2 reads ba");
    // The response is sent immediately, and the next request of the trainer is
    // in time.
    EXPECT_EQ(exchange(0, 1, "c").text(), "0 reads ba");
    const bool counts = late == LateGradients::Count;
    EXPECT_THAT(application->calls,
                ElementsAre("take1", "take2", "close-exchange",
                            counts ? "late0" : "drop0"));
    application->calls.clear();
    const Reply second = exchange(0, 2, "d");
    EXPECT_FALSE(second.came());
    EXPECT_EQ(exchange(1, 2, "e").text(),
              counts ? "1 reads cde" : "1 reads de");
    // A trainer without data lowers the quorum.
    EXPECT_EQ(exchange(2, 2, "keys.").text(), "2 reads keys.");
    EXPECT_TRUE(exchange(0, 3, "f").came());
    EXPECT_THAT(application->calls.back(), "close-exchange");
    // Late gradients after the last step count before the sums.
    application->calls.clear();
    EXPECT_TRUE(exchange(1, 3, "g.").came());
    EXPECT_TRUE(exchange(0, 4, "h.").came());
    send({MessageKind::Reduce, 0, 0, 1, 5, 0}, "");
    send({MessageKind::Reduce, 1, 0, 1, 4, 0}, "");
    EXPECT_TRUE(send({MessageKind::Reduce, 2, 0, 1, 3, 0}, "").came());
    EXPECT_THAT(application->calls,
                counts
                    ? ElementsAre("late1", "take0", "close-exchange", "take0",
                                  "take1", "take2", "close-reduce")
                    : ElementsAre("drop1", "take0", "close-exchange", "take0",
                                  "take1", "take2", "close-reduce"));
  }
}

// The straggler's last steps, which the others have already done, do not each
// form a round.
TEST_F(ServerCoreTest, WhoCatchesUpFillsRoundsByItself) {
  options.trainers = 3;
  for (const LateGradients late : {LateGradients::Count, LateGradients::Drop}) {
    const auto policy = createQuorum(2, late);
    joinAll(*policy);
    for (const auto &[sequence, end] : {std::pair(1, ""), {2, ""}, {3, "."}})
      for (const uint32_t trainer : {0, 1})
        exchange(trainer, uint64_t(sequence), std::string("a") + end);
    application->calls.clear();
    const bool counts = late == LateGradients::Count;
    // The response is sent immediately each time, and has the state of the last
    // round.
    EXPECT_EQ(exchange(2, 1, "b").text(), "2 reads a.a.");
    EXPECT_EQ(exchange(2, 2, "c").text(), "2 reads a.a.");
    EXPECT_EQ(exchange(2, 3, "d").text(),
              counts ? "2 reads bcd" : "2 reads cd");
    // No other trainer has had this step or the following ones.
    EXPECT_EQ(exchange(2, 4, "e").text(), "2 reads e");
    EXPECT_EQ(exchange(2, 5, "f.").text(), "2 reads f.");
    EXPECT_THAT(application->calls,
                ElementsAre(counts ? "late2" : "drop2", "take2", "take2",
                            "close-exchange", "take2", "close-exchange",
                            "take2", "close-exchange"));
  }
}

// No gradients remain when the straggler ends, or reaches the round of sums,
// before its round is full.
TEST_F(ServerCoreTest, WhatWasGatheredCountsBeforeAllMeet) {
  options.trainers = 4;
  for (const char *last : {"c.", "c"}) {
    const auto policy = createQuorum(2, LateGradients::Count);
    joinAll(*policy);
    for (const uint64_t sequence : {1, 2, 3, 4})
      for (const uint32_t trainer : {0, 1, 2})
        exchange(trainer, sequence, sequence == 4 ? "a." : "a");
    application->calls.clear();
    EXPECT_TRUE(exchange(3, 1, "keys").came());
    EXPECT_TRUE(exchange(3, 2, "b").came());
    EXPECT_TRUE(exchange(3, 3, last).came());
    for (const uint32_t trainer : {3, 0, 1, 2})
      send({MessageKind::Reduce, trainer, 0, 1, trainer < 3 ? 5u : 4u, 0}, "");
    EXPECT_THAT(application->calls,
                ElementsAre("alone3", "take3", "take3", "close-exchange",
                            "take0", "take1", "take2", "take3",
                            "close-reduce"));
    // Steps are counted from zero again, so no trainer has to catch up.
    EXPECT_FALSE(exchange(3, 5, "d").came());
    EXPECT_TRUE(exchange(0, 6, "e").came());
    EXPECT_THAT(application->calls.back(), "close-exchange");
  }
}

TEST_F(ServerCoreTest, LateGradientsCountBeforeAllMeet) {
  options.trainers = 2;
  const auto policy = createQuorum(1, LateGradients::Count);
  joinAll(*policy);
  EXPECT_TRUE(exchange(0, 1, "a.").came());
  EXPECT_TRUE(exchange(1, 1, "b.").came());
  // No other gradients can join them.
  EXPECT_THAT(application->calls, ElementsAre("take0", "close-exchange",
                                              "late1", "close-exchange"));
}

// A save between two requests contains all steps that trainers count as done.
TEST_F(ServerCoreTest, RequestsWithResponsesAreAppliedBeforeASave) {
  options.trainers = 3;
  for (const LateGradients late : {LateGradients::Count, LateGradients::Drop}) {
    const auto policy = createQuorum(2, late);
    joinAll(*policy);
    for (const auto &[sequence, end] : {std::pair(1, ""), {2, ""}, {3, "."}})
      for (const uint32_t trainer : {0, 1})
        exchange(trainer, uint64_t(sequence), std::string("a") + end);
    EXPECT_TRUE(exchange(2, 1, "b").came());
    EXPECT_TRUE(exchange(2, 2, "c").came());
    application->calls.clear();
    int saves = 0;
    const auto save = [&](const std::vector<SenderMark> &) {
      ++saves;
      application->calls.push_back("save");
      return Status();
    };
    const auto ends = [](const Status &ended) { EXPECT_TRUE(ended.ok()); };
    core().betweenRequests(save, ends);
    // No gradients are left to apply.
    core().betweenRequests(save, ends);
    EXPECT_EQ(saves, 2);
    EXPECT_THAT(application->calls,
                ElementsAre("close-exchange", "save", "save"));
    // The straggler is not late, and continues as before.
    EXPECT_TRUE(exchange(2, 3, "d").came());
    EXPECT_THAT(application->calls.back(), "take2");
  }
}

// Waiting requests stay in the round, and get their responses with it.
TEST_F(ServerCoreTest, AWaitingRequestIsNotAppliedBeforeASave) {
  options.trainers = 3;
  const auto policy = createQuorum(2, LateGradients::Count);
  joinAll(*policy);
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  EXPECT_TRUE(exchange(2, 1, "c").came());
  const Reply waits = exchange(0, 2, "d");
  EXPECT_FALSE(waits.came());
  application->calls.clear();
  core().betweenRequests(
      [&](const std::vector<SenderMark> &) {
        application->calls.push_back("save");
        return Status();
      },
      [](const Status &ended) { EXPECT_TRUE(ended.ok()); });
  EXPECT_THAT(application->calls, ElementsAre("close-exchange", "save"));
  EXPECT_FALSE(waits.came());
  EXPECT_EQ(exchange(1, 2, "e").text(), "1 reads de");
  EXPECT_EQ(waits.text(), "0 reads de");
}

TEST_F(ServerCoreTest, CopiesGetResponsesAndCountOnce) {
  core();
  joinAll();
  const Reply one = exchange(0, 1, "a");
  const Reply two = exchange(0, 1, "a");
  const Reply other = exchange(1, 1, "b");
  EXPECT_EQ(one.text(), "0 reads ab");
  EXPECT_EQ(two.text(), "0 reads ab");
  EXPECT_EQ(exchange(0, 1, "a").text(), "0 reads ab");
  exchange(0, 2, "c");
  // A repeated old request gets no response.
  EXPECT_FALSE(exchange(0, 1, "a").came());
  EXPECT_EQ(exchange(1, 2, "d").text(), "1 reads cd");
  EXPECT_EQ(application->rounds, 2);
}

/// Sink that calls back when its request is dropped.
class CallingSink final : public Responder::Sink {
public:
  explicit CallingSink(std::function<void()> onEnd) : then(std::move(onEnd)) {}
  ~CallingSink() override { then(); }
  void respond(Message) override {}

private:
  const std::function<void()> then;
};

TEST_F(ServerCoreTest, AStaleCopyIsLetGoWithoutALock) {
  core();
  joinAll();
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  exchange(0, 2, "c");
  bool wasLetGo = false;
  core().handle(
      joinFrame({MessageKind::Exchange, 0, 0, 1, 1, 0}, Message::ofString("a")),
      Responder(std::make_shared<CallingSink>(
          [&] { wasLetGo = core().status().state == JobState::Running; })));
  EXPECT_TRUE(wasLetGo);
}

TEST_F(ServerCoreTest, OldCopiesOfAnOpenRequestAreLetGo) {
  core();
  joinAll();
  std::vector<Reply> copies;
  for (int i = 0; i < 100; ++i)
    copies.push_back(exchange(0, 1, "a"));
  exchange(1, 1, "b");
  EXPECT_FALSE(copies.front().came());
  EXPECT_EQ(copies.back().text(), "0 reads ab");
  EXPECT_EQ(application->rounds, 1);
}

TEST_F(ServerCoreTest, RequestsOutsideRoundsGetResponsesAtOnce) {
  options.workersOfTrainer = 2;
  core();
  joinAll();
  for (uint32_t worker = 0; worker <= 2; ++worker) {
    send({MessageKind::Join, 1, worker, 1, 0, 0});
    EXPECT_EQ(send({MessageKind::Pull, 1, worker, 1, 1, 0}, "k").text(),
              "rows of k");
    EXPECT_EQ(send({MessageKind::Pull, 1, worker, 1, 1, 0}, "k").text(),
              "rows of k");
  }
  EXPECT_EQ(std::count(application->calls.begin(), application->calls.end(),
                       "handle1.1"),
            1);
  // Only whole trainers take part in rounds.
  EXPECT_THAT(send({MessageKind::Exchange, 1, 2, 1, 2, 0}).text(),
              HasSubstr("one of the whole trainer is expected"));
}

TEST_F(ServerCoreTest, WrongHeadsAreRefused) {
  core();
  joinAll();
  const auto refusal = [&](const Envelope &head) {
    const Reply reply = send(head);
    EXPECT_EQ(reply.kind(), MessageKind::Refusal);
    return reply.text();
  };
  EXPECT_THAT(refusal({MessageKind::Exchange, 7, 0, 1, 1, 0}),
              HasSubstr("trainer 7 is not of this job, which has 2 trainers"));
  EXPECT_THAT(refusal({MessageKind::Exchange, 0, 1, 1, 1, 0}),
              HasSubstr("worker 1 of trainer 0 is not of this job"));
  EXPECT_THAT(refusal({MessageKind::Exchange, 0, 0, 1, 1, 4}),
              HasSubstr("uses epoch 4 of the map, this server epoch 0"));
  EXPECT_THAT(refusal({MessageKind::Exchange, 0, 0, 1, 5, 0}),
              HasSubstr("request 5 out of turn"));
  EXPECT_THAT(refusal({MessageKind::Exchange, 0, 0, 2, 1, 0}),
              HasSubstr("has not joined"));
  EXPECT_THAT(refusal({MessageKind::Response, 0, 0, 1, 1, 0}),
              HasSubstr("takes requests"));
  const Reply foreign;
  core().handle(Message::ofString("GET / HTTP/1.1"), foreign.responder());
  EXPECT_EQ(foreign.kind(), MessageKind::Refusal);
  EXPECT_THAT(application->calls, IsEmpty());
  // Nothing has changed.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
}

TEST_F(ServerCoreTest, ARefusedPayloadStaysRefused) {
  core();
  joinAll();
  EXPECT_EQ(exchange(0, 1, "bad").text(), "bytes are missing");
  EXPECT_EQ(exchange(0, 1, "bad").kind(), MessageKind::Refusal);
  EXPECT_THAT(application->calls, IsEmpty());
}

TEST_F(ServerCoreTest, ARoundThatFailsEndsAll) {
  core();
  joinAll();
  const Reply first = exchange(0, 1, "worse");
  const Reply second = exchange(1, 1, "b");
  EXPECT_EQ(first.kind(), MessageKind::Refusal);
  EXPECT_EQ(first.text(), "the sum is not finite");
  EXPECT_EQ(second.text(), "the sum is not finite");
  EXPECT_EQ(core().status().state, JobState::Failed);
  leave(0);
  leave(1);
  EXPECT_TRUE(core().allNotified());
}

TEST_F(ServerCoreTest, AFailedHandshakeAdmitsNone) {
  core();
  EXPECT_EQ(send({MessageKind::Join, 0, 0, 9, 0, 0}, "bad").text(),
            "model A is not model B");
  EXPECT_THAT(exchange(0, 1, "a", 9).text(), HasSubstr("has not joined"));
  // The failed join has fenced no other process.
  EXPECT_EQ(join(0).text(), "welcome");
}

TEST_F(ServerCoreTest, KindsOfOneRoundMustAgree) {
  core();
  joinAll();
  const Reply first = exchange(0, 1, "a");
  const Reply second = send({MessageKind::Reduce, 1, 0, 1, 1, 0});
  EXPECT_EQ(second.text(),
            "trainer 1 sends its reduce while trainer 0 waits with its "
            "exchange: start all trainers with the same options");
  EXPECT_FALSE(first.came());
}

TEST_F(ServerCoreTest, TheApplicationDelaysNoHeartbeat) {
  core();
  joinAll();
  const Reply first = exchange(0, 1, "a");
  std::string heartbeatText = "nothing";
  bool copyCame = true;
  // A heartbeat on another thread while the application works; it must not
  // block.
  application->whileClosing = [&] {
    std::thread([&] {
      heartbeatText = beat(0).sign().message;
      copyCame = exchange(0, 1, "a").came();
    }).join();
  };
  exchange(1, 1, "b");
  EXPECT_EQ(heartbeatText, "");
  EXPECT_FALSE(copyCame);
  EXPECT_EQ(first.text(), "0 reads ab");
}

/// Executor that keeps its tasks until the test runs them.
class LateExecutor final : public Executor {
public:
  void run(std::function<void()> task) override {
    tasks.push_back(std::move(task));
  }
  void runAll() {
    while (!tasks.empty()) {
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      task();
    }
  }

private:
  std::deque<std::function<void()>> tasks;
};

// The application works for longer than any limit, and no trainer is lost.
TEST_F(ServerCoreTest, HeartbeatsNeverWaitForWork) {
  LateExecutor executor;
  application = std::make_unique<RecordingApplication>(options.trainers);
  server = std::make_unique<ServerCore>(options, clock, executor);
  server->open(*application);
  const Reply joins[] = {join(0), join(1)};
  EXPECT_FALSE(joins[0].came());
  // A copy learns that its join has arrived.
  EXPECT_EQ(join(0).kind(), MessageKind::Wait);
  executor.runAll();
  EXPECT_EQ(joins[0].text(), "welcome");
  const Reply first = exchange(0, 1, "a"), second = exchange(1, 1, "b");
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Response);
    EXPECT_EQ(beat(1).kind(), MessageKind::Response);
  }
  const Reply copy = exchange(0, 1, "a");
  EXPECT_FALSE(first.came());
  EXPECT_EQ(core().status().state, JobState::Running);
  executor.runAll();
  EXPECT_EQ(first.text(), "0 reads ab");
  EXPECT_EQ(copy.text(), "0 reads ab");
  EXPECT_EQ(second.text(), "1 reads ab");
  EXPECT_EQ(application->rounds, 1);
}

// Any process can reach the port, with any number of ids.
TEST_F(ServerCoreTest, GreetingsDoNotPileUpWhileTheApplicationWorks) {
  LateExecutor executor;
  application = std::make_unique<RecordingApplication>(options.trainers);
  server = std::make_unique<ServerCore>(options, clock, executor);
  server->open(*application);
  int kept = 0;
  for (uint64_t id = 1; id <= 5000; ++id) {
    StartSign stranger;
    stranger.id = id;
    const Reply reply = ask(0, stranger, id % 2 * id);
    kept += !reply.came();
    if (reply.came())
      EXPECT_EQ(reply.kind(), MessageKind::Wait);
    // A copy is never kept.
    EXPECT_EQ(ask(0, stranger, id % 2 * id).kind(), MessageKind::Wait);
  }
  EXPECT_GT(kept, 0);
  EXPECT_LE(kept, 1026);
  executor.runAll();
  const Reply later = join(1, 10000);
  executor.runAll();
  EXPECT_EQ(later.text(), "welcome");
}

TEST_F(ServerCoreTest, JoinsDuringLoadingGetAMessage) {
  LateExecutor executor;
  server = std::make_unique<ServerCore>(options, clock, executor);
  core().setProgress("loading saved/step-7");
  for (int minute = 0; minute < 20; ++minute) {
    advance(Seconds(60));
    const Reply early = join(0);
    EXPECT_EQ(early.kind(), MessageKind::Wait);
    EXPECT_EQ(early.sign().message, "loading saved/step-7");
    EXPECT_EQ(early.sign().process, ProcessIdentity::ofThisProcess());
  }
  // The time limit for joins starts now.
  application = std::make_unique<RecordingApplication>(options.trainers);
  core().open(*application);
  advance(Seconds(60));
  EXPECT_EQ(core().status().state, JobState::Running);
  const Reply joined = join(0);
  executor.runAll();
  EXPECT_EQ(joined.text(), "welcome");
}

TEST_F(ServerCoreTest, JoinsAfterAFailedLoadGetItsError) {
  InlineExecutor executor;
  server = std::make_unique<ServerCore>(options, clock, executor);
  core().fail(Status::unavailable("server 0: saved/step-7 is damaged"));
  EXPECT_EQ(join(0).text(), "server 0: saved/step-7 is damaged");
  EXPECT_EQ(join(1).text(), "server 0: saved/step-7 is damaged");
  EXPECT_FALSE(core().allNotified());
  advance(Seconds(5));
  EXPECT_TRUE(core().allNotified());
}

//===----------------------------------------------------------------------===//
// Limits of stored requests
//===----------------------------------------------------------------------===//

TEST_F(ServerCoreTest, WhoHasNotJoinedMakesItHoldNothing) {
  options.workersOfTrainer = 1;
  core();
  const auto faultOf = [&](const Envelope &head, uint64_t size) {
    const auto refusal = core().screen(joinFrame(head, {}), size);
    if (!refusal)
      return std::string("taken");
    const auto frame = splitFrame(*refusal);
    EXPECT_TRUE(frame.ok());
    EXPECT_EQ(frame->head.kind, MessageKind::Refusal);
    return frame->payload.toString();
  };
  constexpr uint64_t large = uint64_t(512) << 20;
  for (const MessageKind kind :
       {MessageKind::Exchange, MessageKind::Norm, MessageKind::Pull,
        MessageKind::Reduce, MessageKind::Save, MessageKind::Leave,
        MessageKind::Heartbeat, MessageKind::Poll}) {
    EXPECT_NE(faultOf({kind, 0, 0, 1, 1, 0}, large), "taken") << nameOf(kind);
    EXPECT_NE(faultOf({kind, 0, 0, 1, 1, 0}, 100), "taken") << nameOf(kind);
  }
  for (const MessageKind kind : {MessageKind::Join, MessageKind::Greet}) {
    EXPECT_EQ(faultOf({kind, 0, 0, 1, 0, 0}, 8192), "taken");
    EXPECT_THAT(faultOf({kind, 0, 0, 1, 0, 0}, large),
                HasSubstr("more than the 8192"));
  }
  joinAll();
  EXPECT_EQ(faultOf({MessageKind::Exchange, 0, 0, 1, 1, 0}, large), "taken");
  EXPECT_THAT(faultOf({MessageKind::Exchange, 0, 1, 1, 1, 0}, large),
              HasSubstr("sends before its join"));
  for (const MessageKind kind : {MessageKind::Heartbeat, MessageKind::Leave}) {
    EXPECT_EQ(faultOf({kind, 0, 0, 1, 0, 0}, 100), "taken");
    EXPECT_NE(faultOf({kind, 0, 0, 1, 0, 0}, large), "taken");
  }
  EXPECT_NE(faultOf({MessageKind::Exchange, 0, 0, 2, 1, 0}, large), "taken");
  EXPECT_NE(faultOf({MessageKind::Exchange, 7, 0, 1, 1, 0}, large), "taken");
  EXPECT_NE(faultOf({MessageKind::Exchange, 0, 0, 1, 1, 9}, large), "taken");
  const auto foreign =
      core().screen(Message::ofString(std::string(40, 'x')), large);
  EXPECT_TRUE(foreign.has_value());
}

TEST_F(ServerCoreTest, APollGetsTheResponseToWhatHasArrived) {
  core();
  joinAll();
  const Envelope ask = {MessageKind::Poll, 0, 0, 1, 1, 0};
  // A Poll does not count as a request.
  EXPECT_EQ(send(ask).kind(), MessageKind::Wait);
  EXPECT_EQ(send(ask).kind(), MessageKind::Wait);
  const Reply first = exchange(0, 1, "a");
  const Reply asked = send(ask);
  EXPECT_FALSE(asked.came());
  exchange(1, 1, "b");
  EXPECT_EQ(first.text(), "0 reads ab");
  EXPECT_EQ(asked.text(), "0 reads ab");
  EXPECT_EQ(asked.kind(), MessageKind::Response);
  EXPECT_EQ(send(ask).text(), "0 reads ab");
  EXPECT_EQ(application->rounds, 1);
  EXPECT_EQ(send({MessageKind::Poll, 0, 0, 1, 2, 0}).kind(), MessageKind::Wait);
  EXPECT_THAT(send({MessageKind::Poll, 0, 0, 1, 3, 0}).text(),
              HasSubstr("out of turn"));
}

TEST_F(ServerCoreTest, WithoutMemoryTheJobFailsWithOneMessage) {
  core();
  joinAll();
  application->whileClosing = [] { throw OutOfMemory(size_t(64) << 20); };
  const Reply first = exchange(0, 1, "a");
  const Reply second = exchange(1, 1, "b");
  EXPECT_EQ(first.text(),
            "a server is out of memory while it worked on the exchange of "
            "trainer 1 (it asked for 64.0 MiB); use more servers, or machines "
            "with more memory");
  EXPECT_EQ(second.text(), first.text());
  EXPECT_EQ(core().status().state, JobState::Failed);
}

} // namespace
