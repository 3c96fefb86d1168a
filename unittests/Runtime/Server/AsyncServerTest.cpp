//===- AsyncServerTest.cpp - Each push is a step --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneProcess.h"
#include "Support/ErasedRow.h"

#include <gmock/gmock.h>
#include <limits>
#include <map>
#include <utility>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;

TEST(AsyncServer, OneWorkerIsOneProcess) {
  std::mt19937 random(8);
  for (int32_t servers : {1, 2, 3}) {
    const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
    Reference<float> local(variant);
    ServerJob<float> job(variant, servers, 1, PlacementPolicy::LeastLoaded, 2);
    std::vector<Gradients<float>> now = randomGradients<float>(1, random);
    now[0].present = true;
    ASSERT_TRUE(job.asyncStep(0, {}, &now[0]).ok());
    local.insert(now);
    for (int step = 0; step < 15; ++step) {
      std::vector<Gradients<float>> next = randomGradients<float>(1, random);
      next[0].present = true;
      const Status status = job.asyncStep(0, now[0], &next[0]);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(now);
      local.insert(next);
      expectSame(job, local);
      expectResponses(job, local, next[0]);
      now = std::move(next);
    }
  }
}

TEST(AsyncServer, EachPushIsAStepOfItsOwn) {
  std::mt19937 random(9);
  const BlockVariant variant = {PDL_F64, false, PDL_MODE_ASYNC};
  Reference<double> local(variant);
  ServerJob<double> job(variant, 2, 3, PlacementPolicy::LeastLoaded, 2);
  std::vector<Gradients<double>> now = randomGradients<double>(3, random);
  for (uint32_t t = 0; t < 3; ++t) {
    now[t].present = true;
    ASSERT_TRUE(job.asyncStep(t, {}, &now[t]).ok());
  }
  local.insert(now);
  for (int step = 0; step < 30; ++step) {
    const uint32_t t = random() % 3;
    std::vector<Gradients<double>> next = randomGradients<double>(1, random);
    next[0].present = true;
    ASSERT_TRUE(job.asyncStep(t, now[t], &next[0]).ok());
    local.step({now[t]});
    local.insert(next);
    expectSame(job, local);
    expectResponses(job, local, next[0]);
    now[t] = next[0];
  }
}

// Pulls and pushes of one worker by two senders. Pushed rows need not be those
// of its last request.
TEST(AsyncServer, PushesWithKeysOfTheirOwnAreSteps) {
  std::mt19937 random(19);
  for (int32_t servers : {1, 3}) {
    const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
    Reference<float> local(variant);
    ServerJob<float> job(variant, servers, 2, PlacementPolicy::LeastLoaded, 2);
    for (int step = 0; step < 15; ++step) {
      std::vector<Gradients<float>> next = randomGradients<float>(1, random);
      next[0].present = true;
      ASSERT_TRUE(job.asyncStep(0, {}, &next[0]).ok());
      local.insert(next);
      expectResponses(job, local, next[0]);
      // Some of the keys were never requested.
      std::vector<Gradients<float>> pushed = randomGradients<float>(1, random);
      pushed[0].present = true;
      const Status status = job.asyncPush(1, pushed[0], 1);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(pushed);
      expectSame(job, local);
    }
  }
}

// Compares the divisor of merged steps with a computation by hand: one step of
// that weight.
TEST(AsyncServer, MergedStepsAreOneStepOfTheirMeanOrTheirSum) {
  std::mt19937 random(20);
  for (const int32_t merge : {PDL_MERGE_MEAN, PDL_MERGE_SUM})
    for (const bool clipped : {false, true}) {
      const BlockVariant variant = {PDL_F32, clipped, PDL_MODE_ASYNC, merge};
      Reference<float> local(variant);
      ServerJob<float> job(variant, 2, 1, PlacementPolicy::LeastLoaded, 1);
      for (uint32_t steps = 1; steps < 9; ++steps) {
        std::vector<Gradients<float>> pushed =
            randomGradients<float>(1, random);
        pushed[0].present = true;
        pushed[0].weight = 6;
        // The norm is far above the limit, so that its value has an effect.
        const double norm = 100;
        const Status status = job.asyncPush(0, pushed[0], steps, norm);
        ASSERT_TRUE(status.ok()) << status.message();
        const bool isSum = merge == PDL_MERGE_SUM;
        pushed[0].weight = isSum ? 6.0 / steps : 6.0;
        local.step(pushed, clipped ? norm * (isSum ? steps * steps : 1) : -1);
        expectSame(job, local);
      }
      EXPECT_GT(job.server(0).costs().mergedSteps, 0);
    }
}

