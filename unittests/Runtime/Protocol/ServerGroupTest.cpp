//===- ServerGroupTest.cpp - Trainers and servers with threads ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ServerGroup.h"

#include "Support/TestFolder.h"
#include "Support/TestServer.h"
#include "pdlrt/Protocol/ServerCheckpoint.h"

#include <gmock/gmock.h>

#include <atomic>
#include <mutex>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

namespace {

using Milliseconds = std::chrono::milliseconds;

class ServerGroupTest : public testing::Test {
protected:
  ServerGroupTest() {
    options.retry.heartbeatInterval = Milliseconds(5);
    options.retry.attemptDeadline = Milliseconds(50);
    options.errorPatience = Milliseconds(100);
    coreOptions.trainers = 2;
  }

  void startServers(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      addresses.push_back("server-" + std::to_string(addresses.size()));
      servers.push_back(std::make_unique<TestServer>(
          *transport, addresses.back(), coreOptions));
    }
  }
  std::unique_ptr<ServerGroup> connect(uint32_t trainer,
                                       uint64_t incarnation = 1,
                                       const StartSign &start = {}) {
    auto group = ServerGroup::connect(
        *transport, addresses, {trainer, 0, incarnation, 0, start}, options);
    EXPECT_TRUE(group.ok());
    return std::move(*group);
  }
  std::vector<Message> all(const std::string &text) const {
    return std::vector<Message>(addresses.size(), Message::ofString(text));
  }
  static std::string errorOf(const Expected<std::vector<Message>> &responses) {
    return responses.ok() ? "no error" : responses.status().message();
  }

  RealClock clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  ServerCoreOptions coreOptions;
  ServerGroupOptions options;
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<TestServer>> servers;
};

TEST_F(ServerGroupTest, TrainersGoThroughRoundsTogether) {
  coreOptions.trainers = 3;
  startServers(2);
  constexpr int rounds = 100;
  std::atomic<int> wrong{0};
  std::vector<std::thread> trainers;
  for (uint32_t rank = 0; rank < 3; ++rank)
    trainers.emplace_back([&, rank] {
      const auto group = connect(rank);
      wrong += !group->joinAll(all("hello")).ok();
      for (int round = 0; round < rounds; ++round) {
        const std::string number = "," + std::to_string(round);
        const auto responses = group->sendAll(
            MessageKind::Exchange, all(std::to_string(rank) + number));
        const std::string expected = std::to_string(rank) + " reads 0" +
                                     number + "1" + number + "2" + number;
        if (!responses.ok() || responses->size() != 2) {
          ++wrong;
          break;
        }
        for (const Message &response : *responses)
          wrong += response.toString() != expected;
      }
      group->leaveAll("");
    });
  for (std::thread &trainer : trainers)
    trainer.join();
  EXPECT_EQ(wrong, 0);
  for (const auto &server : servers) {
    EXPECT_TRUE(server->core.waitUntilOver(std::chrono::seconds(10)));
    EXPECT_EQ(server->core.status().state, JobState::Finished);
    EXPECT_TRUE(server->core.allNotified());
    EXPECT_EQ(server->application.rounds, rounds);
    EXPECT_FALSE(server->application.overlapped);
  }
}

// If one server cannot save, the folder is removed, so no server may write into
// it any more.
TEST_F(ServerGroupTest, ASaveThatFailsEndsWithTheLastServer) {
  coreOptions.trainers = 1;
  startServers(2);
  servers[0]->application.answering = [](const Message &) {
    return encodeSaved(Status::invalidArgument("server 0 has no room"));
  };
  std::atomic<int> asked{0}, begun{0};
  servers[1]->application.answering = [&](const Message &payload) {
    if (decodeSaveRequest(payload).kind == SaveKind::Begin) {
      ++begun;
      return savingResponse();
    }
    return ++asked % 3 != 0 ? savingResponse()
                            : encodeSaved(CheckpointManifest());
  };
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  TestFolder folder;
  CheckpointWriter writer(folder.file("step-000000000001"));
  CheckpointManifest manifest;
  EXPECT_EQ(finishSaveOnServers(*group, StepCounts::Equal, writer, manifest)
                .message(),
            "server 0 has no room");
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(beginSaveOnServers(*group, writer).message(),
            "server 0 has no room");
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(asked, 6);
  group->leaveAll("");
}

