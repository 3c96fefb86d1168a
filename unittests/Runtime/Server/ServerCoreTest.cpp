//===- ServerCoreTest.cpp - Copies, rounds, absent trainers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCore.h"

#include "Support/IdleProcess.h"
#include "Support/RecordingApplication.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Protocol/JoinAnswer.h"
#include "pdlrt/Protocol/LifeSign.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Transport/Frame.h"

#include <gmock/gmock.h>

#include <deque>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using Seconds = std::chrono::seconds;

/// What came back of one request.
class Reply {
public:
  Reply() : sink(std::make_shared<CapturingSink>()) {}
  Responder responder() const { return Responder(sink); }

  bool came() const { return sink->response.has_value(); }
  MessageKind kind() const { return frame().head.kind; }
  std::string text() const {
    return came() ? frame().payload.toString() : "nothing";
  }
  LifeSign sign() const {
    auto decoded = decodeLifeSign(frame().payload);
    EXPECT_TRUE(decoded.ok()) << decoded.status().message();
    return decoded.ok() ? *decoded : LifeSign();
  }
  Envelope head() const { return frame().head; }
  Message note() const { return frame().note; }

private:
  struct CapturingSink final : Responder::Sink {
    void answer(Message answered) override { response = std::move(answered); }
    std::optional<Message> response;
  };
  Frame frame() const {
    auto split = splitFrame(sink->response.value_or(Message()));
    EXPECT_TRUE(split.ok()) << split.status().message();
    return split.ok() ? *split : Frame();
  }
  std::shared_ptr<CapturingSink> sink;
};

class ServerCoreTest : public testing::Test {
protected:
  ServerCoreTest() { options.trainers = 2; }

  ServerCore &core() {
    if (!server) {
      application = std::make_unique<RecordingApplication>(options.trainers);
      server = std::make_unique<ServerCore>(options, *application, clock);
    }
    return *server;
  }
  Reply send(const Envelope &head, const std::string &payload = "") {
    const Reply reply;
    core().handle(joinFrame(head, Message::ofString(payload)),
                  reply.responder());
    return reply;
  }
  Reply join(uint32_t trainer, uint64_t incarnation = 1) {
    return send({MessageKind::Join, trainer, 0, incarnation, 0, 0}, "hello");
  }
  /// By a start with a name of its own; `incarnation` 0: a greeting.
  Reply ask(uint32_t trainer, const StartSign &start, uint64_t incarnation = 0,
            const std::string &payload = "hello") {
    const Reply reply;
    const MessageKind kind =
        incarnation == 0 ? MessageKind::Greet : MessageKind::Join;
    core().handle(joinFrame({kind, trainer, 0, incarnation, 0, 0},
                            Message::ofString(payload), encodeStartSign(start)),
                  reply.responder());
    return reply;
  }
  Reply exchange(uint32_t trainer, uint64_t sequence,
                 const std::string &payload, uint64_t incarnation = 1) {
    return send({MessageKind::Exchange, trainer, 0, incarnation, sequence, 0},
                payload);
  }
  /// Bytes of an exchange that has not come.
  Reply part(uint32_t trainer, uint64_t sequence, uint64_t number,
             const std::string &bytes, uint64_t incarnation = 1) {
    return send({MessageKind::Part, trainer, 0, incarnation, sequence, 0},
                encodePart(number, Message::ofString(bytes)).toString());
  }
  Reply inParts(const Envelope &head, const std::string &own,
                const std::vector<PartPlace> &places) {
    const Reply reply;
    core().handle(joinFrame(head, Message::ofString(own), {}, places),
                  reply.responder());
    return reply;
  }
  Reply exchangeInParts(uint32_t trainer, uint64_t sequence,
                        const std::string &own,
                        const std::vector<PartPlace> &places,
                        uint64_t incarnation = 1) {
    return inParts(
        {MessageKind::Exchange, trainer, 0, incarnation, sequence, 0}, own,
        places);
  }
  Reply beat(uint32_t trainer, uint64_t incarnation = 1, bool stop = false) {
    const Reply reply;
    core().handle(joinFrame({MessageKind::Beat, trainer, 0, incarnation, 0, 0},
                            encodeLifeSign({stop, {}})),
                  reply.responder());
    return reply;
  }
  Reply leave(uint32_t trainer, const std::string &sentence = "",
              uint64_t incarnation = 1) {
    return send({MessageKind::Leave, trainer, 0, incarnation, 0, 0}, sentence);
  }
  void joinAll() {
    for (uint32_t rank = 0; rank < options.trainers; ++rank)
      ASSERT_EQ(join(rank).text(), "welcome");
    application->calls.clear();
  }
  void advance(ClockTime time) { clock.advanceTo(clock.now() + time); }

  ServerCoreOptions options;
  ManualClock clock;
  std::unique_ptr<RecordingApplication> application;
  std::unique_ptr<ServerCore> server;
};

