//===- ServerSessionTest.cpp - Joins, retries and heartbeats --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"
#include "Support/IdleProcess.h"
#include "Support/RecordingApplication.h"
#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Protocol/JoinResponse.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Testing/Simulator/WrappingTransport.h"
#include "pdlrt/Transport/Frame.h"

#include <gmock/gmock.h>

#include <optional>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

TEST_F(ServerSessionTest, RequestsAreNumbered) {
  listen(echo());
  EXPECT_EQ(session().name(), "server server-7");
  Probe joined;
  session().join(Message::ofString("hello"), joined.done());
  EXPECT_EQ(joined.ends, 0);
  advance(Milliseconds(1));
  EXPECT_EQ(joined.text, "re hello");
  for (const char *text : {"a", "b"}) {
    Probe probe;
    session().send(MessageKind::Exchange, Message::ofString(text),
                   probe.done());
    advance(Milliseconds(1));
    EXPECT_EQ(probe.text, std::string("re ") + text);
    EXPECT_EQ(probe.ends, 1);
  }
  EXPECT_THAT(seen,
              ElementsAre(Envelope{MessageKind::Join, 3, 0, 11, 0, 4},
                          Envelope{MessageKind::Exchange, 3, 0, 11, 1, 4},
                          Envelope{MessageKind::Exchange, 3, 0, 11, 2, 4}));
  EXPECT_EQ(session().nextSequence(), 3u);
}

TEST_F(ServerSessionTest, AJoinWaitsForItsServer) {
  Probe probe;
  session().join({}, probe.done());
  advance(Seconds(30));
  EXPECT_EQ(probe.ends, 0);
  listen(echo());
  advance(Seconds(1));
  EXPECT_TRUE(probe.ok) << probe.text;
}

TEST_F(ServerSessionTest, AJoinGivesUp) {
  Probe probe;
  session().join({}, probe.done());
  advance(Seconds(59));
  EXPECT_EQ(probe.ends, 0);
  advance(Seconds(2));
  EXPECT_EQ(probe.text, "server server-7 did not respond for 60 s: is it "
                        "started there, and reachable? Servers end with their "
                        "job, so a trainer that is started after it finds "
                        "none");
}

TEST_F(ServerSessionTest, ARetryIsTheSameRequest) {
  int attempts = 0;
  std::vector<std::string> payloads;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange) {
      payloads.push_back(payload);
      if (++attempts < 4)
        return;
    }
    echo()(head, payload, std::move(back));
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("g"), probe.done());
  advance(Milliseconds(10));
  EXPECT_EQ(attempts, 1);
  // The pauses are 20, 40 and 80 ms.
  advance(Milliseconds(15));
  EXPECT_EQ(attempts, 2);
  advance(Milliseconds(40));
  EXPECT_EQ(attempts, 3);
  EXPECT_EQ(probe.ends, 0);
  advance(Milliseconds(80));
  EXPECT_EQ(probe.text, "re g");
  EXPECT_THAT(payloads, ElementsAre("g", "g", "g", "g"));
  for (const Envelope &head : seen)
    EXPECT_EQ(head.sequence, 1u);
}

TEST_F(ServerSessionTest, AnAttemptThatTakesTooLongIsRepeated) {
  std::vector<Responder> held;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange && held.size() < 2)
      held.push_back(std::move(back));
    else
      echo()(head, payload, std::move(back));
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("g"), probe.done());
  advance(Seconds(19));
  EXPECT_EQ(seen.size(), 1u);
  advance(Seconds(2));
  EXPECT_EQ(seen.size(), 2u);
  // The second attempt has twice the time.
  advance(Seconds(38));
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_EQ(probe.ends, 0);
  advance(Seconds(2));
  EXPECT_EQ(probe.text, "re g");
  EXPECT_EQ(seen.size(), 3u);
}

