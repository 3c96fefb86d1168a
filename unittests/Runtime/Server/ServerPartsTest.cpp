//===- ServerPartsTest.cpp - Exchanges that are sent in parts -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"

#include <gmock/gmock.h>

#include <memory>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

TEST_F(ServerCoreTest, PartsBelongToTheNextExchange) {
  options.trainers = 1;
  options.maxPartBytes = 100;
  core();
  joinAll();
  for (const auto &[number, bytes] :
       {std::pair(1, "c"), {0, "ab"}, {0, "ab"}}) {
    const Reply arrived = part(0, 1, number, bytes);
    EXPECT_EQ(arrived.kind(), MessageKind::Response);
    EXPECT_EQ(arrived.text(), "");
  }
  EXPECT_THAT(application->calls, IsEmpty());
  const Reply whole = exchangeInParts(0, 1, "()", {{1, 0, 0, 2}, {1, 1, 0, 1}});
  EXPECT_EQ(whole.text(), "0 reads (abc)");
  // A late copy changes nothing, even if the request is repeated.
  EXPECT_EQ(part(0, 1, 0, "ab").kind(), MessageKind::Response);
  EXPECT_EQ(exchangeInParts(0, 1, "()", {{1, 0, 0, 2}, {1, 1, 0, 1}}).text(),
            "0 reads (abc)");
  EXPECT_EQ(exchange(0, 2, "d").text(), "0 reads d");
}

TEST_F(ServerCoreTest, AnExchangeWaitsForItsParts) {
  options.maxPartBytes = 100;
  core();
  joinAll();
  const std::vector<PartPlace> places = {{0, 0, 0, 1}, {1, 1, 0, 1}};
  const Reply first = exchangeInParts(0, 1, "-", places);
  // The request counts as not arrived, and is repeated.
  EXPECT_EQ(send({MessageKind::Poll, 0, 0, 1, 1, 0}).kind(), MessageKind::Wait);
  const Reply again = exchangeInParts(0, 1, "-", places);
  const Reply other = exchange(1, 1, "c");
  part(0, 1, 1, "b");
  EXPECT_EQ(beat(0).kind(), MessageKind::Response);
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
  options.maxPartBytes = 4;
  core();
  const Reply before = part(0, 1, 0, "a");
  EXPECT_EQ(before.kind(), MessageKind::Refusal);
  joinAll();
  EXPECT_THAT(part(0, 2, 0, "a").text(),
              HasSubstr("sends request 2 out of turn"));
  EXPECT_THAT(part(0, 1, 0, "abcde").text(),
              HasSubstr("more than the 52 that all dense gradients"));
  EXPECT_EQ(part(0, 1, 0, "abc").kind(), MessageKind::Response);
  EXPECT_THAT(part(0, 1, 1, "de").text(),
              HasSubstr("to more than the 4 bytes that all dense gradients"));
  // The stored parts are dropped with it.
  part(0, 1, 0, "abc");
  EXPECT_THAT(exchangeInParts(0, 1, "", {{0, 0, 0, 2}}).text(),
              HasSubstr("no place for all bytes of part 0"));
  part(0, 1, 0, "abc");
  EXPECT_THAT(
      inParts({MessageKind::Norm, 0, 0, 1, 1, 0}, "", {{0, 0, 0, 3}}).text(),
      HasSubstr("comes in parts, as only exchanges do"));
  // None of this has counted.
  EXPECT_THAT(application->calls, IsEmpty());
  EXPECT_EQ(exchange(0, 1, "whole").text(), "0 reads whole");
}

TEST_F(ServerCoreTest, UnexpectedPartsAreRefused) {
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
  options.maxPartBytes = 100;
  core();
  joinAll();
  for (const MessageKind kind :
       {MessageKind::Join, MessageKind::Greet, MessageKind::Heartbeat,
        MessageKind::Poll, MessageKind::Leave, MessageKind::Norm,
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
  options.maxPartBytes = 100;
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
  EXPECT_EQ(reply.kind(), MessageKind::Response);
  EXPECT_GT(kept.use_count(), 1);
  leave(0, "it was killed");
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(ServerCoreTest, ANewStartBeginsWithoutParts) {
  options.maxPartBytes = 100;
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

} // namespace
