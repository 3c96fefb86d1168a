//===- SealedTransportTest.cpp - Connections with a secret ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Transport/SealedTransport.h"

#include "Support/TappedTransport.h"
#include "Transport/Seal.h"
#include "TransportConformance.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <gmock/gmock.h>

#include <unistd.h>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;
using testing::Not;

namespace {

const Credentials member = {PeerRole::Member, "open sesame"};

class ManualEnvironment : public ManualTimeEnvironment {
public:
  static constexpr size_t front = envelopeSize;
  Transport &transport() { return *network; }

private:
  std::unique_ptr<Transport> network =
      createSealedTransport(createInProcessTransport(clock), member);
};

class LocalEnvironment : public RealTimeEnvironment {
public:
  static constexpr size_t front = envelopeSize;
  LocalEnvironment()
      : RealTimeEnvironment([](RealClock &clock) {
          return createSealedTransport(createLocalTransport(clock), member);
        }) {}
  std::string newAddress() {
    return "unix:@pdl-sealed-test-" + std::to_string(::getpid()) + "-" +
           std::to_string(next++);
  }

private:
  int next = 0;
};

} // namespace

namespace pdlrt::test {
using SealedEnvironments = testing::Types<ManualEnvironment, LocalEnvironment>;
INSTANTIATE_TYPED_TEST_SUITE_P(Sealed, TransportConformance,
                               SealedEnvironments);
} // namespace pdlrt::test

namespace {

/// A listener with a secret, and a network on which all bytes are visible.
class SealedTransportTest : public testing::Test {
protected:
  /// Returns the transport of processes with these credentials.
  std::unique_ptr<Transport> sealed(const Credentials &credentials) {
    return createSealedTransport(network.share(), credentials);
  }
  void listen(const Credentials &credentials) {
    listener.reset();
    server = sealed(credentials);
    auto made = server->listen(
        "server", [this](const Message &request, Responder responder) {
          requests.push_back(request.toString());
          responder.respond(Message::ofString("heard " + requests.back()));
        });
    ASSERT_TRUE(made.ok());
    listener = std::move(*made);
  }
  std::unique_ptr<Connection> connect(const Credentials &credentials) {
    transports.push_back(sealed(credentials));
    return std::move(*transports.back()->connect("server"));
  }
  std::string call(Connection &connection, const Message &message) {
    CallProbe probe;
    connection.call(message, clock.now() + std::chrono::seconds(5),
                    probe.done());
    while (probe.ends == 0 && clock.runNext()) {
    }
    return probe.outcome == CallOutcome::Responded ? probe.response : "nothing";
  }
  std::string call(Connection &connection, const std::string &text) {
    return call(connection, Message::ofString(text));
  }
  /// Sends the bytes of a message unchanged, without the secret.
  std::string callRaw(const Message &message) {
    const auto raw = network.share();
    const auto connection = std::move(*raw->connect("server"));
    return call(*connection, message);
  }

