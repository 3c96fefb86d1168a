//===- PushQueueTest.cpp - Pushes during a worker's steps -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/PushQueue.h"

#include "Support/BlockProgram.h"
#include "pdlrt/Server/RoundPolicy.h"
#include "pdlrt/Server/ServerCore.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <thread>

using namespace pdlrt;

namespace {

constexpr int32_t servers = 2;

/// Stores the pushes of trainer 0. Responds to a push after trainer 1 has sent
/// a request too.
class Keeping final : public ServerApplication {
public:
  explicit Keeping(const ExchangeLayout &layout) : layout(layout) {}
  Expected<Message> greet(const Envelope &, const Message &) override {
    return Message::ofString("hello");
  }
  Expected<Message> join(const Envelope &, const Message &) override {
    return Message::ofString("welcome");
  }
  bool isOfJob(const Message &) const override { return true; }
  bool mayBeOfJob(const Message &) const override { return true; }
  Expected<StepFacts> check(const Envelope &, const Message &) override {
    return StepFacts();
  }
  const RoundPolicy &roundPolicy() const override { return roundsOfSteps(); }
  Expected<Message> handle(const Envelope &, Message) override {
    return Status::internal("all requests are of rounds");
  }
  Status take(const Envelope &request, Message payload, Turn) override {
    if (request.trainer == 0)
      pushes.push_back(std::move(payload));
    return {};
  }
  Status closeRound(MessageKind) override { return {}; }
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override {
    return std::vector<Message>(requests.size(),
                                ExchangeWriter(layout, {}).finish());
  }

  const ExchangeLayout &layout;
  std::vector<Message> pushes;
};

/// Gradients of a step, in memory that the next step reuses.
struct Step {
  std::vector<float> w, b, rows[2];
  std::vector<int64_t> keys[2];
  std::vector<const void *> pointers[2];
  std::vector<void *> places[2];

  PartialSum fill(int number) {
    w.assign(900, 0.1f * float(number) + 0.3f);
    b.assign(7, -0.7f * float(number));
    PartialSum sum;
    sum.present = true;
    sum.objectives = {{0.5 * number, 2.0 + number}};
    sum.blocks.resize(4);
    sum.blocks[0].dense = w.data();
    sum.blocks[1].dense = b.data();
    for (int t = 0; t < 2; ++t) {
      const size_t width = t == 0 ? 4 : 2;
      keys[t].clear();
      // Some keys occur in all steps, some in one.
      for (int64_t k = 0; k < 20; ++k)
        keys[t].push_back(k < 8 ? k * 31 : 1000 * number + k);
      rows[t].assign(keys[t].size() * width, 0.01f * float(number) + 0.2f);
      pointers[t].clear();
      for (size_t k = 0; k < keys[t].size(); ++k)
        pointers[t].push_back(rows[t].data() + k * width);
      places[t].assign(keys[t].size(), rows[t].data());
      sum.blocks[2 + t] = {nullptr, int64_t(keys[t].size()), keys[t].data(),
                           places[t].data(), pointers[t].data()};
    }
    return sum;
  }
  void spoil() {
    for (std::vector<float> *values : {&w, &b, &rows[0], &rows[1]})
      values->assign(values->size(), 99);
    for (std::vector<int64_t> &own : keys)
      own.assign(own.size(), -1);
  }
};

class PushQueueTest : public testing::Test {
protected:
  PushQueueTest() {
    for (int32_t s = 0; s < servers; ++s) {
      addresses.push_back("server-" + std::to_string(s));
      applications.push_back(std::make_unique<Keeping>(layout));
      ServerCoreOptions options;
      options.trainers = 2;
      cores.push_back(std::make_unique<ServerCore>(options, *applications[s],
                                                   transport->clock()));
      auto opened = transport->listen(addresses[s], cores[s]->handler());
      EXPECT_TRUE(opened.ok());
      listeners.push_back(std::move(*opened));
    }
    group = join(0);
    other = join(1);
  }
  std::unique_ptr<ServerGroup> join(uint32_t trainer) {
    auto joined =
        ServerGroup::connect(*transport, addresses, {trainer, 0, 1, 0, {}}, {});
    EXPECT_TRUE(joined.ok());
    EXPECT_TRUE(
        (*joined)
            ->joinAll(std::vector<Message>(servers, Message::ofString("hello")))
            .ok());
    return std::move(*joined);
  }
  /// Makes all servers respond to one push.
  void respondToOne() {
    EXPECT_TRUE(
        other->sendAll(MessageKind::Exchange, std::vector<Message>(servers))
            .ok());
  }
  /// Sums of a push over all servers.
  struct Pushed {
    ExchangeHead head;
    ObjectiveSums loss;
    std::vector<float> w = std::vector<float>(900);
    std::map<int64_t, float> rows[2];
  };
  Pushed pushed(size_t index) {
    Pushed result;
    for (int32_t s = 0; s < servers; ++s) {
      auto message = ExchangeMessage::decode(applications[s]->pushes.at(index),
                                             layout.channelCount());
      EXPECT_TRUE(message.ok()) << message.status().message();
      result.head = message->head();
      const auto loss =
          message->sectionOf<double>(layout.find(PDL_CHANNEL_LOSS, -1));
      result.loss = {loss[0], loss[1]};
      layout.copyBlocks(s, layout.find(PDL_CHANNEL_GRADIENT, BlockW), *message,
                        result.w.data());
      for (int t = 0; t < 2; ++t) {
        const int32_t table = t == 0 ? BlockLazy : BlockAll;
        const auto keys =
            message->sectionOf<int64_t>(layout.find(PDL_CHANNEL_KEYS, table));
        const auto rows = message->sectionOf<float>(
            layout.find(PDL_CHANNEL_ROW_GRADIENT, table));
        EXPECT_EQ(rows.size(), keys.size() * (t == 0 ? 4 : 2));
        for (size_t k = 0; k < keys.size(); ++k)
          result.rows[t][keys[k]] = rows[k * (t == 0 ? 4 : 2)];
      }
    }
    return result;
  }

