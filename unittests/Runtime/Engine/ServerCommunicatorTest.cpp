//===- ServerCommunicatorTest.cpp - Steps with remote state ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trainers in threads share one state without messages. The tests cover the
// order of a trainer's steps, not the communication with servers.
//
//===----------------------------------------------------------------------===//

#include "Support/GroupBatches.h"
#include "Support/HandWrittenProgram.h"
#include "Support/ModelBytes.h"
#include "Support/NaiveTrainer.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Engine/ServerCommunicator.h"
#include "pdlrt/State/Updater.h"

#include <condition_variable>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

constexpr uint64_t seed = 17;

/// State that all trainers share. The last trainer of a round does its work for
/// all.
class SharedState {
public:
  SharedState(const pdl_descriptor &descriptor, int trainers)
      : model(descriptor, seed), scheduler(1), program(descriptor.programs[0]),
        blocks(gradientBlocks(descriptor, program)),
        updater(model, program, scheduler), roundRequests(trainers),
        mirrors(trainers) {}

  Expected<RoundOutcome> exchange(int rank, const RoundRequest &roundRequest,
                                  Model &mirror) {
    std::unique_lock lock(mutex);
    roundRequests[rank] = &roundRequest;
    mirrors[rank] = &mirror;
    const int64_t round = rounds;
    if (++arrived == int(roundRequests.size())) {
      arrived = 0;
      ++rounds;
      close();
      changed.notify_all();
    } else {
      changed.wait(lock, [&] { return rounds != round; });
    }
    return outcome;
  }

  /// Copies the rows of keys, and reports which have none.
  void pull(const RowRequest &request, uint8_t *unknown) {
    const std::lock_guard lock(mutex);
    EmbeddingTable &table = *model.table(SymbolTable);
    TableScratch scratch;
    for (int64_t i = 0; i < request.keyCount; ++i) {
      void *row = nullptr;
      unknown[i] = table.find(1, request.keys + i, &row, scratch) != 0;
      char *to = static_cast<char *>(request.rows) + i * table.valueBytes();
      if (unknown[i])
        table.initialValue(request.keys[i], to);
      else
        std::memcpy(to, row, table.valueBytes());
    }
  }

  Model model;

private:
  void close() {
    std::vector<PartialSum> parts;
    outcome = {};
    for (const RoundRequest *roundRequest : roundRequests) {
      parts.push_back(roundRequest->sum ? *roundRequest->sum : PartialSum());
      outcome.sendersWithNextBatch += roundRequest->hasNextBatch;
      outcome.stop |= roundRequest->stop;
    }
    std::vector<std::vector<void *>> rows(parts.size());
    for (size_t t = 0; t < parts.size(); ++t) {
      if (!parts[t].present)
        continue;
      BlockGradient &block = parts[t].blocks[2];
      EXPECT_EQ(std::vector<int64_t>(block.keys, block.keys + block.keyCount),
                asked[t]);
      rows[t] = rowsOf(block.keyCount, block.keys);
      block.rows = rows[t].data();
    }
    EXPECT_TRUE(sum.assign(blocks, parts, scheduler).ok());
    if (sum.result().present && sum.result().hasWeight())
      EXPECT_TRUE(updater.apply(sum.result()).ok());
    outcome.lossSum = sum.result().objectives[0].loss;
    outcome.weightSum = sum.result().objectives[0].weight;
    asked.resize(roundRequests.size());
    for (size_t t = 0; t < roundRequests.size(); ++t) {
      const RowRequest &request = roundRequests[t]->next[0];
      asked[t].assign(request.keys, request.keys + request.keyCount);
      std::vector<void *> found = rowsOf(request.keyCount, request.keys);
      const size_t bytes = model.table(SymbolTable)->valueBytes();
      for (int64_t i = 0; i < request.keyCount; ++i)
        std::memcpy(static_cast<char *>(request.rows) + i * bytes, found[i],
                    bytes);
      for (int32_t s : {SymbolWeights, SymbolBias}) {
        const pdl_symbol &symbol = model.descriptor().symbols[s];
        std::memcpy(mirrors[t]->value(s), model.value(s),
                    elementCount(symbol) * elementSize(symbol));
      }
    }
  }