// A round may wait long for others, and the server already has the bytes.
TEST_F(ServerSessionTest, ARequestThatHasComeIsNotSentAgain) {
  std::vector<Responder> held;
  size_t bytes = 0, asks = 0;
  Responder last;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange) {
      bytes += payload.size();
      held.push_back(std::move(back));
    } else {
      echo()(head, payload, std::move(back));
    }
  });
  asked = [&](const Envelope &head, size_t size, Responder back) {
    EXPECT_EQ(head.sequence, 1u);
    bytes += size;
    ++asks;
    last = std::move(back);
  };
  join();
  Probe probe;
  const std::string payload(1 << 20, 'g');
  session().send(MessageKind::Exchange, Message::ofString(payload),
                 probe.done());
  advance(Seconds(3600));
  EXPECT_EQ(probe.ends, 0);
  EXPECT_EQ(held.size(), 1u);
  EXPECT_GE(asks, 5u);
  EXPECT_EQ(bytes, payload.size() + asks * envelopeSize);
  respond(last, {MessageKind::Exchange, 3, 0, 11, 1, 4}, MessageKind::Response,
          "sums");
  advance(Seconds(1));
  EXPECT_EQ(probe.text, "sums");
}

TEST_F(ServerSessionTest, AGreetingIsRepeatedUntilTheJoin) {
  std::vector<Envelope> greets;
  listen([&](const Envelope &head, const std::string &, Responder back) {
    Envelope response = head;
    response.kind = MessageKind::Response;
    if (head.kind == MessageKind::Greet) {
      greets.push_back(head);
      response.sequence = 77;
    } else if (head.kind == MessageKind::Join) {
      response.sequence = 1;
    }
    back.respond(joinFrame(response, Message::ofString("welcome")));
  });
  auto created = createServerSession(*transport, "server-7", {3, 0, 0, 4},
                                     options, events);
  ASSERT_TRUE(created.ok());
  client = std::move(*created);
  Probe greeted, joined;
  session().greet(Message::ofString("hello"), greeted.done());
  advance(Seconds(5));
  EXPECT_EQ(greeted.text, "welcome");
  EXPECT_EQ(session().proposedIncarnation(), 77u);
  EXPECT_GE(greets.size(), 5u);
  EXPECT_EQ(greets[0], (Envelope{MessageKind::Greet, 3, 0, 0, 0, 4}));
  session().becomeStart(77, StartSign::Claim::Judged);
  session().join(Message::ofString("hello"), joined.done());
  advance(Milliseconds(1));
  EXPECT_TRUE(joined.ok) << joined.text;
  const size_t before = greets.size();
  advance(Seconds(5));
  EXPECT_EQ(greets.size(), before);
}

TEST_F(ServerSessionTest, AnotherRequestsResponseIsNoResponse) {
  int attempts = 0;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    Envelope changed = head;
    if (head.kind == MessageKind::Exchange)
      switch (++attempts) {
      case 1:
        changed.sequence = 9;
        break;
      case 2:
        changed.trainer = 2;
        break;
      case 3:
        changed.incarnation = 10;
        break;
      default:
        break;
      }
    respond(back, changed, MessageKind::Response, payload);
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("g"), probe.done());
  advance(Seconds(1));
  EXPECT_EQ(attempts, 4);
  EXPECT_EQ(probe.text, "g");
}

TEST_F(ServerSessionTest, ARefusalIsFinal) {
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange)
      respond(back, head, MessageKind::Refusal, "trainer 1 failed: no data");
    else
      echo()(head, payload, std::move(back));
  });
  join();
  for (int i = 0; i < 2; ++i) {
    Probe probe;
    session().send(MessageKind::Exchange, {}, probe.done());
    EXPECT_EQ(probe.ends, 0);
    advance(Seconds(1));
    EXPECT_EQ(probe.text, "server server-7 refuses: trainer 1 failed: no data");
    EXPECT_EQ(probe.ends, 1);
  }
  EXPECT_EQ(seen.size(), 1u);
  // A Leave is still allowed.
  Probe probe;
  session().send(MessageKind::Leave, {}, probe.done());
  advance(Seconds(1));
  EXPECT_TRUE(probe.ok);
}