TEST_F(ServerCoreTest, PartsBelongToTheExchangeBehindThem) {
  options.trainers = 1;
  options.mostPartBytes = 100;
  core();
  joinAll();
  for (const auto &[number, bytes] :
       {std::pair(1, "c"), {0, "ab"}, {0, "ab"}}) {
    const Reply arrived = part(0, 1, number, bytes);
    EXPECT_EQ(arrived.kind(), MessageKind::Answer);
    EXPECT_EQ(arrived.text(), "");
  }
  EXPECT_THAT(application->calls, IsEmpty());
  const Reply whole = exchangeInParts(0, 1, "()", {{1, 0, 0, 2}, {1, 1, 0, 1}});
  EXPECT_EQ(whole.text(), "0 reads (abc)");
  // A late copy changes nothing, also where the request comes once more.
  EXPECT_EQ(part(0, 1, 0, "ab").kind(), MessageKind::Answer);
  EXPECT_EQ(exchangeInParts(0, 1, "()", {{1, 0, 0, 2}, {1, 1, 0, 1}}).text(),
            "0 reads (abc)");
  EXPECT_EQ(exchange(0, 2, "d").text(), "0 reads d");
}

TEST_F(ServerCoreTest, AnExchangeWaitsForItsParts) {
  options.mostPartBytes = 100;
  core();
  joinAll();
  const std::vector<PartPlace> places = {{0, 0, 0, 1}, {1, 1, 0, 1}};
  const Reply first = exchangeInParts(0, 1, "-", places);
  // It counts as not come, and comes again.
  EXPECT_EQ(send({MessageKind::Ask, 0, 0, 1, 1, 0}).kind(), MessageKind::Wait);
  const Reply again = exchangeInParts(0, 1, "-", places);
  const Reply other = exchange(1, 1, "c");
  part(0, 1, 1, "b");
  EXPECT_EQ(beat(0).kind(), MessageKind::Answer);
  EXPECT_FALSE(first.came() || again.came() || other.came());
  part(0, 1, 0, "a");
  EXPECT_EQ(again.text(), "0 reads a-bc");
  EXPECT_EQ(first.text(), "0 reads a-bc");
  EXPECT_EQ(other.text(), "1 reads a-bc");
  EXPECT_THAT(application->calls,
              ElementsAre("take0", "take1", "close-exchange"));
}

TEST_F(ServerCoreTest, BadPartsAreRefused) {
  options.trainers = 1;
  options.mostPartBytes = 4;
  core();
  const Reply before = part(0, 1, 0, "a");
  EXPECT_EQ(before.kind(), MessageKind::Refusal);
  joinAll();
  EXPECT_THAT(part(0, 2, 0, "a").text(),
              HasSubstr("sends request 2 out of turn"));
  EXPECT_THAT(part(0, 1, 0, "abcde").text(),
              HasSubstr("more than the 52 that all dense gradients"));
  EXPECT_EQ(part(0, 1, 0, "abc").kind(), MessageKind::Answer);
  EXPECT_THAT(part(0, 1, 1, "de").text(),
              HasSubstr("to more than the 4 bytes that all dense gradients"));
  // What was kept is gone with it.
  part(0, 1, 0, "abc");
  EXPECT_THAT(exchangeInParts(0, 1, "", {{0, 0, 0, 2}}).text(),
              HasSubstr("no place for all bytes of part 0"));
  part(0, 1, 0, "abc");
  EXPECT_THAT(
      inParts({MessageKind::Norm, 0, 0, 1, 1, 0}, "", {{0, 0, 0, 3}}).text(),
      HasSubstr("comes in parts, as only exchanges do"));
  // Nothing of all that has counted.
  EXPECT_THAT(application->calls, IsEmpty());
  EXPECT_EQ(exchange(0, 1, "whole").text(), "0 reads whole");
}

TEST_F(ServerCoreTest, WhereNobodySendsPartsTheyAreRefused) {
  options.trainers = 1;
  core();
  joinAll();
  EXPECT_THAT(part(0, 1, 0, "a").text(), HasSubstr("takes no parts"));
  const Envelope head = {MessageKind::Part, 0, 0, 1, 1, 0};
  EXPECT_TRUE(core().screen(joinFrame(head, {}), 1000));
  EXPECT_THAT(exchangeInParts(0, 1, "", {{0, 0, 0, 3}}).text(),
              HasSubstr("takes no parts"));
  EXPECT_EQ(exchange(0, 1, "whole").text(), "0 reads whole");
}