  std::vector<void *> rowsOf(int64_t count, const int64_t *keys) {
    std::vector<void *> rows(count);
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model.table(SymbolTable)
                    ->findOrInsert(count, keys, rows.data(), scratch, inserted)
                    .ok());
    return rows;
  }

  Scheduler scheduler;
  const pdl_program &program;
  std::vector<GradientBlock> blocks;
  Updater updater;
  RunningSum sum;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<const RoundRequest *> roundRequests;
  std::vector<Model *> mirrors;
  /// Keys of the last request of each trainer.
  std::vector<std::vector<int64_t>> asked;
  int arrived = 0;
  int64_t rounds = 0;
  RoundOutcome outcome;
};

/// Receives gradients early in every other step, and compares them with the
/// sums that follow.
class EarlyWatch final : public EarlyGradients {
public:
  bool beginStep() override {
    taken.clear();
    return isTaking = ++steps % 2 == 0;
  }
  void take(int32_t update, const void *sum) noexcept override {
    const std::lock_guard lock(mutex);
    const auto *values = static_cast<const float *>(sum);
    EXPECT_TRUE(
        taken.try_emplace(update, values, std::vector(values, values + 1))
            .second);
  }
  /// Checks that the gradients of a step that was not exchanged are still in
  /// memory.
  void letGo() noexcept override {
    for (const auto &[update, early] : taken)
      EXPECT_EQ(*early.first, early.second.front());
    taken.clear();
    ++timesLetGo;
  }
  size_t heldNow() const { return taken.size(); }
  int timesLetGo = 0;
  void compare(const PartialSum *sum) {
    EXPECT_EQ(taken.size(), sum && isTaking ? 2u : 0u);
    for (const auto &[update, early] : taken) {
      EXPECT_EQ(sum->blocks[update].dense, early.first);
      EXPECT_EQ(*early.first, early.second.front());
    }
    taken.clear();
  }

private:
  std::mutex mutex;
  int64_t steps = 0;
  bool isTaking = false;
  /// Address and first values of the sum of each update.
  std::map<int32_t, std::pair<const float *, std::vector<float>>> taken;
};

class SharedStateClient final : public RemoteState {
public:
  SharedStateClient(SharedState &shared, int rank, Model &mirror)
      : shared(shared), rank(rank), mirror(mirror) {}
  Expected<RoundOutcome> exchange(const RoundRequest &roundRequest) override {
    RoundRequest changed = roundRequest;
    changed.stop |= stopAfter-- == 0;
    if (failAfter-- == 0)
      return Status::invalidArgument("servers are lost");
    watch.compare(roundRequest.sum);
    return shared.exchange(rank, changed, mirror);
  }
  Status pull(const pdl_program &, bool, std::span<const RowRequest> requests,
              std::span<uint8_t *const> unknown) override {
    shared.pull(requests[0], unknown[0]);
    return {};
  }
  ExchangeCosts costsOf(const pdl_program &) const override { return {}; }
  EarlyGradients *early() override { return &watch; }

  /// Number of the exchange in which this trainer requests a stop.
  int64_t stopAfter = -1;
  /// Number of the exchange that fails.
  int64_t failAfter = -1;
  EarlyWatch watch;

private:
  SharedState &shared;
  int rank;
  Model &mirror;
};

struct Shape {
  int trainers, workers;
  bool clipped;
};

class RemoteAgainstLocal : public testing::TestWithParam<Shape> {};

const pdl_descriptor &trainerProgram(bool clipped) {
  return *handWrittenProgram(
      {PDL_F32, PDL_UNTOUCHED_LAZY, clipped, PDL_MODE_SYNC, PDL_ROLE_TRAINER});
}

} // namespace

