//===- SessionPartsTest.cpp - Parts of requests at the sender -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SessionFixture.h"
#include "pdlrt/Testing/Simulator/WrappingTransport.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <new>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

using Milliseconds = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;

TEST_F(ServerSessionTest, PartsAreRepeatedUntilTheyAreThere) {
  int lost = 2;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Part && lost-- > 0)
      return;
    echo()(head, payload, std::move(back));
  });
  join();
  int arrived = 0;
  session().sendPart(0, Message::ofString("abc"), [&] { ++arrived; });
  advance(Milliseconds(1));
  EXPECT_EQ(arrived, 0);
  advance(Seconds(1));
  EXPECT_EQ(arrived, 1);
  ASSERT_EQ(seen.size(), 3u);
  for (const Envelope &head : seen)
    EXPECT_EQ(head, (Envelope{MessageKind::Part, 3, 0, 11, 1, 4}));
  session().placeParts({{0, 0, 0, 3}});
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
  advance(Milliseconds(1));
  EXPECT_EQ(probe.text, "re d");
  EXPECT_EQ(seen.back().sequence, 1u);
  // The part belongs to the next request.
  session().sendPart(0, Message::ofString("e"), {});
  advance(Milliseconds(1));
  EXPECT_EQ(seen.back().sequence, 2u);
}

/// Without this, the bytes of the request could still be read.
TEST_F(ServerSessionTest, ARequestEndsAfterTheCallsOfItsParts) {
  Responder held;
  Envelope heldHead;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Part) {
      held = std::move(back);
      heldHead = head;
      return;
    }
    echo()(head, payload, std::move(back));
  });
  join();
  session().sendPart(0, Message::ofString("abc"), {});
  session().placeParts({{0, 0, 0, 3}});
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
  advance(Milliseconds(100));
  EXPECT_EQ(probe.ends, 0);
  respond(held, heldHead, MessageKind::Response, "");
  advance(Milliseconds(1));
  EXPECT_EQ(probe.ends, 1);
  EXPECT_EQ(probe.text, "re d");
  // A Leave does not wait for parts.
  session().sendPart(0, Message::ofString("abc"), {});
  Probe left;
  session().send(MessageKind::Leave, Message::ofString("failed"), left.done());
  advance(Milliseconds(100));
  EXPECT_EQ(left.text, "re failed");
}

TEST_F(ServerSessionTest, WhoLeavesRepeatsNoParts) {
  listen([](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Join || head.kind == MessageKind::Heartbeat)
      echo()(head, payload, std::move(back));
  });
  join();
  session().sendPart(0, Message::ofString("abc"), {});
  Probe left;
  session().send(MessageKind::Leave, Message::ofString("failed"), left.done());
  advance(Seconds(5));
  EXPECT_EQ(std::ranges::count(seen, MessageKind::Part, &Envelope::kind), 1);
  EXPECT_GT(std::ranges::count(seen, MessageKind::Leave, &Envelope::kind), 1);
  client.reset();
}

namespace {

/// Connection that never ends calls with parts while `takes` returns true. Only
/// the destruction of the connection ends them.
class PartKeeper final : public Connection {
public:
  PartKeeper(std::unique_ptr<Connection> to, std::function<bool()> given,
             int &keptOfAll)
      : inner(std::move(to)), takes(std::move(given)), all(keptOfAll) {}
  ~PartKeeper() override {
    calls.endAll();
    all -= kept;
  }
  void call(Message request, ClockTime deadline, CallDone done) override {
    if (readHead(request)->kind != MessageKind::Part || !takes()) {
      inner->call(std::move(request), deadline, std::move(done));
      return;
    }
    calls.add(std::move(done));
    ++kept;
    ++all;
  }

private:
  const std::unique_ptr<Connection> inner;
  const std::function<bool()> takes;
  int &all;
  int kept = 0;
  WrappedCalls calls;
};

} // namespace

void ServerSessionTest::keepParts(std::function<bool()> takes, int &kept) {
  keeping = createWrappingTransport(
      *transport,
      [takes = std::move(takes), &kept](std::unique_ptr<Connection> inner) {
        return std::make_unique<PartKeeper>(std::move(inner), takes, kept);
      });
}