//===----------------------------------------------------------------------===//
// Late gradients
//===----------------------------------------------------------------------===//

namespace {

/// Values from which a sender computes: the state at the time of its response.
struct Seen {
  std::vector<float> w, b;
  std::map<int64_t, std::vector<float>> rows;

  Seen() = default;
  Seen(Reference<float> &local, const Gradients<float> &next) {
    const auto *ofW = static_cast<const float *>(local.model.value(BlockW));
    const auto *ofB = static_cast<const float *>(local.model.value(BlockB));
    w.assign(ofW, ofW + 900);
    b.assign(ofB, ofB + 7);
    const std::vector<void *> found = local.rowsOf(0, next.keys[0]);
    for (size_t k = 0; k < found.size(); ++k) {
      const auto *row = static_cast<const float *>(found[k]);
      rows[next.keys[0][k]].assign(row, row + 4);
    }
  }
};

void compensate(float value, float seen, float &gradient) {
  if (value != seen)
    gradient += 0.5F * (gradient * gradient) * (value - seen);
}

/// Returns the gradients that the rule of BlockProgram receives for a push of
/// weight 1.
std::vector<Gradients<float>> compensated(Reference<float> &local,
                                          const Seen &seen,
                                          Gradients<float> gradients) {
  const auto *w = static_cast<const float *>(local.model.value(BlockW));
  const auto *b = static_cast<const float *>(local.model.value(BlockB));
  for (size_t i = 0; i < gradients.w.size(); ++i)
    compensate(w[i], seen.w[i], gradients.w[i]);
  for (size_t i = 0; i < gradients.b.size(); ++i)
    compensate(b[i], seen.b[i], gradients.b[i]);
  const std::vector<void *> rows = local.rowsOf(0, gradients.keys[0]);
  for (size_t k = 0; k < rows.size(); ++k)
    for (size_t i = 0; i < 4; ++i)
      compensate(static_cast<const float *>(rows[k])[i],
                 seen.rows.at(gradients.keys[0][k])[i],
                 gradients.rows[0][k * 4 + i]);
  return {gradients};
}

Gradients<float> randomGradient(std::mt19937 &random) {
  Gradients<float> result = randomGradients<float>(1, random)[0];
  result.present = true;
  result.weight = 1;
  return result;
}

BlockVariant compensatingVariant(bool clipped = false) {
  BlockVariant variant = {PDL_F32, clipped, PDL_MODE_ASYNC};
  variant.compensates = true;
  return variant;
}

} // namespace

// @b is 0.25 and the learning rate 0.05. A push of 1 changes it to 0.2. A push
// of 2 that was computed at 0.25 becomes 2 + 0.5 * 4 * (0.2 - 0.25) = 1.9.
TEST(AsyncServer, ALateGradientByHand) {
  std::mt19937 random(30);
  ServerJob<float> job(compensatingVariant(), 1, 2,
                       PlacementPolicy::LeastLoaded, 1);
  auto *b = static_cast<float *>(job.server(0).model().value(BlockB));
  std::fill_n(b, 7, 0.25F);
  Gradients<float> first = randomGradient(random), second = first;
  first.b.assign(7, 1);
  second.b.assign(7, 2);
  ASSERT_TRUE(job.asyncStep(0, {}, &first).ok());
  ASSERT_TRUE(job.asyncStep(1, {}, &second).ok());
  const Gradients<float> none;
  ASSERT_TRUE(job.asyncStep(0, first, &none).ok());
  EXPECT_FLOAT_EQ(b[3], 0.2F);
  ASSERT_TRUE(job.asyncStep(1, second, &none).ok());
  EXPECT_FLOAT_EQ(b[3], 0.2F - 0.05F * 1.9F);
}