TEST_F(ServerCoreTest, OnlyExchangesOfTrainersHaveParts) {
  options.trainers = 1;
  options.workersOfTrainer = 1;
  options.mostPartBytes = 100;
  core();
  joinAll();
  for (const MessageKind kind :
       {MessageKind::Join, MessageKind::Greet, MessageKind::Beat,
        MessageKind::Ask, MessageKind::Leave, MessageKind::Norm,
        MessageKind::Part})
    EXPECT_THAT(inParts({kind, 0, 0, 1, 1, 0}, "", {{0, 0, 0, 3}}).text(),
                HasSubstr("comes in parts, as only exchanges do"))
        << nameOf(kind);
  const char *whole = "worker 1 of trainer 0 sends a request in parts";
  EXPECT_THAT(
      inParts({MessageKind::Exchange, 0, 1, 1, 1, 0}, "", {{0, 0, 0, 3}})
          .text(),
      HasSubstr(whole));
  EXPECT_THAT(send({MessageKind::Part, 0, 1, 1, 1, 0},
                   encodePart(0, Message::ofString("abc")).toString())
                  .text(),
              HasSubstr(whole));
}

TEST_F(ServerCoreTest, WhoLeavesLeavesNoParts) {
  options.mostPartBytes = 100;
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  const auto bytes = std::make_shared<const std::string>("abc");
  const std::weak_ptr<const std::string> kept = bytes;
  Message payload = encodePart(0, {});
  payload.append({reinterpret_cast<const std::byte *>(bytes->data()),
                  bytes->size(), bytes});
  const Reply reply;
  core().handle(
      joinFrame({MessageKind::Part, 0, 0, 1, 1, 0}, std::exchange(payload, {})),
      reply.responder());
  EXPECT_EQ(reply.kind(), MessageKind::Answer);
  EXPECT_GT(kept.use_count(), 1);
  leave(0, "it was killed");
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(ServerCoreTest, ANewStartBeginsWithoutParts) {
  options.mostPartBytes = 100;
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  const std::vector<PartPlace> places = {{0, 0, 0, 3}, {0, 1, 0, 3}};
  part(0, 1, 0, "old");
  const Reply old = exchangeInParts(0, 1, "", places);
  EXPECT_FALSE(old.came());
  leave(0, "it was killed");
  ASSERT_EQ(join(0, 2).text(), "welcome");
  EXPECT_EQ(old.kind(), MessageKind::Refusal);
  EXPECT_EQ(part(0, 1, 1, "old").kind(), MessageKind::Refusal);
  const Reply fresh = exchangeInParts(0, 1, "", places, 2);
  exchange(1, 1, "!");
  part(0, 1, 1, "two", 2);
  EXPECT_FALSE(fresh.came());
  part(0, 1, 0, "one", 2);
  EXPECT_EQ(fresh.text(), "0 reads onetwo!");
}

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
  EXPECT_EQ(third.head(), (Envelope{MessageKind::Answer, 2, 0, 1, 1, 0}));
}