TEST_F(ServerSessionTest, ForeignResponsesAreErrors) {
  listen([](const Envelope &, const std::string &, Responder back) {
    back.respond(Message::ofString("HTTP/1.1 400 Bad Request"));
  });
  Probe probe;
  session().join({}, probe.done());
  advance(Seconds(1));
  EXPECT_THAT(probe.text, HasSubstr("server server-7: message of 24 bytes"));
}

TEST_F(ServerSessionTest, BeatsSayWhoIsWaitedFor) {
  int beats = 0;
  listen([&](const Envelope &head, const std::string &, Responder back) {
    if (head.kind == MessageKind::Heartbeat) {
      EXPECT_EQ(head, (Envelope{MessageKind::Heartbeat, 3, 0, 11, 0, 4}));
      ++beats;
    }
    respond(back, head, MessageKind::Response,
            encodeHeartbeat({false, "waiting for trainer 1"}).toString());
  });
  join();
  EXPECT_EQ(session().waitingFor(), "");
  advance(Seconds(10));
  EXPECT_EQ(beats, 10);
  EXPECT_EQ(session().waitingFor(), "waiting for trainer 1");
  client.reset();
  advance(Seconds(10));
  EXPECT_EQ(beats, 10);
}

TEST(JoinResponseTest, GoesThereAndBack) {
  const JoinResponse all = {
      {7, 8, 9}, 5, true, {{3, Message::ofString("a note")}}};
  const std::string bytes = encodeJoinResponse(all).toString();
  const auto read = decodeJoinResponse(Message::ofString(bytes));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->process, all.process);
  EXPECT_EQ(read->job, 5u);
  EXPECT_TRUE(read->previousIncarnationIsDone);
  ASSERT_EQ(read->notes.size(), 1u);
  EXPECT_EQ(read->notes[0].sequence, 3u);
  EXPECT_EQ(read->notes[0].note.toString(), "a note");
  EXPECT_EQ(decodeJoinResponse({})->process, ProcessIdentity());
  // A note that ends before the list has no notes.
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_EQ(decodeJoinResponse(Message::ofString(bytes.substr(0, size))).ok(),
              size == 32);
  EXPECT_FALSE(
      decodeJoinResponse(Message::ofString("\x02" + bytes.substr(1))).ok());
}

TEST(HeartbeatTest, ALongMessageIsCutBetweenCharacters) {
  for (const std::string begin : {"", "x"}) {
    std::string message = begin;
    while (message.size() < 70000)
      message += "\u00e4";
    const auto sign = decodeHeartbeat(encodeHeartbeat({true, message}));
    ASSERT_TRUE(sign.ok()) << sign.status().message();
    EXPECT_TRUE(sign->stop);
    const std::string &cut = sign->message;
    EXPECT_GT(cut.size(), 65000u);
    EXPECT_LE(cut.size(), 65536u);
    ASSERT_EQ(cut.substr(cut.size() - 3), "...");
    const std::string kept = cut.substr(0, cut.size() - 3);
    EXPECT_EQ(kept, message.substr(0, kept.size()));
    EXPECT_EQ((kept.size() - begin.size()) % 2, 0u);
  }
  const std::string whole(65536, 'x');
  EXPECT_EQ(decodeHeartbeat(encodeHeartbeat({false, whole}))->message, whole);
}