TEST(AsyncServer, LateGradientsAreCompensated) {
  std::mt19937 random(31);
  constexpr uint32_t trainers = 3;
  // With a clip, rows are updated in shard order.
  for (const bool clipped : {false, true}) {
    Reference<float> local(compensatingVariant(clipped));
    ServerJob<float> job(compensatingVariant(clipped), 2, trainers,
                         PlacementPolicy::LeastLoaded, 2);
    Gradients<float> now[trainers];
    Seen seen[trainers];
    for (uint32_t t = 0; t < trainers; ++t) {
      now[t] = randomGradient(random);
      ASSERT_TRUE(job.asyncStep(t, {}, &now[t]).ok());
      local.insert({now[t]});
      seen[t] = Seen(local, now[t]);
    }
    for (int step = 0; step < 20; ++step) {
      const uint32_t t = random() % trainers;
      const Gradients<float> next = randomGradient(random);
      const Status status = job.asyncStep(t, now[t], &next);
      ASSERT_TRUE(status.ok()) << status.message();
      local.step(compensated(local, seen[t], now[t]), clipped ? 0 : -1);
      local.insert({next});
      expectSame(job, local);
      now[t] = next;
      seen[t] = Seen(local, next);
    }
    for (size_t s = 0; s < job.size(); ++s) {
      // One response for each sender: @w, @b and at most 70 rows.
      EXPECT_GT(job.server(s).costs().seenBytes, 0);
      EXPECT_LE(job.server(s).costs().seenBytes,
                int64_t(trainers) * (907 + 70 * 4) * 4);
    }
  }
}

TEST(AsyncServer, OfOneWorkerNothingIsLate) {
  std::mt19937 random(32);
  Reference<float> local(compensatingVariant());
  ServerJob<float> job(compensatingVariant(), 2, 1,
                       PlacementPolicy::LeastLoaded, 1);
  Gradients<float> now = randomGradient(random);
  ASSERT_TRUE(job.asyncStep(0, {}, &now).ok());
  local.insert({now});
  for (int step = 0; step < 10; ++step) {
    const Gradients<float> next = randomGradient(random);
    ASSERT_TRUE(job.asyncStep(0, now, &next).ok());
    local.step({now});
    local.insert({next});
    expectSame(job, local);
    now = next;
  }
}

// Pulls precede pushes, which carry steps in their order. For a merged push,
// the values of a row are those read by the last of its steps that requested
// the key.
TEST(AsyncServer, PushesDuringStepsAreCompensated) {
  std::mt19937 random(33);
  Reference<float> local(compensatingVariant());
  ServerJob<float> job(compensatingVariant(), 2, 1,
                       PlacementPolicy::LeastLoaded, 2);
  constexpr uint32_t sender = 3;
  const auto pull = [&](Gradients<float> &step, Seen &seen, bool isFirst) {
    step = randomGradient(random);
    Gradients<float> nothing;
    // Only the first request of a pass requests all values.
    nothing.present = false;
    const Status status =
        isFirst ? job.asyncStep(0, nothing, &step) : job.asyncPull(0, step);
    EXPECT_TRUE(status.ok()) << status.message();
    local.insert({step});
    seen = Seen(local, step);
  };
  Gradients<float> a, b, c;
  Seen ofA, ofB, ofC;
  pull(a, ofA, true);
  pull(b, ofB, false);
  for (int turn = 0; turn < 3; ++turn) {
    Status status = job.asyncPush(0, a, 1, 0, sender);
    ASSERT_TRUE(status.ok()) << status.message();
    local.step(compensated(local, ofA, a));
    expectSame(job, local);
    pull(c, ofC, false);
    // Merged from b and c: gradients of b for keys that c does not have.
    Gradients<float> merged = c;
    Seen ofBoth = ofC;
    for (size_t k = 0; k < b.keys[0].size(); ++k)
      if (std::ranges::find(c.keys[0], b.keys[0][k]) == c.keys[0].end()) {
        merged.keys[0].push_back(b.keys[0][k]);
        const auto row = b.rows[0].begin() + ptrdiff_t(k) * 4;
        merged.rows[0].insert(merged.rows[0].end(), row, row + 4);
        ofBoth.rows[b.keys[0][k]] = ofB.rows[b.keys[0][k]];
      }
    pull(a, ofA, false);
    pull(b, ofB, false);
    status = job.asyncPush(0, merged, 2, 0, sender);
    ASSERT_TRUE(status.ok()) << status.message();
    local.step(compensated(local, ofBoth, merged));
    expectSame(job, local);
  }
  // Two steps were pulled, not three.
  EXPECT_FALSE(job.asyncPush(0, a, 3, 0, sender).ok());
}