  ManualClock clock;
  TappedTransport network{createInProcessTransport(clock)};
  std::vector<std::unique_ptr<Transport>> transports;
  std::unique_ptr<Transport> server;
  std::unique_ptr<Listener> listener;
  std::vector<std::string> requests;
};

TEST_F(SealedTransportTest, TheSecretDoesNotTravel) {
  listen(member);
  const auto connection = connect(member);
  EXPECT_EQ(call(*connection, "a"), "heard a");
  EXPECT_EQ(call(*connection, "b"), "heard b");
  // Each end sends two messages before the first request.
  ASSERT_EQ(network.sent().size(), 4u);
  for (const std::string &bytes : network.sent())
    EXPECT_THAT(bytes, Not(HasSubstr("sesame")));
}

TEST_F(SealedTransportTest, AnotherSecretIsRefused) {
  listen(member);
  const Envelope head = {MessageKind::Join, 1, 2, 3, 4, 5};
  for (const char *guess : {"", "open sesamf", "open sesame ", "open sesam"}) {
    const auto connection = connect({PeerRole::Member, guess});
    const auto refused =
        splitFrame(Message::ofString(call(*connection, joinFrame(head, {}))));
    ASSERT_TRUE(refused.ok());
    Envelope expected = head;
    expected.kind = MessageKind::Refusal;
    EXPECT_EQ(refused->head, expected);
    EXPECT_EQ(refused->payload.toString(),
              "the trainer and the server have different tokens; give both the "
              "same --token-file, and check --servers: this may be another "
              "job's address");
  }
  EXPECT_TRUE(requests.empty());
}

TEST_F(SealedTransportTest, AListenerProvesItselfToo) {
  listen(member);
  EXPECT_EQ(call(*connect(member), "a"), "heard a");
  // A listener that repeats the responses of the true one.
  const std::vector<std::string> recorded = network.answered();
  listener.reset();
  size_t asked = 0;
  const auto fake = network.share();
  const auto fakeListener =
      fake->listen("server", [&](const Message &, Responder responder) {
        responder.respond(Message::ofString(recorded.at(asked++)));
      });
  const auto connection = connect(member);
  EXPECT_THAT(call(*connection, joinFrame({MessageKind::Join}, {})),
              HasSubstr("does not know the token of this process"));
}

TEST_F(SealedTransportTest, RequestsCountOnceAndAsTheyAre) {
  listen(member);
  const auto connection = connect(member);
  EXPECT_EQ(call(*connection, std::string(100, 'a')),
            "heard " + std::string(100, 'a'));
  const std::string recorded = network.sent().back();
  ASSERT_EQ(recorded.size(), 140u);
  EXPECT_THAT(callRaw(Message::ofString(recorded)), Not(HasSubstr("heard")));
  // Covers every change of seal, head and size.
  for (size_t at = 0; at < 80; ++at) {
    std::string changed = recorded;
    changed[at] ^= 1;
    EXPECT_THAT(callRaw(Message::ofString(changed)), Not(HasSubstr("heard")))
        << at;
  }
  for (const size_t size : {0, 1, 39, 40, 79, 80, 139, 141}) {
    std::string cut = recorded;
    cut.resize(size);
    EXPECT_THAT(callRaw(Message::ofString(cut)), Not(HasSubstr("heard")));
  }
  EXPECT_EQ(requests.size(), 1u);
  EXPECT_EQ(call(*connection, "b"), "heard b");
}

TEST_F(SealedTransportTest, CopiesOfAProofGiveNothing) {
  listen(member);
  const auto connection = connect(member);
  EXPECT_EQ(call(*connection, "a"), "heard a");
  ASSERT_EQ(network.sent().size(), 3u);
  const std::string proof = network.sent()[1], request = network.sent()[2];
  callRaw(Message::ofString(proof));
  EXPECT_THAT(callRaw(Message::ofString(request)), Not(HasSubstr("heard")));
  // After a minute, the nonce is too old.
  clock.advanceTo(clock.now() + std::chrono::seconds(61));
  listen(member);
  callRaw(Message::ofString(proof));
  EXPECT_THAT(callRaw(Message::ofString(request)), Not(HasSubstr("heard")));
  EXPECT_EQ(requests.size(), 1u);
}

// A listener stores a limited number of keys. For older ones it forgets which
// requests it has received.
TEST_F(SealedTransportTest, AForgottenKeyDoesNotReturn) {
  constexpr int maxKeys = 4;
  server = network.share();
  auto made = server->listen(
      "server",
      requireSeals(
          member, clock,
          [this](const Message &request, Responder responder) {
            requests.push_back(request.toString());
            responder.respond(Message::ofString("heard " + requests.back()));
          },
          maxKeys));
  ASSERT_TRUE(made.ok());
  listener = std::move(*made);
  const auto first = connect(member);
  EXPECT_EQ(call(*first, "a"), "heard a");
  const std::string proof = network.sent()[1], request = network.sent()[2];
  std::vector<std::unique_ptr<Connection>> others;
  for (int i = 0; i < maxKeys; ++i) {
    clock.advanceTo(clock.now() + std::chrono::microseconds(1));
    others.push_back(connect(member));
    EXPECT_EQ(call(*others.back(), "b"), "heard b");
  }
  callRaw(Message::ofString(proof));
  EXPECT_THAT(callRaw(Message::ofString(request)), Not(HasSubstr("heard")));
  // Its connection proves itself again.
  EXPECT_EQ(call(*first, "c"), "heard c");
  EXPECT_EQ(requests.size(), maxKeys + 2u);
}

TEST_F(SealedTransportTest, AListenerThatIsStartedAnewKnowsItsConnections) {
  listen(member);
  const auto connection = connect(member);
  EXPECT_EQ(call(*connection, "a"), "heard a");
  listen(member);
  EXPECT_EQ(call(*connection, "b"), "heard b");
}

TEST_F(SealedTransportTest, ReadersReadAndDoNothingElse) {
  const auto refusal = [&](const Credentials &credentials, MessageKind kind) {
    const auto connection = connect(credentials);
    return call(*connection, joinFrame({kind}, {}));
  };
  const Credentials reader = {PeerRole::Reader, "for readers"};
  listen({PeerRole::Member, "open sesame", "for readers"});
  EXPECT_THAT(refusal(reader, MessageKind::Visit), HasSubstr("heard"));
  for (const MessageKind kind :
       {MessageKind::Join, MessageKind::Exchange, MessageKind::Save,
        MessageKind::Leave, MessageKind::Heartbeat, MessageKind::Greet,
        MessageKind::Poll, MessageKind::Part})
    EXPECT_THAT(refusal(reader, kind),
                HasSubstr("a reader cannot take part in a job"));
  EXPECT_THAT(refusal(member, MessageKind::Read),
              HasSubstr("--reader-token-file"));
  EXPECT_THAT(refusal({PeerRole::Reader, "open sesame"}, MessageKind::Visit),
              HasSubstr("different tokens"));
  EXPECT_THAT(refusal({PeerRole::Member, "for readers"}, MessageKind::Join),
              HasSubstr("different tokens"));
  // A job with a secret has readers only if they have a secret, too.
  listen(serverCredentials("open sesame", std::nullopt));
  EXPECT_THAT(refusal({PeerRole::Reader, ""}, MessageKind::Visit),
              HasSubstr("this job takes no readers"));
  listen(serverCredentials("", std::nullopt));
  EXPECT_THAT(refusal({PeerRole::Reader, ""}, MessageKind::Visit),
              HasSubstr("heard"));
  EXPECT_EQ(requests.size(), 2u);
}

TEST_F(SealedTransportTest, WhatIsNoListenerOfThisKindIsNamed) {
  const auto other = network.share();
  const auto plain = other->listen("server", [](const Message &, Responder to) {
    to.respond(Message::ofString("hello"));
  });
  const auto connection = connect(member);
  EXPECT_THAT(call(*connection, joinFrame({MessageKind::Join}, {})),
              HasSubstr("no PDL server of this version"));
}

} // namespace