TEST_F(ServerSessionTest, AServerThatLoadsIsWaitedForWithoutALimit) {
  const ClockTime loaded = std::chrono::minutes(30);
  listen([&](const Envelope &head, const std::string &, Responder back) {
    if (head.kind == MessageKind::Join && clock.now() < loaded) {
      Envelope same = head;
      same.kind = MessageKind::Wait;
      back.respond(joinFrame(same, encodeHeartbeat({false, "loading step-7"})));
    } else {
      respond(back, head, MessageKind::Response, "");
    }
  });
  Probe probe;
  session().join(Message::ofString("hello"), probe.done());
  advance(std::chrono::minutes(29));
  EXPECT_EQ(probe.ends, 0);
  EXPECT_EQ(session().waitingFor(), "loading step-7");
  advance(std::chrono::minutes(2));
  EXPECT_EQ(probe.ends, 1);
  EXPECT_EQ(probe.text, "");
  EXPECT_EQ(session().waitingFor(), "");
}

TEST_F(ServerSessionTest, HeartbeatsCarryAStopRequestBothWays) {
  bool asked = false;
  int told = 0;
  events.wasStopRequested = [&] { return asked; };
  events.onStopRequest = [&] { ++told; };
  bool heard = false, stop = false;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Heartbeat) {
      const auto sign = decodeHeartbeat(Message::ofString(payload));
      ASSERT_TRUE(sign.ok());
      heard = sign->stop;
      respond(back, head, MessageKind::Response,
              encodeHeartbeat({stop, ""}).toString());
    } else {
      respond(back, head, MessageKind::Response, "");
    }
  });
  join();
  advance(Seconds(3));
  EXPECT_FALSE(heard);
  EXPECT_EQ(told, 0);
  asked = true;
  advance(Seconds(2));
  EXPECT_TRUE(heard);
  stop = true;
  advance(Seconds(2));
  EXPECT_GT(told, 0);
}

/// Connection that delivers nothing for some time.
class CutConnection final : public Connection {
public:
  CutConnection(Clock &by, std::unique_ptr<Connection> over, ClockTime from,
                ClockTime to)
      : clock(by), inner(std::move(over)), begin(from), end(to) {}
  void call(Message request, ClockTime deadline, CallDone done) override {
    if (clock.now() < begin || clock.now() >= end)
      inner->call(std::move(request), deadline, std::move(done));
    else
      clock.runAt(deadline, [done = std::move(done)] {
        done({CallOutcome::DeadlineExceeded, {}});
      });
  }

private:
  Clock &clock;
  std::unique_ptr<Connection> inner;
  ClockTime begin, end;
};

/// Network that is cut for some time. Old connections stay silent for as long
/// again, like those of TCP, whose pauses double.
std::unique_ptr<Transport> createCutNetwork(Transport &over, ClockTime begin,
                                            ClockTime end) {
  return createWrappingTransport(over, [&clock = over.clock(), begin,
                                        end](std::unique_ptr<Connection> made) {
    const bool isOld = clock.now() < end;
    return std::make_unique<CutConnection>(clock, std::move(made), begin,
                                           isOld ? 2 * end - begin : begin);
  });
}

TEST_F(ServerSessionTest, ACutThatIsShorterThanTheLimitIsNotFatal) {
  listen(echo());
  for (const int seconds : {9, 11}) {
    const auto network = createCutNetwork(*transport, clock.now() + Seconds(5),
                                          clock.now() + Seconds(5 + seconds));
    auto created = createServerSession(*network, "server-7", {3, 0, 11, 4},
                                       options, events);
    ASSERT_TRUE(created.ok());
    Probe joined, later;
    (*created)->join(Message::ofString("hello"), joined.done());
    advance(Seconds(13));
    EXPECT_EQ((*created)->waitingFor(), "not heard of for 8 s");
    advance(Seconds(17));
    (*created)->send(MessageKind::Exchange, {}, later.done());
    advance(Seconds(20));
    EXPECT_EQ(later.ok, seconds < 10) << later.text;
    created->reset();
  }
}