TEST_F(ServerGroupTest, SaysWhoIsWaitedForAndStops) {
  startServers(1);
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<bool> stop{false};
  options.reportInterval = Milliseconds(1);
  options.shouldStop = [&] { return stop.load(); };
  options.report = [&](const std::string &line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
    stop = line.find("trainer 1") != std::string::npos;
  };
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  const auto responses = group->sendAll(MessageKind::Exchange, all("a"));
  EXPECT_THAT(errorOf(responses), HasSubstr("stopped while it waited"));
  EXPECT_THAT(lines.back(), HasSubstr("server server-0: waiting for trainer 1 "
                                      "to join"));
  group->leaveAll("stopped by the user");
  EXPECT_TRUE(servers[0]->core.waitUntilOver(std::chrono::seconds(10)));
  EXPECT_EQ(servers[0]->core.status().message,
            "trainer 0 failed: stopped by the user");
}

// All processes of a job end with one exit code.
TEST_F(ServerGroupTest, TheCodeOfAFailureReachesTheOthers) {
  startServers(2);
  Status seen;
  std::thread other([&] {
    const auto group = connect(1);
    if (group->joinAll(all("hello")).ok())
      seen = group->sendAll(MessageKind::Exchange, all("b")).status();
  });
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  while (servers[0]->core.waitingFor().find("exchange of trainer 0") ==
         std::string::npos)
    std::this_thread::yield();
  group->leaveAll(Status::resourceExhausted("no room"));
  other.join();
  EXPECT_EQ(seen.message(),
            "server server-0 refuses: trainer 0 failed: no room");
  EXPECT_EQ(seen.code(), PDL_RESOURCE_EXHAUSTED);
  EXPECT_EQ(servers[0]->core.status().code, PDL_RESOURCE_EXHAUSTED);
}

TEST_F(ServerGroupTest, AFailureReachesTheOthers) {
  startServers(2);
  std::string seen;
  std::thread other([&] {
    const auto group = connect(1);
    if (group->joinAll(all("hello")).ok())
      seen = errorOf(group->sendAll(MessageKind::Exchange, all("b")));
  });
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  while (servers[0]->core.waitingFor().find("exchange of trainer 0") ==
         std::string::npos)
    std::this_thread::yield();
  group->leaveAll("no data");
  other.join();
  EXPECT_EQ(seen, "server server-0 refuses: trainer 0 failed: no data");
}

TEST_F(ServerGroupTest, OneServersErrorDoesNotWaitForTheOthers) {
  coreOptions.trainers = 1;
  startServers(1);
  coreOptions.trainers = 2;
  startServers(1);
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  // Server 1 waits for trainer 1, while server 0 refuses.
  std::vector<Message> payloads = all("a");
  payloads[0] = Message::ofString("bad");
  EXPECT_EQ(errorOf(group->sendAll(MessageKind::Exchange, payloads)),
            "server server-0 refuses: bytes are missing");
}

TEST_F(ServerGroupTest, AHandshakesRefusalIsSaid) {
  startServers(1);
  const auto group = connect(0);
  EXPECT_EQ(errorOf(group->joinAll(all("bad"))),
            "server server-0 refuses: model A is not model B");
  group->leaveAll("refused");
}