TEST_F(ServerCoreTest, ContributionsAreTakenAsThePrefixIsThere) {
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

TEST_F(ServerCoreTest, AnswersAreHeldBackUntilTheSlowestIsNear) {
  options.trainers = 3;
  const auto policy = createBoundedStaleness(1);
  core();
  application->policy = policy.get();
  joinAll();
  // Nobody has ended a step: keys are answered at once, and one step ahead.
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
  // The answer has the state of the moment at which it is given.
  EXPECT_TRUE(exchange(2, 1, "d").came());
  EXPECT_EQ(held.text(), "0 reads d");
  EXPECT_EQ(core().waitingFor(), "");
  // Who has no step left holds nobody back.
  const Reply again = exchange(0, 4, "e");
  EXPECT_FALSE(again.came());
  EXPECT_TRUE(exchange(1, 2, "f.").came());
  EXPECT_FALSE(again.came());
  EXPECT_TRUE(exchange(2, 2, "keys.").came());
  EXPECT_TRUE(again.came());
  EXPECT_TRUE(exchange(0, 5, "g").came());
  // Behind a meeting steps are counted anew, and a trainer that has not come is
  // the slowest.
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

// As with a checkpoint in the middle of an epoch, behind uneven data.
TEST_F(ServerCoreTest, NobodyIsHeldBackForATrainerThatWaitsForSums) {
  options.trainers = 2;
  const auto policy = createBoundedStaleness(0);
  core();
  application->policy = policy.get();
  joinAll();
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
  // They begin anew.
  EXPECT_FALSE(exchange(0, 5, "c").came());
}

TEST_F(ServerCoreTest, AQuorumEndsARound) {
  options.trainers = 3;
  for (const LateGradients late : {LateGradients::Count, LateGradients::Drop}) {
    const auto policy = createQuorum(2, late);
    server.reset();
    core();
    application->policy = policy.get();
    joinAll();
    const Reply first = exchange(2, 1, "a");
    EXPECT_FALSE(first.came());
    EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ba");
    EXPECT_EQ(first.text(), "2 reads ba");
    // It is answered at once, and in time from then on.
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
    // One without data lowers the quorum.
    EXPECT_EQ(exchange(2, 2, "keys.").text(), "2 reads keys.");
    EXPECT_TRUE(exchange(0, 3, "f").came());
    EXPECT_THAT(application->calls.back(), "close-exchange");
    // What is late behind the last step counts before the sums.
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

TEST_F(ServerCoreTest, LateGradientsCountBeforeAllMeet) {
  options.trainers = 2;
  const auto policy = createQuorum(1, LateGradients::Count);
  core();
  application->policy = policy.get();
  joinAll();
  EXPECT_TRUE(exchange(0, 1, "a.").came());
  EXPECT_TRUE(exchange(1, 1, "b.").came());
  // Nobody else can join them.
  EXPECT_THAT(application->calls, ElementsAre("take0", "close-exchange",
                                              "late1", "close-exchange"));
}

TEST_F(ServerCoreTest, CopiesAreAnsweredAndCountOnce) {
  core();
  joinAll();
  const Reply one = exchange(0, 1, "a");
  const Reply two = exchange(0, 1, "a");
  const Reply other = exchange(1, 1, "b");
  EXPECT_EQ(one.text(), "0 reads ab");
  EXPECT_EQ(two.text(), "0 reads ab");
  EXPECT_EQ(exchange(0, 1, "a").text(), "0 reads ab");
  exchange(0, 2, "c");
  // Of an answered request before the last one: nothing at all.
  EXPECT_FALSE(exchange(0, 1, "a").came());
  EXPECT_EQ(exchange(1, 2, "d").text(), "1 reads cd");
  EXPECT_EQ(application->rounds, 2);
}

/// Calls back when its request is let go.
class CallingSink final : public Responder::Sink {
public:
  explicit CallingSink(std::function<void()> onEnd) : then(std::move(onEnd)) {}
  ~CallingSink() override { then(); }
  void answer(Message) override {}

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

TEST_F(ServerCoreTest, WhatFormsNoRoundIsAnsweredAtOnce) {
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
  // Rounds are the whole trainer's.
  EXPECT_THAT(send({MessageKind::Exchange, 1, 2, 1, 2, 0}).text(),
              HasSubstr("one is due for the whole trainer"));
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
  EXPECT_THAT(refusal({MessageKind::Answer, 0, 0, 1, 1, 0}),
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
  EXPECT_TRUE(core().allTold());
}

TEST_F(ServerCoreTest, AHandshakeThatFailsLetsNobodyIn) {
  core();
  EXPECT_EQ(send({MessageKind::Join, 0, 0, 9, 0, 0}, "bad").text(),
            "model A is not model B");
  EXPECT_THAT(exchange(0, 1, "a", 9).text(), HasSubstr("has not joined"));
  // It has fenced nobody.
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

TEST_F(ServerCoreTest, TheApplicationHoldsNoBeatUp) {
  core();
  joinAll();
  const Reply first = exchange(0, 1, "a");
  std::string beatText = "nothing";
  bool copyCame = true;
  // Another thread, while the application works: it would wait for ever.
  application->whileClosing = [&] {
    std::thread([&] {
      beatText = beat(0).sign().sentence;
      copyCame = exchange(0, 1, "a").came();
    }).join();
  };
  exchange(1, 1, "b");
  EXPECT_EQ(beatText, "");
  EXPECT_FALSE(copyCame);
  EXPECT_EQ(first.text(), "0 reads ab");
}

/// Keeps tasks until it is told to run them.
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

// An application that works for longer than any limit: nobody is lost.
TEST_F(ServerCoreTest, LifeSignsNeverWaitForWork) {
  LateExecutor executor;
  application = std::make_unique<RecordingApplication>(options.trainers);
  server = std::make_unique<ServerCore>(options, clock, executor);
  server->open(*application);
  const Reply joins[] = {join(0), join(1)};
  EXPECT_FALSE(joins[0].came());
  // A copy hears that its join has come.
  EXPECT_EQ(join(0).kind(), MessageKind::Wait);
  executor.runAll();
  EXPECT_EQ(joins[0].text(), "welcome");
  const Reply first = exchange(0, 1, "a"), second = exchange(1, 1, "b");
  for (int second = 0; second < 60; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(beat(0).kind(), MessageKind::Answer);
    EXPECT_EQ(beat(1).kind(), MessageKind::Answer);
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

// Whoever reaches the port, with any number of names.
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
    // A copy is kept in no case.
    EXPECT_EQ(ask(0, stranger, id % 2 * id).kind(), MessageKind::Wait);
  }
  EXPECT_GT(kept, 0);
  EXPECT_LE(kept, 1026);
  executor.runAll();
  const Reply later = join(1, 10000);
  executor.runAll();
  EXPECT_EQ(later.text(), "welcome");
}

TEST_F(ServerCoreTest, WhoJoinsWhileTheStateIsLoadedIsToldSo) {
  LateExecutor executor;
  server = std::make_unique<ServerCore>(options, clock, executor);
  core().setProgress("loading saved/step-7");
  for (int minute = 0; minute < 20; ++minute) {
    advance(Seconds(60));
    const Reply early = join(0);
    EXPECT_EQ(early.kind(), MessageKind::Wait);
    EXPECT_EQ(early.sign().sentence, "loading saved/step-7");
    EXPECT_EQ(early.sign().process, ProcessIdentity::ofThisProcess());
  }
  // The time to join begins now.
  application = std::make_unique<RecordingApplication>(options.trainers);
  core().open(*application);
  advance(Seconds(60));
  EXPECT_EQ(core().status().state, JobState::Running);
  const Reply joined = join(0);
  executor.runAll();
  EXPECT_EQ(joined.text(), "welcome");
}

TEST_F(ServerCoreTest, WhoJoinsWhereTheStateCannotBeLoadedIsToldWhy) {
  InlineExecutor executor;
  server = std::make_unique<ServerCore>(options, clock, executor);
  core().fail("server 0: saved/step-7 is damaged");
  EXPECT_EQ(join(0).text(), "server 0: saved/step-7 is damaged");
  EXPECT_EQ(join(1).text(), "server 0: saved/step-7 is damaged");
  EXPECT_FALSE(core().allTold());
  advance(Seconds(5));
  EXPECT_TRUE(core().allTold());
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

TEST_F(ServerCoreTest, ASecondProcessOfARankIsRefusedUnderAbort) {
  core();
  joinAll();
  EXPECT_EQ(
      join(1, 2).text(),
      "a second start of trainer 1 is refused: the earlier one joined 0 s "
      "ago and was heard of 0 s ago; does a second process run as rank "
      "1, or another job at these addresses? A trainer that died cannot "
      "come back under --on-failure=abort");
  EXPECT_EQ(join(1, 0).text(),
            "a start of trainer 1 is refused: a later one has joined; does a "
            "second process run as rank 1?");
  // The first one goes on.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
}

TEST_F(ServerCoreTest, ANewStartGoesOnUnderWait) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  const Reply old = exchange(1, 2, "d");
  leave(1, "killed");
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(), "waiting for the exchange of trainer 0 (0 s; "
                                 "trainer 1 failed: killed)");

  const Reply joined = join(1, 5);
  EXPECT_EQ(joined.head().sequence, 3u);
  EXPECT_THAT(old.text(), HasSubstr("start 1 of trainer 1 is over"));
  // The head says which start took its place.
  EXPECT_EQ(old.head().incarnation, 5u);
  EXPECT_EQ(beat(1).head().incarnation, 5u);
  EXPECT_THAT(exchange(1, 2, "d").text(), HasSubstr("start 1 of trainer 1"));
  EXPECT_THAT(leave(1, "late").text(), HasSubstr("start 1 of trainer 1"));
  // It asks for what it had, and sends again what is in the round.
  EXPECT_EQ(exchange(1, 1, "", 5).text(), "1 reads ab");
  const Reply again = exchange(1, 2, "d", 5);
  EXPECT_FALSE(again.came());
  exchange(0, 2, "c");
  EXPECT_EQ(again.text(), "1 reads cd");
  EXPECT_EQ(again.head().incarnation, 5u);
  EXPECT_EQ(application->rounds, 2);
}

//===----------------------------------------------------------------------===//
// Starts that have no number yet
//===----------------------------------------------------------------------===//

constexpr auto judged = StartSign::Claim::Judged;

TEST_F(ServerCoreTest, AGreetingChangesNothing) {
  options.firstIncarnation = 70;
  core();
  const Reply greeted = ask(0, {1, judged});
  EXPECT_EQ(greeted.kind(), MessageKind::Answer);
  EXPECT_EQ(greeted.head(), (Envelope{MessageKind::Answer, 0, 0, 0, 70, 0}));
  EXPECT_THAT(application->calls, IsEmpty());
  EXPECT_THAT(exchange(0, 1, "a", 70).text(), HasSubstr("has not joined"));
  EXPECT_EQ(ask(0, {1, judged}, 0, "bad").text(), "model A is not model B");
  EXPECT_EQ(ask(0, {1, judged}, 70).text(), "welcome");
  EXPECT_EQ(ask(0, {2, judged}).kind(), MessageKind::Refusal);
}

// Others may take their time to load.
TEST_F(ServerCoreTest, WhoGreetsIsNotLate) {
  options.joinLimit = Seconds(60);
  options.trainers = 1;
  core();
  for (int minute = 0; minute < 30; ++minute) {
    advance(Seconds(50));
    ASSERT_EQ(ask(0, {1, judged}).kind(), MessageKind::Answer);
  }
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(62));
  EXPECT_THAT(core().status().sentence, HasSubstr("did not join"));
}

TEST_F(ServerCoreTest, ASecondStartIsRefusedWhileTheFirstBeats) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  advance(Seconds(20));
  beat(1);
  Reply second;
  for (int turn = 0; turn < 4; ++turn) {
    second = ask(1, {2, judged});
    EXPECT_EQ(second.kind(), MessageKind::Wait);
    EXPECT_THAT(second.sign().sentence,
                HasSubstr("whether the earlier start of trainer 1 lives"));
    advance(Seconds(1));
    beat(1);
  }
  second = ask(1, {2, judged});
  EXPECT_EQ(second.text(),
            "a second start of trainer 1 is refused: the earlier one joined 24 "
            "s ago and was heard of 0 s ago; end that process first, or give "
            "this job addresses of its own");
  // It goes on.
  exchange(0, 1, "a");
  EXPECT_EQ(exchange(1, 1, "b").text(), "1 reads ab");
}

TEST_F(ServerCoreTest, ASecondStartIsLetInAfterASilence) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  // What was on its way when its sender died is no sign of life.
  ask(1, {2, judged});
  advance(Seconds(2));
  beat(1);
  for (int second = 0; second < 10; ++second) {
    advance(Seconds(1));
    EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Wait);
    EXPECT_EQ(ask(1, {2, judged}, 2).kind(), MessageKind::Wait);
  }
  advance(Seconds(3));
  EXPECT_EQ(ask(1, {2, judged}).head().sequence, 2u);
  // To ask is not to take.
  EXPECT_EQ(beat(1).kind(), MessageKind::Answer);
  EXPECT_EQ(ask(1, {2, judged}, 2).kind(), MessageKind::Refusal);
  advance(Seconds(13));
  EXPECT_EQ(ask(1, {2, judged}, 2).text(), "welcome");
  EXPECT_THAT(beat(1).text(), HasSubstr("start 1 of trainer 1 is over"));
  EXPECT_EQ(beat(1, 2).kind(), MessageKind::Answer);
}

TEST_F(ServerCoreTest, OfTwoStartsThatComeAtOnceOneIsLetIn) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "killed");
  EXPECT_EQ(ask(1, {2, judged}).head().sequence, 2u);
  EXPECT_EQ(ask(1, {3, judged}).head().sequence, 2u);
  EXPECT_EQ(ask(1, {3, judged}, 2).text(), "welcome");
  // A copy of its join, and the join of the other one.
  EXPECT_EQ(ask(1, {3, judged}, 2).text(), "welcome");
  EXPECT_THAT(ask(1, {2, judged}, 2).text(),
              HasSubstr("a later one has joined"));
  // What the first server has decided holds at others.
  EXPECT_EQ(ask(1, {4, StartSign::Claim::Decided}, 3).text(), "welcome");
}

