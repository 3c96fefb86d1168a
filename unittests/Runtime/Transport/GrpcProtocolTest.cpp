//===- GrpcProtocolTest.cpp - Exactly-once over gRPC ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/TestServer.h"

#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/Transport/GrpcTransport.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

using Milliseconds = std::chrono::milliseconds;

class GrpcProtocolTest : public testing::Test {
protected:
  GrpcProtocolTest() {
    options.retry.heartbeatInterval = Milliseconds(5);
    options.retry.attemptDeadline = Milliseconds(100);
    core.trainers = 2;
  }

  std::string newAddress() {
    addresses.push_back("unix:@pdl-protocol-test-" + std::to_string(getpid()) +
                        "-" + std::to_string(addresses.size()));
    return addresses.back();
  }
  std::unique_ptr<ServerGroup> connect(uint32_t trainer) {
    auto group = ServerGroup::connect(*transport, addresses, {trainer, 0, 1, 0},
                                      options);
    EXPECT_TRUE(group.ok());
    return std::move(*group);
  }
  std::vector<Message> all(const std::string &text) const {
    return std::vector<Message>(addresses.size(), Message::ofString(text));
  }

  RealClock clock;
  std::unique_ptr<Transport> transport = createGrpcTransport(clock);
  ServerCoreOptions core;
  ServerGroupOptions options;
  std::vector<std::string> addresses;
};

TEST_F(GrpcProtocolTest, RoundsOfLargePayloads) {
  TestServer first(*transport, newAddress(), core);
  TestServer second(*transport, newAddress(), core);
  constexpr int rounds = 30;
  std::atomic<int> wrong{0};
  std::vector<std::thread> trainers;
  for (uint32_t rank = 0; rank < 2; ++rank)
    trainers.emplace_back([&, rank] {
      const auto group = connect(rank);
      wrong += !group->joinAll(all("hello")).ok();
      for (int round = 0; round < rounds; ++round) {
        const auto content = [&](uint32_t of) {
          return std::string(100000, static_cast<char>('a' + of)) +
                 std::to_string(round);
        };
        const auto responses =
            group->sendAll(MessageKind::Exchange, all(content(rank)));
        if (!responses.ok()) {
          ++wrong;
          break;
        }
        for (const Message &response : *responses)
          wrong += response.toString() !=
                   std::to_string(rank) + " reads " + content(0) + content(1);
      }
      group->leaveAll("");
    });
  for (std::thread &trainer : trainers)
    trainer.join();
  EXPECT_EQ(wrong, 0);
  for (TestServer *server : {&first, &second}) {
    EXPECT_TRUE(server->core.waitUntilOver(std::chrono::seconds(10)));
    EXPECT_EQ(server->core.status().state, JobState::Finished);
    EXPECT_EQ(server->application.rounds, rounds);
  }
}

/// An attempt that times out is repeated, and the round counts once.
TEST_F(GrpcProtocolTest, ALongWaitIsOneRequest) {
  TestServer server(*transport, newAddress(), core);
  std::string text;
  std::thread early([&] {
    const auto group = connect(0);
    if (!group->joinAll(all("hello")).ok())
      return;
    auto responses = group->sendAll(MessageKind::Exchange, all("a"));
    text = responses.ok() ? responses->front().toString()
                          : responses.status().message();
  });
  const auto group = connect(1);
  EXPECT_TRUE(group->joinAll(all("hello")).ok());
  // Two attempts of trainer 0 time out meanwhile.
  std::this_thread::sleep_for(Milliseconds(400));
  EXPECT_TRUE(group->sendAll(MessageKind::Exchange, all("b")).ok());
  early.join();
  EXPECT_EQ(text, "0 reads ab");
  EXPECT_EQ(server.application.rounds, 1);
}

TEST_F(GrpcProtocolTest, AServerThatGoesAwayIsNamed) {
  core.silenceLimit = std::chrono::seconds(0);
  // On a loaded machine, the threads of the server may run late.
  options.retry.silenceLimit = std::chrono::seconds(5);
  auto server = std::make_unique<TestServer>(*transport, newAddress(), core);
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  std::thread end([&] {
    // The listener is destroyed first.
    server->listener.reset();
    server.reset();
  });
  const auto responses = group->sendAll(MessageKind::Exchange, all("a"));
  end.join();
  ASSERT_FALSE(responses.ok());
  EXPECT_THAT(responses.status().message(),
              HasSubstr("server " + addresses[0] + " was not heard of"));
}

/// Sessions and servers end while calls are open.
TEST_F(GrpcProtocolTest, EndsWithOpenRequests) {
  for (int run = 0; run < 20; ++run) {
    auto server = std::make_unique<TestServer>(*transport, newAddress(), core);
    const std::vector<std::string> one = {addresses.back()};
    auto group = ServerGroup::connect(*transport, one, {0, 0, 1, 0}, options);
    ASSERT_TRUE(group.ok());
    ASSERT_TRUE((*group)->joinAll({Message()}).ok());
    std::atomic<int> ends{0};
    (*group)->session(0).send(MessageKind::Exchange, Message::ofString("a"),
                              [&](const Expected<Message> &) { ++ends; });
    if (run % 2 > 0) {
      server->listener.reset();
      server.reset();
    }
    group->reset();
    EXPECT_EQ(ends, 1);
  }
}

} // namespace