TEST_F(ServerGroupTest, AnEarlierStartIsNotGoneOnFromUnasked) {
  coreOptions.trainers = 1;
  coreOptions.onFailure = FailurePolicy::Wait;
  startServers(1);
  {
    const auto first = connect(0);
    ASSERT_TRUE(first->joinAll(all("hello")).ok());
    ASSERT_TRUE(first->sendAll(MessageKind::Exchange, all("a")).ok());
  }
  EXPECT_THAT(errorOf(connect(0, 2)->joinAll(all("hello"))),
              HasSubstr("expects request 2 of this trainer"));
  options.earlierStart = ServerGroupOptions::EarlierStart::GoOn;
  const auto third = connect(0, 3);
  ASSERT_TRUE(third->joinAll(all("hello")).ok());
  ASSERT_TRUE(third->earlierNote());
  EXPECT_EQ(third->earlierNote()->size(), 0u);
  EXPECT_TRUE(third->wasSentBefore());
  const auto again = third->sendAll(MessageKind::Exchange, all(""));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->front().toString(), "0 reads a");
  EXPECT_FALSE(third->wasSentBefore());
  EXPECT_EQ(servers[0]->application.rounds, 1);
}

TEST_F(ServerGroupTest, ANewStartGoesBackToTheLastNoteThatAllServersHave) {
  coreOptions.trainers = 1;
  coreOptions.onFailure = FailurePolicy::Wait;
  coreOptions.keptResponses = 3;
  startServers(2);
  {
    const auto first = connect(0);
    ASSERT_TRUE(first->joinAll(all("hello")).ok());
    EXPECT_FALSE(first->earlierNote());
    for (const char *step : {"1", "2", "3"}) {
      first->leaveNote(Message::ofString(std::string("before ") + step));
      ASSERT_TRUE(first->sendAll(MessageKind::Exchange, all(step)).ok());
    }
    // The fourth request reaches only one server.
    first->leaveNote(Message::ofString("before 4"));
    std::atomic<bool> isRespondedTo{false};
    first->session(0).send(
        MessageKind::Exchange, Message::ofString("4"),
        [&](const Expected<Message> &) { isRespondedTo = true; });
    while (!isRespondedTo)
      std::this_thread::yield();
  }
  options.earlierStart = ServerGroupOptions::EarlierStart::GoOn;
  const auto second = connect(0, 2);
  ASSERT_TRUE(second->joinAll(all("hello")).ok());
  ASSERT_TRUE(second->earlierNote());
  EXPECT_EQ(second->earlierNote()->toString(), "before 3");
  const auto third = second->sendAll(MessageKind::Exchange, all(""));
  ASSERT_TRUE(third.ok());
  EXPECT_EQ((*third)[1].toString(), "0 reads 3");
  EXPECT_TRUE(second->wasSentBefore());
  const auto fourth = second->sendAll(MessageKind::Exchange, all("4"));
  ASSERT_TRUE(fourth.ok());
  for (const Message &response : *fourth)
    EXPECT_EQ(response.toString(), "0 reads 4");
  EXPECT_FALSE(second->wasSentBefore());
  for (const auto &server : servers)
    EXPECT_EQ(server->application.rounds, 4);
}

// If a process has several senders, it must know the state of all of them
// first.
TEST_F(ServerGroupTest, ACallerMayDecideWhereItGoesOn) {
  coreOptions.trainers = 1;
  coreOptions.onFailure = FailurePolicy::Wait;
  coreOptions.keptResponses = 2;
  coreOptions.keptOfProcess = 4;
  startServers(2);
  options.earlierStart = ServerGroupOptions::EarlierStart::Ask;
  {
    const auto first = connect(0);
    ASSERT_TRUE(first->joinAll(all("hello")).ok());
    EXPECT_EQ(first->earlier().firstMissing, 1u);
    EXPECT_EQ(first->earlier().noted, 0u);
    for (const char *step : {"1", "2", "3", "4"}) {
      if (*step == '1' || *step == '2')
        first->leaveNote(Message::ofString(std::string("before ") + step));
      ASSERT_TRUE(first->sendAll(MessageKind::Exchange, all(step)).ok());
    }
    EXPECT_EQ(first->requestsSent(), 4u);
  }
  const auto second = connect(0, 2);
  ASSERT_TRUE(second->joinAll(all("hello")).ok());
  const ServerGroup::Earlier found = second->earlier();
  EXPECT_EQ(found.firstMissing, 5u);
  EXPECT_EQ(found.noted, 2u);
  EXPECT_EQ(found.note.toString(), "before 2");
  // More responses than those of a worker are stored.
  second->goOnWith(1);
  EXPECT_EQ(second->requestsSent(), 0u);
  EXPECT_TRUE(second->wasSentBefore());
  for (const char *step : {"1", "2", "3", "4"}) {
    const auto again = second->sendAll(MessageKind::Exchange, all(""));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ((*again)[1].toString(), std::string("0 reads ") + step);
  }
  EXPECT_FALSE(second->wasSentBefore());
  for (const auto &server : servers)
    EXPECT_EQ(server->application.rounds, 4);
}