// Lost or changed bytes can leave both ends in the middle of a message.
TEST_F(ServerSessionTest, AConnectionThatIsStuckIsReplaced) {
  listen(echo());
  for (const int cut : {0, 5}) {
    for (const ClockTime limit : {options.silenceLimit, ClockTime(0)}) {
      const ClockTime begin = clock.now() + Seconds(cut);
      int connections = 0;
      const auto network = createWrappingTransport(
          *transport, [&](std::unique_ptr<Connection> made) {
            return std::make_unique<CutConnection>(
                clock, std::move(made), begin,
                connections++ == 0 ? begin + Seconds(10000) : begin);
          });
      RetryOptions patient = options;
      patient.silenceLimit = limit;
      auto created = createServerSession(*network, "server-7", {3, 0, 11, 4},
                                         patient, events);
      ASSERT_TRUE(created.ok());
      Probe joined, later;
      (*created)->join(Message::ofString("hello"), joined.done());
      // Calls of this connection end at their deadlines.
      advance(Seconds(cut == 0 ? 45 : 7));
      EXPECT_TRUE(joined.ok) << joined.text;
      (*created)->send(MessageKind::Exchange, {}, later.done());
      advance(Seconds(45));
      EXPECT_TRUE(later.ok) << later.text;
      EXPECT_EQ((*created)->failure().message(), "");
      created->reset();
    }
  }
}

TEST_F(ServerSessionTest, ABeatsRefusalEndsTheOpenRequest) {
  bool isOver = false;
  std::vector<Responder> held;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange)
      held.push_back(std::move(back));
    else if (head.kind == MessageKind::Heartbeat && isOver)
      respond(back, head, MessageKind::Refusal, "over");
    else
      echo()(head, payload, std::move(back));
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, {}, probe.done());
  advance(Seconds(5));
  EXPECT_EQ(probe.ends, 0);
  isOver = true;
  advance(Seconds(1));
  EXPECT_EQ(probe.text, "server server-7 refuses: over");
}

TEST_F(ServerSessionTest, ASilentServerIsLost) {
  bool isSilent = false;
  std::vector<Responder> unanswered;
  listen([&, respond = echo()](const Envelope &head, const std::string &payload,
                               Responder back) {
    if (isSilent)
      unanswered.push_back(std::move(back));
    else
      respond(head, payload, std::move(back));
  });
  join();
  advance(Seconds(30));
  isSilent = true;
  Probe probe;
  session().send(MessageKind::Exchange, {}, probe.done());
  advance(Seconds(9));
  EXPECT_EQ(probe.ends, 0);
  advance(Seconds(3));
  EXPECT_THAT(probe.text, HasSubstr("server server-7 was not heard of for 1"));
  EXPECT_EQ(probe.ends, 1);
}

// The death is detected before there is a response to the first heartbeat, even
// without a silence limit.
TEST_F(ServerSessionTest,
       AServerOfThisHostThatDiesIsKnownFromItsFirstResponse) {
  options.silenceLimit = ClockTime(0);
  for (const MessageKind first : {MessageKind::Greet, MessageKind::Join}) {
    const IdleProcess process;
    listen([&](const Envelope &head, const std::string &, Responder back) {
      Envelope response = head;
      response.kind = MessageKind::Response;
      response.sequence = head.kind == MessageKind::Join ? 1 : 77;
      back.respond(
          joinFrame(response, {},
                    encodeJoinResponse({process.identity(), 0, false, {}})));
    });
    client.reset();
    Probe answered, after;
    if (first == MessageKind::Greet)
      session().greet({}, answered.done());
    else
      session().join({}, answered.done());
    advance(Milliseconds(1));
    ASSERT_TRUE(answered.ok) << answered.text;
    process.end();
    listener.reset();
    if (first == MessageKind::Greet)
      session().join({}, after.done());
    else
      session().send(MessageKind::Exchange, {}, after.done());
    advance(Milliseconds(500));
    EXPECT_THAT(after.text, HasSubstr("server server-7 has died"));
  }
}