TEST_F(ServerCoreTest, AStartThatTakesNobodysPlace) {
  options.onFailure = FailurePolicy::Wait;
  core();
  const StartSign brief = {2, StartSign::Claim::OnlyIfFirst};
  EXPECT_EQ(ask(1, brief).kind(), MessageKind::Answer);
  joinAll();
  advance(Seconds(60));
  EXPECT_EQ(ask(1, brief).text(), "a start of trainer 1 has joined before");
  leave(1, "killed");
  EXPECT_EQ(ask(1, brief, 2).kind(), MessageKind::Refusal);
}

TEST_F(ServerCoreTest, AProcessOfThisHostThatLivesIsNotReplaced) {
  options.onFailure = FailurePolicy::Wait;
  core();
  const IdleProcess process;
  ASSERT_EQ(join(0).text(), "welcome");
  ASSERT_EQ(ask(1, {1, judged, process.identity()}, 1).text(), "welcome");
  const Reply second = ask(1, {2, judged, ProcessIdentity::ofThisProcess()});
  EXPECT_THAT(second.text(),
              HasSubstr("the earlier one, process " +
                        std::to_string(process.identity().number) +
                        " of the server's host, joined"));
  process.end();
  EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Answer);
  EXPECT_EQ(ask(1, {2, judged}, 2).text(), "welcome");
}