TEST_F(ServerGroupTest, WhatChangesNothingNeedsNoEarlierStart) {
  coreOptions.trainers = 1;
  coreOptions.onFailure = FailurePolicy::Wait;
  startServers(2);
  options.earlierStart = ServerGroupOptions::EarlierStart::Ignore;
  {
    const auto first = connect(0);
    ASSERT_TRUE(first->joinAll(all("hello")).ok());
    ASSERT_TRUE(first->sendAll(MessageKind::Pull, all("a")).ok());
  }
  const auto second = connect(0, 2);
  ASSERT_TRUE(second->joinAll(all("hello")).ok());
  const auto responses = second->sendAll(MessageKind::Pull, all("b"));
  ASSERT_TRUE(responses.ok());
  for (const Message &response : *responses)
    EXPECT_EQ(response.toString(), "rows of b");
}

//===----------------------------------------------------------------------===//
// Processes without an incarnation
//===----------------------------------------------------------------------===//

/// Returns a sign of this process with the id `id`.
StartSign startOf(uint64_t id) {
  return {id, StartSign::Claim::Judged, ProcessIdentity::ofThisProcess()};
}

// The clock of a trainer has no influence.
TEST_F(ServerGroupTest, TheFirstServerGivesTheIncarnation) {
  coreOptions.onFailure = FailurePolicy::Wait;
  coreOptions.firstIncarnation = 1000;
  startServers(2);
  for (uint64_t start = 1; start <= 3; ++start) {
    const auto group = connect(0, 0, startOf(start));
    const auto joined = group->joinAll(all("hello"));
    ASSERT_TRUE(joined.ok()) << joined.status().message();
    EXPECT_EQ((*joined)[0].toString(), "welcome");
    EXPECT_EQ((*joined)[1].toString(), "welcome");
    EXPECT_EQ(group->incarnation(), 999 + start);
    // One of two trainers is always there, so the job continues.
    group->leaveAll("killed");
  }
}

// A wrong address or flag does not replace a running trainer.
TEST_F(ServerGroupTest, IfOneServerRefusesNoTrainerLosesItsPlace) {
  coreOptions.trainers = 1;
  coreOptions.onFailure = FailurePolicy::Wait;
  startServers(2);
  const auto first = connect(0, 0, startOf(1));
  ASSERT_TRUE(first->joinAll(all("hello")).ok());
  std::vector<Message> handshakes = all("hello");
  handshakes[1] = Message::ofString("bad");
  {
    const auto second = connect(0, 0, startOf(2));
    EXPECT_EQ(errorOf(second->joinAll(handshakes)),
              "server server-1 refuses: model A is not model B");
    second->leaveAll("refused");
  }
  EXPECT_TRUE(first->sendAll(MessageKind::Exchange, all("a")).ok());
  first->leaveAll("");
  for (const auto &server : servers)
    EXPECT_EQ(server->core.status().state, JobState::Finished);
}