TEST_F(ServerSessionTest, NothingReadsPartsThatWereDropped) {
  int kept = 0;
  keepParts([] { return true; }, kept);
  listen(echo());
  join();
  for (const uint64_t number : {0, 1})
    session().sendPart(number, Message::ofString("abc"), {});
  advance(Milliseconds(1));
  EXPECT_EQ(kept, 2);
  session().dropParts();
  EXPECT_EQ(kept, 0);
  advance(Seconds(600));
  EXPECT_EQ(kept, 0);
  // Other requests still work.
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
  advance(Milliseconds(1));
  EXPECT_EQ(probe.text, "re d");
  Probe left;
  session().send(MessageKind::Leave, Message::ofString("failed"), left.done());
  advance(Milliseconds(1));
  EXPECT_EQ(left.text, "re failed");
  // Destroyed before the counter of its parts.
  client.reset();
}

/// The session ends also if the part was to be repeated, because the server
/// would wait for it.
TEST_F(ServerSessionTest, APartThatLacksMemoryEndsTheSession) {
  for (const int lost : {0, 1}) {
    int kept = 0, calls = 0;
    keepParts(
        [&] {
          if (calls++ == lost)
            throw std::bad_alloc();
          return false;
        },
        kept);
    listen(
        [](const Envelope &head, const std::string &payload, Responder back) {
          if (head.kind == MessageKind::Join)
            echo()(head, payload, std::move(back));
        });
    join();
    session().sendPart(0, Message::ofString("abc"), {});
    session().placeParts({{0, 0, 0, 3}});
    Probe probe;
    session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
    advance(Seconds(1));
    EXPECT_EQ(probe.ends, 1);
    EXPECT_THAT(probe.text, HasSubstr("out of memory"));
    EXPECT_EQ(session().failure().code(), PDL_OUT_OF_MEMORY);
    // No call stays counted, so nothing waits.
    session().dropParts();
    client.reset();
    listener.reset();
  }
}

TEST_F(ServerSessionTest, APartAfterItsRequestEndsTheSession) {
  listen([](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind != MessageKind::Exchange)
      echo()(head, payload, std::move(back));
  });
  join();
  Probe probe;
  session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
  session().sendPart(0, Message::ofString("abc"), {});
  advance(Milliseconds(1));
  EXPECT_EQ(probe.ends, 1);
  EXPECT_THAT(probe.text,
              HasSubstr("a part of a request is sent while a request is open"));
}

TEST_F(ServerSessionTest, APartArrivesBeforeItsRequestEnds) {
  std::vector<Responder> held;
  std::vector<Envelope> heads;
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Part) {
      held.push_back(std::move(back));
      heads.push_back(head);
      return;
    }
    echo()(head, payload, std::move(back));
  });
  join();
  std::string order;
  session().sendPart(0, Message::ofString("abc"), [&] { order += "arrived "; });
  session().placeParts({{0, 0, 0, 3}});
  session().send(MessageKind::Exchange, Message::ofString("d"),
                 [&](Expected<Message>) { order += "ended"; });
  advance(Milliseconds(1));
  ASSERT_EQ(held.size(), 1u);
  respond(held.front(), heads.front(), MessageKind::Response, "");
  advance(Milliseconds(1));
  EXPECT_EQ(order, "arrived ended");
}

TEST_F(ServerSessionTest, ARefusedPartEndsItsRequest) {
  listen([&](const Envelope &head, const std::string &payload, Responder back) {
    if (head.kind == MessageKind::Part)
      respond(back, head, MessageKind::Refusal, "too many bytes");
    else if (head.kind != MessageKind::Exchange)
      echo()(head, payload, std::move(back));
  });
  join();
  session().sendPart(0, Message::ofString("abc"), {});
  Probe probe;
  session().placeParts({{0, 0, 0, 3}});
  session().send(MessageKind::Exchange, Message::ofString("d"), probe.done());
  advance(Milliseconds(1));
  EXPECT_EQ(probe.ends, 1);
  EXPECT_EQ(probe.text, "server server-7 refuses: too many bytes");
  EXPECT_FALSE(session().failure().ok());
}
