//===- StateServerTest.cpp - Common behavior of all servers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneProcess.h"

#include "pdlrt/Checkpoint/State.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gmock/gmock.h>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

TEST(StateServer, PullsReadWithoutInserting) {
  std::mt19937 random(6);
  ServerJob<float> job({}, 2, 1, PlacementPolicy::LeastLoaded, 2);
  Reference<float> local({});
  std::vector<Gradients<float>> now = randomGradients<float>(1, random);
  now[0].present = true;
  ASSERT_TRUE(job.step({}, now, random).ok());
  ASSERT_TRUE(job.step(now, {}, random).ok());
  local.step(now);
  // Rows of a step that is not applied yet are absent, as in a save.
  std::vector<Gradients<float>> following = randomGradients<float>(1, random);
  following[0].present = true;
  ASSERT_TRUE(job.step({}, following, random).ok());

  const ExchangeLayout &layout = job.layout(BlockEvaluate);
  // Every second key is unknown, and so are those of the next step.
  std::vector<int64_t> keys[2];
  for (int i = 0; i < 2; ++i)
    for (int64_t key : now[0].keys[i]) {
      keys[i].push_back(key);
      keys[i].push_back(key ^ (int64_t(1) << 50));
    }
  for (int i = 0; i < 2; ++i)
    for (int64_t key : following[0].keys[i])
      if (std::ranges::count(now[0].keys[i], key) == 0)
        keys[i].push_back(key);
  for (int s = 0; s < 2; ++s) {
    ExchangeWriter writer(layout, {.allValues = true});
    KeyRouter routers[2];
    std::vector<int64_t> counts(layout.channelCount());
    for (int i = 0; i < 2; ++i) {
      const int32_t table = i == 0 ? BlockLazy : BlockAll;
      routers[i].assign(job.map(), table, int64_t(keys[i].size()),
                        keys[i].data());
      const auto own = routers[i].keysOf(s);
      writer.addCopy(layout.find(PDL_CHANNEL_KEYS, table), own.data(),
                     own.size_bytes());
      counts[layout.find(PDL_CHANNEL_ROWS, table)] = int64_t(own.size());
    }
    const Message payload = writer.finish();
    const Envelope head = {MessageKind::Pull, 0, 0, 1, 1, 0};
    const Status status = job.server(s).check(head, payload).status();
    ASSERT_TRUE(status.ok()) << status.message();
    auto message = ExchangeMessage::decode(*job.server(s).handle(head, payload),
                                           layout.channelCount());
    ASSERT_TRUE(message.ok());
    const Status fits = layout.check(ExchangeForm::State, s, *message, counts);
    ASSERT_TRUE(fits.ok()) << fits.message();
    EXPECT_EQ(message->section(layout.find(PDL_CHANNEL_VALUE, BlockW)).size(),
              size_t(job.map().rowCountOf(BlockW, s)) * 12);
    for (int i = 0; i < 2; ++i) {
      const int32_t table = i == 0 ? BlockLazy : BlockAll;
      const size_t width = i == 0 ? 4 : 2;
      const auto own = routers[i].keysOf(s);
      const auto rows =
          message->sectionOf<float>(layout.find(PDL_CHANNEL_ROWS, table));
      const auto missing =
          message->sectionOf<int64_t>(layout.find(PDL_CHANNEL_KEYS, table));
      size_t next = 0;
      for (size_t k = 0; k < own.size(); ++k) {
        std::vector<float> wanted(width);
        void *row = nullptr;
        TableScratch scratch;
        if (local.model.table(table)->find(1, &own[k], &row, scratch) == 0) {
          std::memcpy(wanted.data(), row, width * sizeof(float));
        } else {
          ASSERT_LT(next, missing.size());
          EXPECT_EQ(missing[next++], int64_t(k));
          if (table == BlockLazy) // the other table has unknown(zero)
            local.model.table(table)->initialValue(own[k], wanted.data());
        }
        EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), &rows[k * width]));
      }
      EXPECT_EQ(next, missing.size());
      EXPECT_GT(next, 0u);
    }
  }
  local.insert(following);
  expectSame(job, local);
}