// The failure is detected even if other servers take very long to start.
TEST_F(ServerGroupTest, AFailureIsHeardWhileAServerIsMissing) {
  startServers(1);
  addresses.emplace_back("nobody");
  options.retry.joinPatience = std::chrono::hours(1);
  std::atomic<bool> isWaiting{false};
  options.reportInterval = Milliseconds(1);
  options.report = [&](const std::string &line) {
    isWaiting = line.find("server-0") == std::string::npos;
  };
  std::string seen;
  std::thread waits([&] {
    const auto group = connect(0, 0, startOf(1));
    seen = errorOf(group->joinAll(all("hello")));
  });
  while (!isWaiting)
    std::this_thread::yield();
  servers[0]->core.fail(
      Status::unavailable("trainer 1 failed: stopped while it waited"));
  waits.join();
  EXPECT_EQ(seen, "server server-0 refuses: trainer 1 failed: stopped while it "
                  "waited");
}

TEST_F(ServerGroupTest, AServerThatWouldWaitForARefusedStartIsNotified) {
  coreOptions.trainers = 1;
  startServers(2);
  std::vector<Message> handshakes = all("hello");
  handshakes[1] = Message::ofString("bad");
  const auto group = connect(0, 0, startOf(1));
  const std::string error = errorOf(group->joinAll(handshakes));
  EXPECT_EQ(error, "server server-1 refuses: model A is not model B");
  group->leaveAll(error);
  EXPECT_TRUE(servers[0]->core.waitUntilOver(std::chrono::seconds(10)));
  EXPECT_EQ(servers[0]->core.status().message, "trainer 0 failed: " + error);
}

TEST_F(ServerGroupTest, ALongMessageIsCutBeforeServersRefuseIt) {
  startServers(1);
  const auto group = connect(0);
  ASSERT_TRUE(group->joinAll(all("hello")).ok());
  group->leaveAll("long" + std::string(300000, '.') + "end");
  EXPECT_TRUE(servers[0]->core.waitUntilOver(std::chrono::seconds(10)));
  const std::string said = servers[0]->core.status().message;
  EXPECT_THAT(said, StartsWith("trainer 0 failed: long"));
  EXPECT_LT(said.size(), 1 << 17);
}

// This server admitted the process first.
TEST_F(ServerGroupTest, WhoIsRefusedLaterByOneServerJoinsNoOther) {
  addresses.emplace_back("late");
  startServers(1);
  options.retry.joinPatience = options.errorPatience = std::chrono::hours(1);
  std::atomic<bool> isWaiting{false};
  options.reportInterval = Milliseconds(1);
  options.report = [&](const std::string &line) {
    isWaiting = line.find("late") != std::string::npos &&
                line.find("server-1") == std::string::npos;
  };
  std::string seen;
  std::thread waits([&] {
    const auto group = connect(0, 0, startOf(2));
    seen = errorOf(group->joinAll(all("hello")));
    group->leaveAll(seen);
  });
  while (!isWaiting)
    std::this_thread::yield();
  auto other = ServerGroup::connect(*transport, {addresses[1]},
                                    {0, 0, 0, 0, startOf(1)}, {});
  ASSERT_TRUE((*other)->joinAll({Message::ofString("hello")}).ok());
  std::this_thread::sleep_for(Milliseconds(200)); // It greets once more.
  TestServer late(*transport, addresses[0], coreOptions);
  waits.join();
  EXPECT_THAT(seen, HasSubstr("a second start of trainer 0 is refused"));
  EXPECT_THAT(late.application.calls, IsEmpty());
  EXPECT_EQ(late.core.status().state, JobState::Running);
}

// A process gives up after reaching only one server. There it must not use a
// number that the next process, whose number the first server assigns, cannot
// exceed.
TEST_F(ServerGroupTest, AfterOneThatGaveUpTheNextStartIsLetIn) {
  coreOptions.onFailure = FailurePolicy::Wait;
  coreOptions.firstIncarnation = 10;
  startServers(1);
  coreOptions.firstIncarnation = 1000;
  startServers(1);
  std::vector<Message> handshakes = all("hello");
  handshakes[0] = Message::ofString("bad");
  {
    const auto group = connect(0, 0, startOf(1));
    const std::string error = errorOf(group->joinAll(handshakes));
    EXPECT_THAT(error, HasSubstr("model A is not model B"));
    group->leaveAll(error);
  }
  const auto next = connect(0, 0, startOf(2));
  const auto joined = next->joinAll(all("hello"));
  EXPECT_TRUE(joined.ok()) << joined.status().message();
}