TEST_P(RemoteAgainstLocal, SameBitsOfStateLossesAndMetrics) {
  const auto [trainers, workers, clipped] = GetParam();
  const pdl_descriptor &local =
      *handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, clipped});
  const pdl_descriptor &remote = trainerProgram(clipped);
  ASSERT_TRUE(checkDescriptor(&remote).ok())
      << checkDescriptor(&remote).message();
  constexpr int epochs = 2, rounds = 18;

  Scheduler scheduler(2);
  Model model(local, seed);
  const std::unique_ptr<Engine> localEngine =
      Engine::createLocal(model, local.programs[0],
                          ReplicaLayout::local(trainers, workers), scheduler);
  Engine &engine = *localEngine;
  std::vector<StepResult> expected;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    GroupBatches<float> batches(ReplicaLayout::local(trainers, workers),
                                rounds);
    ASSERT_TRUE(engine.begin(batches.source()).ok());
    while (true) {
      Expected<std::optional<StepResult>> step = engine.next(false);
      ASSERT_TRUE(step.ok());
      if (!*step)
        break;
      expected.push_back(**step);
    }
  }
  ASSERT_EQ(expected.size(), size_t(epochs * rounds));

  SharedState shared(local, trainers);
  std::vector<int64_t> samples(expected.size());
  std::vector<double> logLoss(2);
  std::mutex mutex;
  std::vector<std::thread> threads;
  // Engines are kept, because metrics are summed in rank order.
  struct Trainer {
    Trainer(const pdl_descriptor &program, const ReplicaLayout &layout,
            SharedState &shared)
        : scheduler(2), mirror(program, 99, StateLocation::Servers),
          state(shared, layout.firstGroup, mirror),
          engine(mirror, program.programs[0], layout, scheduler,
                 createServerCommunicator(mirror, program.programs[0], state)),
          layout(layout) {}
    Scheduler scheduler;
    Model mirror;
    SharedStateClient state;
    Engine engine;
    ReplicaLayout layout;
  };
  std::vector<std::unique_ptr<Trainer>> all;
  for (int rank = 0; rank < trainers; ++rank)
    all.push_back(std::make_unique<Trainer>(
        remote, ReplicaLayout{trainers, workers, rank, 1}, shared));
  for (int rank = 0; rank < trainers; ++rank)
    threads.emplace_back([&, rank] {
      Trainer &trainer = *all[rank];
      size_t done = 0;
      for (int epoch = 0; epoch < epochs; ++epoch) {
        GroupBatches<float> batches(trainer.layout, rounds);
        EXPECT_TRUE(trainer.engine.begin(batches.source()).ok());
        while (true) {
          Expected<std::optional<StepResult>> step = trainer.engine.next(false);
          ASSERT_TRUE(step.ok());
          if (!*step)
            break;
          ASSERT_LT(done, expected.size());
          EXPECT_EQ((*step)->lossSum, expected[done].lossSum);
          EXPECT_EQ((*step)->weightSum, expected[done].weightSum);
          const std::lock_guard lock(mutex);
          samples[done++] += (*step)->samples;
        }
      }
      EXPECT_EQ(done, expected.size());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(stateOf(shared.model), stateOf(model));
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(samples[i], expected[i].samples);
  for (int32_t metric : {1, 2}) {
    double here[2] = {}, there[2] = {};
    engine.replicas().sumMetric(metric, here);
    for (std::unique_ptr<Trainer> &trainer : all)
      trainer->engine.replicas().sumMetric(metric, there);
    EXPECT_EQ(here[0], there[0]);
    EXPECT_EQ(here[1], there[1]);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RemoteAgainstLocal,
                         testing::Values(Shape{1, 1, false}, Shape{1, 2, true},
                                         Shape{2, 1, true}, Shape{2, 2, false},
                                         Shape{3, 2, true}));

// Gradients of a step that was not exchanged may still be in transit.
TEST(ServerCommunicator, EarlyGradientsAreLetGoBeforeTheirMemory) {
  const pdl_descriptor &local =
      *handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, false});
  const pdl_descriptor &remote = trainerProgram(false);
  const ReplicaLayout layout = {1, 2, 0, 1};
  SharedState shared(local, 1);
  Scheduler scheduler(2);
  Model mirror(remote, 99, StateLocation::Servers);
  SharedStateClient state(shared, 0, mirror);
  // Two exchanges are complete: the one that opens the first step, and the one
  // of the first step.
  state.failAfter = 2;
  auto engine = std::make_unique<Engine>(
      mirror, remote.programs[0], layout, scheduler,
      createServerCommunicator(mirror, remote.programs[0], state));
  GroupBatches<float> batches(layout, 4);
  ASSERT_TRUE(engine->begin(batches.source()).ok());
  ASSERT_TRUE(engine->next(false).ok());
  EXPECT_FALSE(engine->next(false).ok());
  EXPECT_EQ(state.watch.heldNow(), 2u);
  engine.reset();
  EXPECT_EQ(state.watch.timesLetGo, 1);
  EXPECT_EQ(state.watch.heldNow(), 0u);
}