//===----------------------------------------------------------------------===//
// What is held of whom
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
        MessageKind::Beat, MessageKind::Ask}) {
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
  for (const MessageKind kind : {MessageKind::Beat, MessageKind::Leave}) {
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

TEST_F(ServerCoreTest, AnAskGetsTheAnswerOfWhatHasCome) {
  core();
  joinAll();
  const Envelope ask = {MessageKind::Ask, 0, 0, 1, 1, 0};
  // It counts for nothing.
  EXPECT_EQ(send(ask).kind(), MessageKind::Wait);
  EXPECT_EQ(send(ask).kind(), MessageKind::Wait);
  const Reply first = exchange(0, 1, "a");
  const Reply asked = send(ask);
  EXPECT_FALSE(asked.came());
  exchange(1, 1, "b");
  EXPECT_EQ(first.text(), "0 reads ab");
  EXPECT_EQ(asked.text(), "0 reads ab");
  EXPECT_EQ(asked.kind(), MessageKind::Answer);
  EXPECT_EQ(send(ask).text(), "0 reads ab");
  EXPECT_EQ(application->rounds, 1);
  EXPECT_EQ(send({MessageKind::Ask, 0, 0, 1, 2, 0}).kind(), MessageKind::Wait);
  EXPECT_THAT(send({MessageKind::Ask, 0, 0, 1, 3, 0}).text(),
              HasSubstr("out of turn"));
}

TEST_F(ServerCoreTest, WithoutMemoryTheJobFailsWithOneSentence) {
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

// Who waits for what cannot come would wait for ever.
TEST_F(ServerCoreTest, ANewStartThatCannotGoOnFailsTheJob) {
  options.onFailure = FailurePolicy::Wait;
  options.newStartsGoOn = false;
  core();
  joinAll();
  // Before it has sent anything, a new start is as good as the first.
  join(1, 4);
  EXPECT_EQ(core().status().state, JobState::Running);
  exchange(0, 1, "a");
  exchange(1, 1, "b", 4);
  const Reply open = exchange(0, 2, "c");
  EXPECT_THAT(join(1, 5).text(), HasSubstr("trainer 1 was started anew"));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(open.text(), HasSubstr("start all again, with --resume"));
}

// All servers are greeted; the first one alone would be joined.
TEST_F(ServerCoreTest, AGreetingOfOneThatCannotGoOnFailsTheJob) {
  options.onFailure = FailurePolicy::Wait;
  options.newStartsGoOn = false;
  core();
  for (const uint32_t rank : {0, 1})
    EXPECT_EQ(ask(rank, {rank + 1, judged}, 1).text(), "welcome");
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  leave(0);
  // Who is done cannot come back; nor is anybody waited for there.
  EXPECT_EQ(ask(0, {7, judged}).kind(), MessageKind::Answer);
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(20));
  EXPECT_THAT(ask(1, {8, judged}).text(),
              HasSubstr("trainer 1 was started anew"));
  EXPECT_EQ(core().status().state, JobState::Failed);
}

TEST_F(ServerCoreTest, WhoFailedAndCannotGoOnIsNotWaitedFor) {
  options.onFailure = FailurePolicy::Wait;
  options.newStartsGoOn = false;
  core();
  joinAll();
  // It has sent nothing: the next start of it is as good.
  leave(1, "no data");
  EXPECT_EQ(core().status().state, JobState::Running);
  join(1, 4);
  exchange(1, 1, "b", 4);
  // A silence may end.
  advance(Seconds(60));
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(1, "the disk is full", 4);
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().sentence, "trainer 1 failed: the disk is full");

  server.reset();
  core();
  IdleProcess process;
  ask(0, {1, judged, process.identity()}, 1);
  join(1);
  exchange(0, 1, "a");
  process.end();
  advance(Seconds(1));
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_THAT(core().status().sentence,
              AllOf(HasSubstr("trainer 0 has died"),
                    HasSubstr("start all again, with --resume")));
}

// Its programs may be of another version; strangers come too.
TEST_F(ServerCoreTest, WhoIsRefusedIsWaitedForForAMinute) {
  for (const FailurePolicy policy :
       {FailurePolicy::Abort, FailurePolicy::Wait}) {
    options.onFailure = policy;
    server.reset();
    core();
    ask(0, {1, judged}, 0, "bad");
    advance(Seconds(70));
    EXPECT_EQ(core().status().state, JobState::Running) << "of no job";
    application->guessesRefused = true;
    ask(0, {2, judged}, 0, "bad");
    ask(1, {3, judged}, 0, "bad");
    EXPECT_THAT(core().waitingFor(),
                HasSubstr("a start of trainer 0 was refused: model A is not"));
    advance(Seconds(59));
    EXPECT_EQ(core().status().state, JobState::Running);
    // The right one.
    ask(0, {4, judged});
    ask(1, {5, judged});
    advance(Seconds(70));
    EXPECT_EQ(core().status().state, JobState::Running);
    ask(0, {6, judged}, 0, "bad");
    ask(1, {7, judged}, 0, "bad");
    advance(Seconds(62));
    EXPECT_EQ(core().status().state, JobState::Failed);
    EXPECT_EQ(core().status().sentence,
              "trainer 0 was refused, and no other start of it has come since: "
              "model A is not model B");
  }
}

TEST_F(ServerCoreTest, AServerThatNobodyHasJoinedGoesUnderWaitToo) {
  options.onFailure = FailurePolicy::Wait;
  core();
  advance(options.joinLimit - Seconds(1));
  EXPECT_EQ(core().status().state, JobState::Running);
  advance(Seconds(2));
  EXPECT_THAT(core().status().sentence, HasSubstr("trainer 0 did not join"));
  server.reset();
  core();
  join(1);
  advance(2 * options.joinLimit);
  EXPECT_EQ(core().status().state, JobState::Running);
}

// Whom nobody asks any more it need not tell.
TEST_F(ServerCoreTest, AStartThatHasDiedNeedsNoAnswer) {
  core();
  IdleProcess process;
  ask(1, {1, judged, process.identity()});
  join(0);
  leave(0, "no data");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_FALSE(core().allTold());
  process.end();
  EXPECT_TRUE(core().allTold());
}

TEST_F(ServerCoreTest, ATrainerThatDiedAmongItsLeavesComesBackUnderWait) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  exchange(0, 1, "a");
  exchange(1, 1, "b");
  leave(1);
  // A late copy of its join changes nothing.
  EXPECT_EQ(join(1).text(), "welcome");
  EXPECT_EQ(exchange(1, 2, "c").text(), "trainer 1 has left this job");
  EXPECT_EQ(join(1, 2).head().sequence, 2u);
  leave(0);
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(1, "", 2);
  EXPECT_EQ(core().status().state, JobState::Finished);
}