// Rows that a worker has pulled stay at their addresses until it has pushed
// twice.
TEST(AsyncServer, WorkersPassQuiescentPoints) {
  std::mt19937 random(11);
  const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
  ServerJob<float> job(variant, 1, 2, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  const auto step = [&](uint32_t trainer, bool isFirst) {
    now[trainer].present = true;
    const Gradients<float> pushed = isFirst ? Gradients<float>() : now[trainer];
    ASSERT_TRUE(job.asyncStep(trainer, pushed, &now[trainer]).ok());
  };
  for (uint32_t t : {0, 1})
    step(t, /*isFirst=*/true);
  test::ErasedRow row(*job.server(0).model().table(BlockLazy));
  for (int i = 0; i < 6; ++i)
    step(0, false);
  EXPECT_FALSE(row.isUsedAgain());
  for (int i = 0; i < 4; ++i)
    for (uint32_t t : {0, 1})
      step(t, false);
  EXPECT_TRUE(row.isUsedAgain());
}

// If only updates create rows, no worker holds them. A worker that waits for
// samples does not keep the memory of deleted rows.
TEST(AsyncServer, RowsOfUpdatesWaitForNoWorker) {
  std::mt19937 random(11);
  const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
  ServerJob<float> job(variant, 1, 2, PlacementPolicy::LeastLoaded, 1);
  Model &model = job.server(0).model();
  ASSERT_TRUE(
      model.boundTables({size_t(1) << 30, Eviction::LeastRecent, ""}).ok());
  std::vector<Gradients<float>> now = randomGradients<float>(2, random);
  for (Gradients<float> &each : now) {
    each.present = true;
    each.weight = 2;
  }
  for (uint32_t t : {0, 1})
    ASSERT_TRUE(job.asyncStep(t, {}, &now[t]).ok());
  test::ErasedRow row(*model.table(BlockLazy));
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(job.asyncStep(0, now[0], &now[0]).ok());
  EXPECT_TRUE(row.isUsedAgain());
  // The worker continues with the rows that it has pulled.
  ASSERT_TRUE(job.asyncStep(1, now[1], &now[1]).ok());
}

TEST(AsyncServer, GradientsThatAreNotFiniteAreRefused) {
  std::mt19937 random(10);
  const BlockVariant variant = {PDL_F32, false, PDL_MODE_ASYNC};
  Reference<float> local(variant);
  ServerJob<float> job(variant, 1, 1, PlacementPolicy::LeastLoaded, 1);
  std::vector<Gradients<float>> now = randomGradients<float>(1, random);
  now[0].present = true;
  now[0].weight = 2;
  ASSERT_TRUE(job.asyncStep(0, {}, &now[0]).ok());
  local.insert(now);
  Gradients<float> spoilt = now[0];
  spoilt.rows[0][3] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(job.asyncStep(0, spoilt, nullptr).message(),
              HasSubstr("@lazy, divided by the sum of weights, is not finite"));
  ASSERT_TRUE(job.asyncStep(0, now[0], nullptr).ok());
  local.step(now);
  expectSame(job, local);
}