// One trainer is requested to stop, and all end after the same step.
TEST(ServerCommunicator, AllStopAfterTheSameStep) {
  constexpr int trainers = 3;
  SharedState shared(*handWrittenProgram({}), trainers);
  const pdl_descriptor &remote = trainerProgram(false);
  std::vector<int> steps(trainers);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < trainers; ++rank)
    threads.emplace_back([&, rank] {
      const ReplicaLayout layout = {trainers, 1, rank, 1};
      Scheduler scheduler(1);
      Model mirror(remote, 1, StateLocation::Servers);
      SharedStateClient state(shared, rank, mirror);
      // The first exchange carries only keys.
      state.stopAfter = rank == 1 ? 5 : -1;
      Engine engine(
          mirror, remote.programs[0], layout, scheduler,
          createServerCommunicator(mirror, remote.programs[0], state));
      GroupBatches<float> batches(layout, 20);
      EXPECT_TRUE(engine.begin(batches.source()).ok());
      while (!engine.stopped()) {
        Expected<std::optional<StepResult>> step = engine.next(false);
        ASSERT_TRUE(step.ok() && *step);
        ++steps[rank];
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(steps, std::vector<int>(trainers, 5));
}

// The last step of a run reads nothing ahead.
TEST(ServerCommunicator, LastStepReadsNothing) {
  SharedState shared(*handWrittenProgram({}), 1);
  const pdl_descriptor &remote = trainerProgram(false);
  Scheduler scheduler(1);
  Model mirror(remote, 1, StateLocation::Servers);
  SharedStateClient state(shared, 0, mirror);
  Engine engine(mirror, remote.programs[0], {}, scheduler,
                createServerCommunicator(mirror, remote.programs[0], state));
  GroupBatches<float> batches({}, 20);
  int reads = 0;
  ASSERT_TRUE(engine
                  .begin([&] {
                    ++reads;
                    return batches.read();
                  })
                  .ok());
  EXPECT_EQ(reads, 1);
  ASSERT_TRUE(engine.next(false).ok());
  EXPECT_EQ(reads, 2);
  ASSERT_TRUE(engine.next(true).ok());
  EXPECT_EQ(reads, 2);
  Expected<std::optional<StepResult>> after = engine.next(false);
  ASSERT_TRUE(after.ok());
  EXPECT_FALSE(after->has_value());
}

namespace {

/// Lists the rounds of an engine: the samples of their steps, or -1 for a round
/// that sends only keys.
class RoundList final : public RequestObserver {
public:
  void beforeRound(const PendingStep *step) override {
    rounds.push_back(step ? step->samples : -1);
  }
  void beforeRequest(int /*worker*/, const WorkerMark & /*mark*/) override {
    ADD_FAILURE() << "workers step together";
  }
  std::vector<int64_t> rounds;
};

} // namespace

// A restart finishes the step whose gradients its previous incarnation sent.
TEST(ServerCommunicator, ResumesAtAPendingStep) {
  SharedState shared(*handWrittenProgram({}), 1);
  const pdl_descriptor &remote = trainerProgram(false);
  Scheduler scheduler(1);
  Model mirror(remote, 1, StateLocation::Servers);
  SharedStateClient state(shared, 0, mirror);
  RoundList list;
  GroupBatches<float> batches({}, 20);
  {
    Engine engine(mirror, remote.programs[0], {}, scheduler,
                  createServerCommunicator(mirror, remote.programs[0], state));
    engine.recovery()->observe(&list);
    ASSERT_TRUE(engine.begin(batches.source()).ok());
    ASSERT_TRUE(engine.next(false).ok());
    EXPECT_EQ(list.rounds, (std::vector<int64_t>{-1, 16}));
  }
  list.rounds.clear();
  Engine engine(mirror, remote.programs[0], {}, scheduler,
                createServerCommunicator(mirror, remote.programs[0], state));
  RecoveryParticipant &participant = *engine.recovery();
  EXPECT_FALSE(participant.resume(batches.source(), WorkersAt()).ok());
  participant.observe(&list);
  ASSERT_TRUE(participant.resume(batches.source(), PendingStep{7, false}).ok());
  for (const int64_t samples : {7, 16}) {
    const Expected<std::optional<StepResult>> step = engine.next(false);
    ASSERT_TRUE(step.ok() && *step);
    EXPECT_EQ((*step)->samples, samples);
  }
  EXPECT_EQ(list.rounds, (std::vector<int64_t>{7, 16}));
}

TEST(ServerCommunicator, FrozenProgramsSeeWhatLocalOnesSee) {
  const pdl_descriptor &local = *handWrittenProgram({});
  const pdl_descriptor &remote = trainerProgram(false);
  SharedState shared(local, 1);
  Scheduler scheduler(2);
  Model mirror(remote, 1, StateLocation::Servers);
  SharedStateClient state(shared, 0, mirror);
  Engine train(mirror, remote.programs[0], {}, scheduler,
               createServerCommunicator(mirror, remote.programs[0], state));
  GroupBatches<float> some({}, 3);
  ASSERT_TRUE(train.begin(some.source()).ok());
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(train.next(false).ok());

  const int64_t rows = shared.model.table(SymbolTable)->size();
  const std::unique_ptr<Engine> localEngine = Engine::createLocal(
      shared.model, local.programs[1], ReplicaLayout::local(1, 2), scheduler);
  Engine &here = *localEngine;
  const ReplicaLayout layout = {1, 2, 0, 1};
  Engine there(mirror, remote.programs[1], layout, scheduler,
               createServerCommunicator(mirror, remote.programs[1], state));
  Samples<float> a = makeSamples<float>(1, 20, 60),
                 b = makeSamples<float>(2, 30, 60);
  StepInput inputs[] = {a.input(), b.input()};
  Expected<StepResult> expected = here.step(inputs);
  ASSERT_TRUE(expected.ok());
  int reads = 0;
  ASSERT_TRUE(there
                  .begin([&]() -> Expected<std::span<const StepInput>> {
                    return reads++ ? std::span<const StepInput>()
                                   : std::span<const StepInput>(inputs);
                  })
                  .ok());
  Expected<std::optional<StepResult>> step = there.next(false);
  ASSERT_TRUE(step.ok() && *step);
  EXPECT_EQ((*step)->lossSum, expected->lossSum);
  EXPECT_EQ((*step)->samples, 50);
  const PullCounts known = here.replicas().pullCounts(),
                   counts = there.replicas().pullCounts();
  EXPECT_GT(known.unknownInitial, 0);
  EXPECT_LT(known.unknownInitial, known.ids);
  EXPECT_EQ(counts.unknownInitial, known.unknownInitial);
  EXPECT_EQ(counts.ids, known.ids);
  EXPECT_EQ(shared.model.table(SymbolTable)->size(), rows);
  step = there.next(false);
  ASSERT_TRUE(step.ok());
  EXPECT_FALSE(step->has_value());
}

// A table that is looked up twice has two lists of keys, but one channel.
TEST(ServerCommunicator, RefusesSeveralLookupsOfATable) {
  const pdl_descriptor &remote = trainerProgram(false);
  EXPECT_TRUE(checkRemoteProgram(remote, remote.programs[0]).ok());
  pdl_program program = remote.programs[0];
  const pdl_lookup_descriptor lookups[] = {{SymbolTable}, {SymbolTable}};
  program.lookup_count = 2;
  program.lookups = lookups;
  EXPECT_NE(checkRemoteProgram(remote, program).message().find("@emb"),
            std::string::npos);
}