TEST_F(ServerCoreTest, ANewStartGetsTheNotesOfTheEarlierOne) {
  options.onFailure = FailurePolicy::Wait;
  options.trainers = 1;
  core();
  joinAll();
  for (const uint64_t sequence : {1, 2, 3}) {
    const Reply reply;
    core().handle(
        joinFrame({MessageKind::Exchange, 0, 0, 1, sequence, 0},
                  Message::ofString("a"),
                  Message::ofString("note " + std::to_string(sequence))),
        reply.responder());
    EXPECT_EQ(reply.text(), "0 reads a");
  }
  const auto said = decodeJoinAnswer(join(0, 2).note());
  ASSERT_TRUE(said.ok());
  ASSERT_EQ(said->notes.size(), options.keptAnswers);
  EXPECT_EQ(said->notes.back().sequence, 3u);
  EXPECT_EQ(said->notes.back().note.toString(), "note 3");
}

TEST_F(ServerCoreTest, WhereAllHaveFailedNobodyIsWaitedFor) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "server 3 is lost");
  EXPECT_EQ(core().status().state, JobState::Running);
  leave(0, "server 3 is gone");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().sentence, "trainer 0 failed: server 3 is gone");
}

// Such as with another --on-failure.
TEST_F(ServerCoreTest, WhoIsRefusedIsWaitedForUnlessAllAre) {
  options.onFailure = FailurePolicy::Wait;
  core();
  application->knowsRefused = true;
  EXPECT_EQ(ask(1, {1, judged}, 0, "bad").text(), "model A is not model B");
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(),
            "waiting for trainers 0 and 1 to join (0 s; trainer 1 was refused: "
            "model A is not model B)");
  // A better start of it.
  EXPECT_EQ(ask(1, {2, judged}).kind(), MessageKind::Answer);
  ask(0, {3, judged}, 0, "bad");
  EXPECT_EQ(core().status().state, JobState::Running);
  ask(1, {4, judged}, 0, "bad");
  EXPECT_EQ(core().status().state, JobState::Failed);
  EXPECT_EQ(core().status().sentence,
            "trainer 1 was refused: model A is not model B");
}

TEST_F(ServerCoreTest, AFailedTrainerIsWaitedForWhereOthersAreDone) {
  options.onFailure = FailurePolicy::Wait;
  core();
  joinAll();
  leave(1, "killed");
  leave(0);
  EXPECT_EQ(core().status().state, JobState::Running);
  EXPECT_EQ(core().waitingFor(), "waiting: trainer 1 failed: killed");
  join(1, 2);
  leave(1, "", 2);
  EXPECT_EQ(core().status().state, JobState::Finished);
}

TEST_F(ServerCoreTest, AServerGivesUpByItself) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  core().fail("server 0 was told to stop");
  EXPECT_EQ(open.text(), "server 0 was told to stop");
  EXPECT_FALSE(core().allTold());
  EXPECT_EQ(beat(1).text(), "server 0 was told to stop");
  EXPECT_FALSE(core().allTold());
  leave(0);
  leave(1);
  EXPECT_TRUE(core().allTold());
}

TEST_F(ServerCoreTest, TheEndLetsOpenRequestsGo) {
  core();
  joinAll();
  const Reply open = exchange(0, 1, "a");
  server.reset();
  EXPECT_FALSE(open.came());
  // Timers that are left hurt nobody.
  advance(Seconds(60));
}

} // namespace
