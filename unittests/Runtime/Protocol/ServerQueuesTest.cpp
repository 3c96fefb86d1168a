//===- ServerQueuesTest.cpp - Asynchronous requests to all servers --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerQueues.h"

#include "Support/TestServer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

namespace {

/// Two servers whose rounds wait for another trainer, which decides when each
/// of them responds.
class ServerQueuesTest : public testing::Test {
protected:
  ServerQueuesTest() {
    ServerCoreOptions core;
    core.trainers = 2;
    for (const char *address : {"server-0", "server-1"}) {
      addresses.emplace_back(address);
      servers.push_back(
          std::make_unique<TestServer>(*transport, address, core));
    }
    group = join(0);
    other = join(1);
  }
  std::unique_ptr<ServerGroup> join(uint32_t trainer) {
    auto joined =
        ServerGroup::connect(*transport, addresses, {trainer, 0, 1, 0, {}}, {});
    EXPECT_TRUE(joined.ok());
    EXPECT_TRUE((*joined)->joinAll(all("hello")).ok());
    return std::move(*joined);
  }
  std::vector<Message> all(const std::string &text) const {
    return std::vector<Message>(addresses.size(), Message::ofString(text));
  }
  /// Makes a server end its round, and waits for the responses.
  void endRound(size_t server) {
    std::atomic<bool> isDone = false;
    other->session(server).send(MessageKind::Exchange, Message::ofString("x"),
                                [&](const Expected<Message> &response) {
                                  EXPECT_TRUE(response.ok())
                                      << response.status().message();
                                  isDone = true;
                                });
    while (!isDone)
      std::this_thread::yield();
  }
  /// Returns the responses of a server among `responses`.
  static std::string saidBy(size_t server,
                            std::vector<ServerQueues::Response> &responses) {
    std::string text;
    for (const ServerQueues::Response &response : responses)
      if (response.server == server)
        text += response.payload.toString() + ";";
    return text;
  }

  RealClock clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<TestServer>> servers;
  std::unique_ptr<ServerGroup> group, other;
};

} // namespace

TEST_F(ServerQueuesTest, ASlowServerHoldsUpItsOwnQueueAlone) {
  ServerQueues queues(*group, 3);
  EXPECT_TRUE(queues.isEmpty());
  for (const char *text : {"a", "b", "c"}) {
    EXPECT_FALSE(queues.isFull());
    queues.add(MessageKind::Exchange, all(text));
  }
  EXPECT_TRUE(queues.isFull());
  EXPECT_FALSE(queues.hasIdleServer());
  for (int i = 0; i < 3; ++i)
    endRound(0);
  std::vector<ServerQueues::Response> responses;
  const auto collect = [&] {
    for (ServerQueues::Response &response : queues.takeResponses())
      responses.push_back(std::move(response));
  };
  while (!queues.hasIdleServer())
    std::this_thread::yield();
  collect();
  EXPECT_EQ(saidBy(0, responses), "0 reads ax;0 reads bx;0 reads cx;");
  EXPECT_EQ(saidBy(1, responses), "");
  EXPECT_TRUE(queues.isFull());
  std::atomic<bool> hasRoom = false;
  std::thread waiting([&] {
    EXPECT_TRUE(queues.waitForRoom().ok());
    hasRoom = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(hasRoom);
  endRound(1);
  waiting.join();
  queues.add(MessageKind::Exchange, all("d"));
  endRound(0);
  std::thread emptying([&] { EXPECT_TRUE(queues.waitUntilEmpty().ok()); });
  for (int i = 0; i < 3; ++i)
    endRound(1);
  emptying.join();
  EXPECT_TRUE(queues.isEmpty());
  collect();
  EXPECT_EQ(saidBy(0, responses),
            "0 reads ax;0 reads bx;0 reads cx;0 reads dx;");
  EXPECT_EQ(saidBy(1, responses),
            "0 reads ax;0 reads bx;0 reads cx;0 reads dx;");
  EXPECT_GT(queues.busySeconds(), 0);
}

TEST_F(ServerQueuesTest, AFailureEndsAllWaiting) {
  ServerQueues queues(*group, 1);
  queues.add(MessageKind::Exchange, all("a"));
  std::thread failing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    servers[1]->core.fail(Status::unavailable("the disk is full"));
  });
  EXPECT_THAT(queues.waitForRoom().message(), HasSubstr("the disk is full"));
  failing.join();
  EXPECT_THAT(queues.failure().message(), HasSubstr("the disk is full"));
  EXPECT_THAT(queues.waitUntilEmpty().message(), HasSubstr("the disk is full"));
}

// The response to the last request may arrive after the destruction of the
// queues.
TEST_F(ServerQueuesTest, WhatWaitsDoesNotLeaveAnyMore) {
  {
    ServerQueues queues(*group, 2);
    queues.add(MessageKind::Exchange, all("a"));
    queues.add(MessageKind::Exchange, all("b"));
  }
  endRound(0);
  endRound(1);
  EXPECT_EQ(servers[0]->application.rounds, 1);
  EXPECT_EQ(servers[1]->application.rounds, 1);
  EXPECT_EQ(servers[0]->core.waitingFor(), "");
}