/// Connection whose calls fail with a given fault while `fails` is true.
class FailingConnection final : public Connection {
public:
  FailingConnection(Clock &by, std::unique_ptr<Connection> over, CallFault why,
                    const bool &when)
      : clock(by), inner(std::move(over)), fault(why), fails(when) {}
  void call(Message request, ClockTime deadline, CallDone done) override {
    if (!fails)
      inner->call(std::move(request), deadline, std::move(done));
    else
      clock.runAt(clock.now(), [fault = fault, done = std::move(done)] {
        done({CallOutcome::Unavailable, {}, fault});
      });
  }

private:
  Clock &clock;
  std::unique_ptr<Connection> inner;
  const CallFault fault;
  const bool &fails;
};

/// `fails` must outlive the network.
std::unique_ptr<Transport>
createFailingNetwork(Transport &over, CallFault fault, const bool &fails) {
  return createWrappingTransport(over, [&clock = over.clock(), fault, &fails](
                                           std::unique_ptr<Connection> made) {
    return std::make_unique<FailingConnection>(clock, std::move(made), fault,
                                               fails);
  });
}

// The host of the server runs: the job has ended, perhaps without this trainer.
TEST_F(ServerSessionTest, AServerThatRefusesConnectionsIsGone) {
  options.silenceLimit = ClockTime(0);
  listen(echo());
  for (const CallFault fault : {CallFault::Refused, CallFault::Unknown}) {
    bool fails = false;
    const auto network = createFailingNetwork(*transport, fault, fails);
    auto created = createServerSession(*network, "server-7", {3, 0, 11, 4},
                                       options, events);
    ASSERT_TRUE(created.ok());
    Probe joined, later;
    (*created)->join(Message::ofString("hello"), joined.done());
    advance(Seconds(3));
    ASSERT_TRUE(joined.ok) << joined.text;
    // A short refusal does not count.
    fails = true;
    (*created)->send(MessageKind::Exchange, {}, later.done());
    advance(Seconds(8));
    fails = false;
    advance(Seconds(3));
    ASSERT_TRUE(later.ok) << later.text;
    fails = true;
    Probe last;
    (*created)->send(MessageKind::Exchange, {}, last.done());
    advance(Seconds(8));
    EXPECT_EQ(last.ends, 0) << last.text;
    advance(Seconds(60));
    EXPECT_EQ(last.ends, fault == CallFault::Refused ? 1 : 0);
    if (fault == CallFault::Refused)
      EXPECT_THAT(last.text, HasSubstr("its address has refused connections"));
    // A request that was open at that time is refused too, and changes nothing.
    EXPECT_EQ((*created)->serverIsLost(), fault == CallFault::Refused);
    created->reset();
  }
}

// Two refusals with a network outage between them are not one long refusal.
TEST_F(ServerSessionTest, RefusalsLongAfterEachOtherAreTwo) {
  options.silenceLimit = ClockTime(0);
  bool isSilent = false;
  std::vector<Responder> unanswered;
  listen([&, respond = echo()](const Envelope &head, const std::string &payload,
                               Responder back) {
    if (isSilent)
      unanswered.push_back(std::move(back));
    else
      respond(head, payload, std::move(back));
  });
  bool fails = false;
  const auto network =
      createFailingNetwork(*transport, CallFault::Refused, fails);
  auto created =
      createServerSession(*network, "server-7", {3, 0, 11, 4}, options, events);
  ASSERT_TRUE(created.ok());
  Probe joined, later;
  (*created)->join(Message::ofString("hello"), joined.done());
  advance(Seconds(3));
  ASSERT_TRUE(joined.ok) << joined.text;
  isSilent = true;
  (*created)->send(MessageKind::Exchange, {}, later.done());
  for (int i = 0; i < 2; ++i) {
    fails = true;
    advance(Seconds(3));
    fails = false;
    advance(Seconds(60));
  }
  EXPECT_EQ(later.ends, 0) << later.text;
  created->reset();
}

