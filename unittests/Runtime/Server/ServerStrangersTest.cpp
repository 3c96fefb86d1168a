//===- ServerStrangersTest.cpp - Attacks of strangers on a job ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job with a secret, and a process on its network that does not know the
// secret. It knows the protocol, the addresses, the ranks and even the
// incarnations.
//
//===----------------------------------------------------------------------===//

#include "CoreFixture.h"
#include "Support/TappedTransport.h"
#include "pdlrt/Transport/SealedTransport.h"

#include <gmock/gmock.h>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {

constexpr const char *secret = "open sesame and more";

class ServerStrangersTest : public ServerCoreTest {
protected:
  void SetUp() override {
    options.trainers = 1;
    options.onFailure = FailurePolicy::Wait;
    options.firstIncarnation = uint64_t(0x5eed) << 32;
    sealed = createSealedTransport(network.share(),
                                   {PeerRole::Member, secret, std::nullopt});
    auto made = sealed->listen("server", core().handler());
    ASSERT_TRUE(made.ok());
    listener = std::move(*made);
    trainer = std::move(*sealed->connect("server"));
    ASSERT_EQ(payloadOf(call(*trainer, joinOf(incarnation), "hello")),
              "welcome");
    ASSERT_EQ(payloadOf(call(*trainer, exchangeOf(1), "a")), "0 reads a");
    application->calls.clear();
  }
  uint64_t incarnation = (uint64_t(0x5eed) << 32) + 1;
  Envelope joinOf(uint64_t start) const {
    return {MessageKind::Join, 0, 0, start, 0, 0};
  }
  Envelope exchangeOf(uint64_t sequence) const {
    return {MessageKind::Exchange, 0, 0, incarnation, sequence, 0};
  }

  Message callBytes(Connection &connection, const Message &message) {
    Message response;
    bool ended = false;
    connection.call(message, clock.now() + std::chrono::seconds(5),
                    [&](const CallResult &result) {
                      response = result.response;
                      ended = true;
                    });
    while (!ended && clock.runNext()) {
    }
    return response;
  }
  Message call(Connection &connection, const Envelope &head,
               const std::string &payload) {
    return callBytes(connection, joinFrame(head, Message::ofString(payload)));
  }
  static std::string payloadOf(const Message &response) {
    const auto frame = splitFrame(response);
    return frame ? frame->payload.toString() : "no frame";
  }
  /// Returns all requests of a stranger: for a stored response, a stop, a
  /// failure, a save, a join, and numbers.
  std::vector<Message> attacks() const {
    std::vector<Message> all;
    for (const MessageKind kind :
         {MessageKind::Join, MessageKind::Greet, MessageKind::Exchange,
          MessageKind::Poll, MessageKind::Leave, MessageKind::Save,
          MessageKind::Pull, MessageKind::Reduce, MessageKind::Part,
          MessageKind::Visit, MessageKind::Read})
      for (const uint64_t start : {uint64_t(0), uint64_t(1), incarnation})
        for (const uint64_t sequence : {0, 1, 2})
          all.push_back(joinFrame({kind, 0, 0, start, sequence, 0},
                                  Message::ofString("forged")));
    all.push_back(joinFrame({MessageKind::Heartbeat, 0, 0, incarnation, 0, 0},
                            encodeHeartbeat({/*stop=*/true, {}})));
    return all;
  }
  void expectNothingHappened() {
    EXPECT_THAT(application->calls, IsEmpty());
    EXPECT_EQ(core().status().state, JobState::Running);
    EXPECT_EQ(payloadOf(call(*trainer, exchangeOf(2), "b")), "0 reads b");
  }

  TappedTransport network{createInProcessTransport(clock)};
  std::unique_ptr<Transport> sealed;
  std::unique_ptr<Listener> listener;
  std::unique_ptr<Connection> trainer;
};

std::string bytesOf(uint64_t number) {
  return {reinterpret_cast<const char *>(&number), sizeof(number)};
}

TEST_F(ServerStrangersTest, RequestsWithoutASealDoNothing) {
  const auto raw = network.share();
  const auto stranger = std::move(*raw->connect("server"));
  for (const Message &attack : attacks())
    EXPECT_THAT(callBytes(*stranger, attack).toString(),
                AllOf(HasSubstr("not authenticated"), Not(HasSubstr("reads")),
                      Not(HasSubstr(bytesOf(incarnation)))));
  expectNothingHappened();
}

TEST_F(ServerStrangersTest, GuessesDoNothing) {
  const auto guessing =
      createSealedTransport(network.share(), {PeerRole::Member, "guess"});
  const auto stranger = std::move(*guessing->connect("server"));
  for (const Message &attack : attacks())
    EXPECT_THAT(payloadOf(callBytes(*stranger, attack)),
                AllOf(HasSubstr("different tokens"), Not(HasSubstr("sesame")),
                      Not(HasSubstr("reads"))));
  const auto reading =
      createSealedTransport(network.share(), {PeerRole::Reader, ""});
  const auto reader = std::move(*reading->connect("server"));
  for (const Message &attack : attacks())
    EXPECT_THAT(payloadOf(callBytes(*reader, attack)),
                HasSubstr("takes no readers"));
  expectNothingHappened();
}

// An observer of the network repeats the messages that it saw, unchanged or
// with another head.
TEST_F(ServerStrangersTest, RecordedRequestsDoNothing) {
  const std::vector<std::string> recorded = network.sent();
  const auto raw = network.share();
  const auto stranger = std::move(*raw->connect("server"));
  for (const std::string &bytes : recorded) {
    EXPECT_THAT(callBytes(*stranger, Message::ofString(bytes)).toString(),
                Not(HasSubstr("reads")));
    for (const Message &attack : attacks())
      EXPECT_THAT(callBytes(*stranger, Message::ofString(bytes.substr(0, 40) +
                                                         attack.toString()))
                      .toString(),
                  Not(HasSubstr("reads")));
  }
  expectNothingHappened();
}

// A member with a wrong request learns no number that it did not send.
TEST_F(ServerStrangersTest, RefusalsNameNoNumbers) {
  for (const MessageKind kind :
       {MessageKind::Exchange, MessageKind::Poll, MessageKind::Leave,
        MessageKind::Heartbeat, MessageKind::Save, MessageKind::Part}) {
    const Message refused = call(*trainer, {kind, 0, 0, 1, 1, 0}, "");
    EXPECT_EQ(splitFrame(refused)->head.kind, MessageKind::Refusal);
    EXPECT_THAT(refused.toString(),
                AllOf(Not(HasSubstr(bytesOf(incarnation))),
                      Not(HasSubstr(std::to_string(incarnation)))));
  }
  expectNothingHappened();
}

} // namespace