TEST(StateServer, SumsGoOverAllTrainersInRankOrder) {
  std::mt19937 random(7);
  ServerJob<float> job({}, 1, 3, PlacementPolicy::LeastLoaded, 1);
  // Another order would give another sum.
  const double sums[] = {1e16, 1, -1e16};
  std::vector<std::vector<Message>> payloads, responses;
  for (int t = 0; t < 3; ++t)
    payloads.push_back({encodeReduce({{1, int64_t(1) << t}, {sums[t]}})});
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(
        job.round(MessageKind::Reduce, payloads, responses, random).ok());
    for (const Message &response : responses[0])
      EXPECT_EQ(*decodeReduce(response),
                (ReduceVectors{{3, 7}, {(1e16 + 1) - 1e16}}));
  }
  const Envelope head = {MessageKind::Reduce, 0, 0, 1, 1, 0};
  ASSERT_TRUE(job.server(0).check(head, payloads[0][0]).ok());
  EXPECT_THAT(
      job.server(0)
          .check({MessageKind::Reduce, 1, 0, 1, 1, 0}, encodeReduce({{1}, {}}))
          .status()
          .message(),
      HasSubstr("gives 1 counts and 0 sums, trainer 0 2 and 1"));
}

TEST(StateServer, JoinsAreCompared) {
  ServerJob<float> job({}, 2, 3, PlacementPolicy::LeastLoaded, 1);
  Handshake trainer = Handshake::of(job.descriptor(), job.map());
  trainer.serverRank = 1;
  trainer.trainers = 3;
  trainer.workers = 2;
  trainer.seed = 5;
  auto join = [&](const Handshake &handshake) {
    return job.server(1).join({MessageKind::Join, 0, 0, 1, 0, 0},
                              encodeHandshake(handshake));
  };
  // The server has its own folder.
  EXPECT_THAT(join(trainer).status().message(),
              HasSubstr("nothing would be saved"));
  trainer.checkpoint = testing::TempDir();
  Expected<Message> response = join(trainer);
  ASSERT_TRUE(response.ok()) << response.status().message();
  Handshake own = trainer;
  own.checkpoint.clear();
  EXPECT_EQ(*decodeHandshake(*response), own);
  // The first trainer has set the number of workers.
  trainer.workers = 1;
  EXPECT_THAT(join(trainer).status().message(),
              HasSubstr("(--replicas): 1, the server 2"));
  trainer.workers = 2;
  trainer.serverRank = 0;
  EXPECT_THAT(join(trainer).status().message(), HasSubstr("server rank 0"));
  EXPECT_FALSE(
      job.server(1)
          .join({MessageKind::Join, 0, 0, 1, 0, 0}, Message::ofString("hello"))
          .ok());
}

// Covers trainers that were started for this job with a wrong flag, and those
// that may have been.
TEST(StateServer, RefusedTrainersAreOfTheJobOrNot) {
  ServerJob<float> job({}, 1, 3, PlacementPolicy::LeastLoaded, 1);
  const auto judge = [&](const std::function<void(Handshake &)> &change) {
    Handshake trainer = Handshake::of(job.descriptor(), job.map());
    change(trainer);
    const Message message = encodeHandshake(trainer);
    return std::pair(job.server(0).isOfJob(message),
                     job.server(0).mayBeOfJob(message));
  };
  const auto ofJob = std::pair(true, true), perhaps = std::pair(false, true),
             stranger = std::pair(false, false);
  EXPECT_EQ(judge([](Handshake &is) { is.seed = 9; }), ofJob);
  EXPECT_EQ(judge([](Handshake &is) {
              is.mode = PDL_MODE_ASYNC;
              is.wireFingerprint = 9;
            }),
            ofJob);
  EXPECT_EQ(judge([](Handshake &is) { is.trainingFingerprint = 9; }), perhaps);
  EXPECT_EQ(judge([](Handshake &is) { is.model = "other"; }), perhaps);
  EXPECT_EQ(judge([](Handshake &is) { is.job = "other"; }), stranger);
  EXPECT_TRUE(
      job.server(0).mayBeOfJob(Message::ofString("of another version")));
}