TEST_F(ServerSessionTest, TooFewFilesAreNamed) {
  bool fails = false;
  const auto network =
      createFailingNetwork(*transport, CallFault::TooManyFiles, fails);
  fails = true;
  auto created =
      createServerSession(*network, "server-7", {3, 0, 11, 4}, options, events);
  ASSERT_TRUE(created.ok());
  Probe joined;
  (*created)->join(Message::ofString("hello"), joined.done());
  advance(Seconds(1));
  EXPECT_EQ(joined.ends, 1);
  EXPECT_THAT(joined.text, HasSubstr("ulimit -n"));
}

TEST_F(ServerSessionTest, AServerThatIsBackInTimeGoesOn) {
  listen(echo());
  join();
  listener.reset();
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("g"), probe.done());
  advance(Seconds(8));
  listen(echo());
  advance(Seconds(2));
  EXPECT_EQ(probe.text, "re g");
}

TEST_F(ServerSessionTest, MisuseIsAnError) {
  std::vector<Responder> held;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange)
      held.push_back(std::move(back));
    else
      echo()(head, payload, std::move(back));
  });
  Probe early;
  session().send(MessageKind::Exchange, {}, early.done());
  EXPECT_EQ(early.ends, 0);
  advance(Seconds(1));
  EXPECT_THAT(early.text, HasSubstr("exchange is sent before the join"));
  join();
  Probe open;
  Probe second;
  session().send(MessageKind::Exchange, {}, open.done());
  session().send(MessageKind::Exchange, {}, second.done());
  advance(Seconds(1));
  EXPECT_THAT(second.text, HasSubstr("while another request is open"));
  EXPECT_EQ(open.ends, 0);
  // A Leave replaces the open request.
  Probe leave;
  session().send(MessageKind::Leave, Message::ofString("failed"), leave.done());
  EXPECT_EQ(open.ends, 0);
  advance(Seconds(1));
  EXPECT_THAT(open.text, HasSubstr("this trainer has left"));
  EXPECT_EQ(leave.text, "re failed");
  EXPECT_EQ(seen.back().sequence, 0u);
}

TEST_F(ServerSessionTest, TheEndEndsAnOpenRequest) {
  std::vector<Responder> held;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Exchange)
      held.push_back(std::move(back));
    else
      echo()(head, payload, std::move(back));
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, {}, probe.done());
  advance(Seconds(1));
  client.reset();
  EXPECT_EQ(probe.ends, 1);
  EXPECT_THAT(probe.text, HasSubstr("the session ended before the answer"));
  advance(Seconds(60));
  EXPECT_EQ(probe.ends, 1);
}

TEST_F(ServerSessionTest, ACallbackMaySendAndMayEndTheSession) {
  listen(echo());
  join();
  Probe second;
  session().send(MessageKind::Exchange, {}, [&](const Expected<Message> &) {
    session().send(MessageKind::Exchange, Message::ofString("b"),
                   [&](Expected<Message> response) {
                     second.done()(std::move(response));
                     client.reset();
                   });
  });
  advance(Seconds(1));
  EXPECT_EQ(second.text, "re b");
  EXPECT_EQ(client, nullptr);
}

TEST(ServerSessionThreadsTest, EndsWhileItsServerResponds) {
  RealClock clock;
  const auto transport = createInProcessTransport(clock);
  RecordingApplication application(1);
  ServerCore core({}, application, clock);
  const auto listener = transport->listen("s", core.handler());
  ASSERT_TRUE(listener.ok());
  RetryOptions options;
  options.heartbeatInterval = Milliseconds(1);
  for (int run = 0; run < 200; ++run) {
    auto session = createServerSession(*transport, "s", {0, 0, 1, 0}, options);
    ASSERT_TRUE(session.ok());
    std::atomic<int> ends{0};
    (*session)->join({}, [&](const Expected<Message> &) { ++ends; });
    // Half of the sessions end before the response, half after it.
    while (run % 2 > 0 && ends == 0)
      std::this_thread::yield();
    session->reset();
    // In each case the session has ended once, and no callback follows.
    EXPECT_EQ(ends, 1);
  }
}

} // namespace