  const BlockProgram program{{PDL_F32, false, PDL_MODE_ASYNC}};
  const Placement placement = *Placement::compute(
      program.descriptor(), servers, 2, PlacementPolicy::LeastLoaded);
  const ExchangeLayout layout =
      *ExchangeLayout::create(program.descriptor(), BlockTrain, placement);
  RealClock clock;
  std::unique_ptr<Transport> transport = createInProcessTransport(clock);
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<Keeping>> applications;
  std::vector<std::unique_ptr<ServerCore>> cores;
  std::vector<std::unique_ptr<Listener>> listeners;
  std::unique_ptr<ServerGroup> group, other;
  Scheduler scheduler{2};
};

} // namespace

TEST_F(PushQueueTest, StepsMergeWhileServersAreBusy) {
  auto queue = PushQueue::create(program.descriptor(), BlockTrain, placement,
                                 *group, scheduler, {1, 3});
  ASSERT_TRUE(queue.ok()) << queue.status().message();
  Step step;
  const auto push = [&](int number) {
    const Status status = (*queue)->push(step.fill(number), false);
    EXPECT_TRUE(status.ok()) << status.message();
    step.spoil();
  };
  push(1);
  push(2);
  push(3);
  EXPECT_FALSE((*queue)->isEmpty());
  // The fourth step fills the push that merges steps, and waits for space.
  std::atomic<bool> isSent = false;
  std::thread worker([&] {
    push(4);
    isSent = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(isSent);
  respondToOne();
  worker.join();
  std::thread draining([&] { EXPECT_TRUE((*queue)->drain().ok()); });
  respondToOne();
  draining.join();
  EXPECT_TRUE((*queue)->isEmpty());

  ASSERT_EQ(applications[0]->pushes.size(), 2U);
  const Pushed first = pushed(0), merged = pushed(1);
  EXPECT_TRUE(first.head.ownKeys && first.head.contributes);
  EXPECT_EQ(first.head.steps, 1U);
  EXPECT_EQ(merged.head.steps, 3U);
  EXPECT_EQ(first.loss.weight, 3);
  EXPECT_EQ(merged.loss.weight, 4 + 5 + 6);
  EXPECT_EQ(merged.loss.loss, 1 + 1.5 + 2);
  // Add gradients in the order of steps.
  const auto dense = [](int number) { return 0.1f * float(number) + 0.3f; };
  const auto row = [](int number) { return 0.01f * float(number) + 0.2f; };
  EXPECT_EQ(first.w, std::vector<float>(900, dense(1)));
  EXPECT_EQ(merged.w,
            std::vector<float>(900, (dense(2) + dense(3)) + dense(4)));
  for (int t = 0; t < 2; ++t) {
    std::map<int64_t, float> one, three;
    for (int64_t k = 0; k < 20; ++k) {
      if (k < 8) {
        one[k * 31] = row(1);
        three[k * 31] = (row(2) + row(3)) + row(4);
        continue;
      }
      one[1000 + k] = row(1);
      for (int number = 2; number <= 4; ++number)
        three[1000 * number + k] = row(number);
    }
    EXPECT_EQ(first.rows[t], one);
    EXPECT_EQ(merged.rows[t], three);
  }
  const BackgroundCosts costs = (*queue)->costs().background;
  EXPECT_EQ(costs.pushes, 2);
  EXPECT_EQ(costs.pushedSteps, 4);
  EXPECT_GT(costs.pushWait, 0);
  // Each line of costs names its server.
  ASSERT_EQ((*queue)->costs().servers.size(), size_t(servers));
  EXPECT_EQ((*queue)->costs().servers[servers - 1].name,
            placement.nameOf(servers - 1));
}

TEST_F(PushQueueTest, WhatIsLeftLeavesWhereAllHasToArrive) {
  auto queue = PushQueue::create(program.descriptor(), BlockTrain, placement,
                                 *group, scheduler, {1, 8});
  ASSERT_TRUE(queue.ok()) << queue.status().message();
  Step step;
  for (int number = 1; number <= 3; ++number)
    ASSERT_TRUE((*queue)->push(step.fill(number), false).ok());
  std::thread draining([&] { EXPECT_TRUE((*queue)->drain().ok()); });
  respondToOne();
  respondToOne();
  draining.join();
  EXPECT_TRUE((*queue)->isEmpty());
  EXPECT_EQ(pushed(1).head.steps, 2U);
}