// The response of one server was older than the end of the previous
// incarnation.
TEST_F(ServerGroupTest, ATrainerWhoseStepsWereDoneDoesNotJoin) {
  coreOptions.onFailure = FailurePolicy::Wait;
  addresses.emplace_back("late");
  startServers(1);
  options.retry.joinPatience = std::chrono::hours(1);
  // Prevents the session from greeting again by itself.
  options.retry.heartbeatInterval = std::chrono::hours(1);
  std::atomic<bool> isWaiting{false};
  options.reportInterval = Milliseconds(1);
  options.report = [&](const std::string &line) {
    isWaiting = line.find("late") != std::string::npos &&
                line.find("server-1") == std::string::npos;
  };
  std::string seen;
  std::thread waits([&] {
    const auto group = connect(0, 0, startOf(2));
    seen = errorOf(group->joinAll(all("hello")));
  });
  while (!isWaiting)
    std::this_thread::yield();
  // A previous incarnation completes everything at one server, then at the
  // other.
  TestServer late(*transport, "elsewhere", coreOptions);
  for (const std::string &address : {addresses[1], std::string("elsewhere")}) {
    auto first = ServerGroup::connect(*transport, {address},
                                      {0, 0, 0, 0, startOf(1)}, {});
    ASSERT_TRUE((*first)->joinAll({Message::ofString("hello")}).ok());
    (*first)->leaveAll("");
  }
  const auto opened = transport->listen(addresses[0], late.core.handler());
  waits.join();
  EXPECT_THAT(seen, HasSubstr("its part is done"));
  EXPECT_THAT(late.application.calls, ElementsAre("join0"));
  EXPECT_THAT(servers[0]->application.calls, ElementsAre("join0"));
}

TEST_F(ServerGroupTest, AStartThatLeftAllServersIsNotDoneAgain) {
  coreOptions.onFailure = FailurePolicy::Wait;
  startServers(2);
  {
    const auto first = connect(0, 0, startOf(1));
    ASSERT_TRUE(first->joinAll(all("hello")).ok());
    first->leaveAll("");
  }
  EXPECT_THAT(errorOf(connect(0, 0, startOf(2))->joinAll(all("hello"))),
              HasSubstr("its part is done"));
}

TEST(SavePlan, OnlyMetricsThatExistAreDecoded) {
  const auto plan = [](int32_t kind, double parameter, size_t count = 1) {
    SavePlan of;
    of.metrics.assign(count, {"m", kind, parameter});
    return SavePlan::decode(of.encode());
  };
  const Expected<SavePlan> good = plan(PDL_METRIC_AUC, 4096);
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(good->metrics.size(), 1u);
  // Sums of that many buckets would need all memory.
  EXPECT_FALSE(plan(PDL_METRIC_AUC, 1e18).ok());
  EXPECT_FALSE(plan(12345, 0).ok());
  EXPECT_FALSE(plan(-1, 0).ok());
  EXPECT_FALSE(plan(PDL_METRIC_AUC, 4096, 5000).ok());
  const std::string text = [] {
    SavePlan of;
    of.metrics = {{"m", PDL_METRIC_AUC, 4096}};
    return of.encode();
  }();
  // A number that has the right value only if it is cut to 32 bits.
  const std::string kind = std::to_string(PDL_METRIC_AUC);
  std::string large = text;
  const size_t at = large.find("\"m\"," + kind);
  ASSERT_NE(at, std::string::npos) << text;
  large.replace(at + 4, kind.size(),
                std::to_string((int64_t(1) << 32) + PDL_METRIC_AUC));
  EXPECT_FALSE(SavePlan::decode(large).ok());
  EXPECT_FALSE(SavePlan::decode("{}").ok());
}

} // namespace
