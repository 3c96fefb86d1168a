//===- DistributedTest.cpp - Jobs against one process, bit for bit --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/GroupBatches.h"
#include "Support/TestCluster.h"

#include "pdlrt/Engine/Engine.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Transport/LoopbackTransport.h"

#include <gmock/gmock.h>
#include <latch>
#include <thread>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr uint64_t seed = 17;
constexpr int epochs = 2, rounds = 20;

/// Results of one process with all replicas, which trains as long as the jobs
/// of these tests.
struct Reference {
  Reference(const ProgramVariant &variant, int groups, int workers)
      : scheduler(2), model(*handWrittenProgram(variant), seed),
        engineOwner(Engine::createLocal(model, model.descriptor().programs[0],
                                        ReplicaLayout::local(groups, workers),
                                        scheduler)),
        engine(*engineOwner) {
    for (int epoch = 0; epoch < epochs; ++epoch) {
      GroupBatches<float> batches(ReplicaLayout::local(groups, workers),
                                  rounds);
      EXPECT_TRUE(engine.begin(batches.source()).ok());
      while (true) {
        Expected<std::optional<StepResult>> step = engine.next(false);
        EXPECT_TRUE(step.ok());
        if (!*step)
          break;
        steps.push_back(**step);
      }
    }
  }
  Scheduler scheduler;
  Model model;
  std::unique_ptr<Engine> engineOwner;
  Engine &engine;
  std::vector<StepResult> steps;
};

/// Trains as trainer `rank` of a job that it has joined. Returns the steps that
/// it did.
std::vector<StepResult> trainIn(Expected<std::unique_ptr<Job>> job,
                                const pdl_descriptor &descriptor, int rank,
                                int trainers, int workers) {
  EXPECT_TRUE(job.ok()) << job.status().message();
  if (!job)
    return {};
  const ReplicaLayout layout = (*job)->layout(trainers, workers);
  Scheduler scheduler(2);
  Model mirror(descriptor, seed, StateLocation::Servers);
  auto engine =
      (*job)->createEngine(mirror, descriptor.programs[0], layout, scheduler);
  EXPECT_TRUE(engine.ok()) << engine.status().message();
  std::vector<StepResult> steps;
  Status status;
  for (int epoch = 0; status.ok() && epoch < epochs; ++epoch) {
    GroupBatches<float> batches(layout, rounds);
    status = (*engine)->begin(batches.source());
    while (status.ok()) {
      Expected<std::optional<StepResult>> step = (*engine)->next(false);
      status = step.status();
      if (!step || !*step)
        break;
      steps.push_back(**step);
    }
  }
  EXPECT_TRUE(status.ok()) << status.message();
  // Sums over trainers use rank order.
  int64_t counts[] = {rank + 1, 5};
  double sums[] = {0.1 * (rank + 1)};
  EXPECT_TRUE((*job)->sum(counts, sums).ok());
  double expected = 0.1;
  for (int t = 1; t < trainers; ++t)
    expected += 0.1 * (t + 1);
  EXPECT_EQ(counts[0], trainers * (trainers + 1) / 2);
  EXPECT_EQ(counts[1], 5 * trainers);
  EXPECT_EQ(sums[0], expected);
  (*job)->leave(status);
  return steps;
}

std::vector<StepResult> trainAs(TestCluster &cluster, int rank, int trainers,
                                int workers) {
  return trainIn(cluster.join(rank), *cluster.trainerProgram, rank, trainers,
                 workers);
}

struct Shape {
  int trainers, servers, workers;
  bool clipped;
  int32_t untouched = PDL_UNTOUCHED_LAZY;
};

class SyncAgainstLocal : public testing::TestWithParam<Shape> {};

} // namespace

TEST_P(SyncAgainstLocal, SameBitsOfStateAndLosses) {
  const Shape shape = GetParam();
  ProgramVariant variant;
  variant.untouched = shape.untouched;
  variant.clipped = shape.clipped;
  Reference reference(variant, shape.trainers, shape.workers);
  ASSERT_EQ(reference.steps.size(), size_t(epochs * rounds));

  variant.mode = PDL_MODE_SYNC;
  TestCluster cluster(variant, shape.servers, shape.trainers, shape.workers,
                      seed);
  std::vector<std::vector<StepResult>> steps(shape.trainers);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < shape.trainers; ++rank)
    threads.emplace_back([&, rank] {
      steps[rank] = trainAs(cluster, rank, shape.trainers, shape.workers);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<StepResult> &own : steps) {
    ASSERT_EQ(own.size(), reference.steps.size());
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].lossSum, reference.steps[i].lossSum);
      EXPECT_EQ(own[i].weightSum, reference.steps[i].weightSum);
    }
  }
  cluster.expectState(reference.model);
  for (const std::unique_ptr<ServerCore> &core : cluster.cores) {
    EXPECT_TRUE(core->waitUntilOver(std::chrono::seconds(10)));
    EXPECT_EQ(core->status().state, JobState::Finished)
        << core->status().message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SyncAgainstLocal,
    testing::Values(Shape{1, 1, 1, false}, Shape{1, 1, 2, true},
                    Shape{2, 1, 2, false}, Shape{2, 2, 2, true},
                    Shape{2, 3, 2, true}, Shape{3, 2, 1, false},
                    Shape{2, 3, 1, true, PDL_UNTOUCHED_DENSE}));

// No other worker changes the state between a worker's push and its pull.
TEST(AsyncJob, OneWorkerIsOneProcess) {
  for (auto [servers, clipped] : {std::pair(1, false), std::pair(3, true)}) {
    ProgramVariant variant;
    variant.clipped = clipped;
    Reference reference(variant, 1, 1);
    variant.mode = PDL_MODE_ASYNC;
    TestCluster cluster(variant, servers, 1, 1, seed);
    const std::vector<StepResult> steps = trainAs(cluster, 0, 1, 1);
    ASSERT_EQ(steps.size(), reference.steps.size());
    for (size_t i = 0; i < steps.size(); ++i)
      EXPECT_EQ(steps[i].lossSum, reference.steps[i].lossSum);
    cluster.expectState(reference.model);
  }
}

// Every push counts once, no matter which worker sends it.
TEST(AsyncJob, EachWorkersPushIsAnUpdate) {
  constexpr int trainers = 2, workers = 3;
  ProgramVariant variant;
  variant.mode = PDL_MODE_ASYNC;
  TestCluster cluster(variant, 2, trainers, workers, seed);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < trainers; ++rank)
    threads.emplace_back(
        [&, rank] { trainAs(cluster, rank, trainers, workers); });
  for (std::thread &thread : threads)
    thread.join();
  int64_t pushes = 0;
  for (int replica = 0; replica < trainers * workers; ++replica)
    pushes += epochs * (rounds - replica);
  for (const auto &state : cluster.states)
    EXPECT_EQ(state->model().stepCount(0), pushes);
}

// Without the error, gradients would silently not be clipped.
TEST(AsyncJob, RefusesAClipOfUnknownGradients) {
  ProgramVariant variant;
  variant.clipped = true;
  variant.mode = PDL_MODE_ASYNC;
  TestCluster cluster(variant, 1, 1, 1, seed);
  pdl_descriptor program = *cluster.trainerProgram;
  std::vector<pdl_program> programs(program.programs,
                                    program.programs + program.program_count);
  std::vector<pdl_channel> channels(
      programs[0].channels, programs[0].channels + programs[0].channel_count);
  for (pdl_channel &channel : channels)
    if (channel.kind != PDL_CHANNEL_NORM)
      channel.clip = -1;
  programs[0].channels = channels.data();
  program.programs = programs.data();
  Expected<std::unique_ptr<Job>> job =
      joinJob(program, cluster.options(0), {1, seed, 0}, *cluster.transport);
  ASSERT_TRUE(job.ok()) << job.status().message();
  Scheduler scheduler(1);
  Model mirror(program, seed, StateLocation::Servers);
  auto engine = (*job)->createEngine(mirror, programs[0], (*job)->layout(1, 1),
                                     scheduler);
  ASSERT_FALSE(engine.ok());
  EXPECT_THAT(engine.status().message(), HasSubstr("clip @joint"));
  (*job)->leave(engine.status());
}

TEST(DistributedJob, RefusesAnotherSeed) {
  ProgramVariant variant;
  variant.mode = PDL_MODE_SYNC;
  TestCluster cluster(variant, 1, 1, 1, seed);
  Expected<std::unique_ptr<Job>> job =
      joinJob(*cluster.trainerProgram, cluster.options(0), {1, seed + 1, 0},
              *cluster.transport);
  ASSERT_FALSE(job.ok());
  EXPECT_THAT(job.status().message(), HasSubstr("--seed"));
}

// A trainer that fails says why, and the others end with its message.
TEST(DistributedJob, AFailureEndsAllTrainersWithItsMessage) {
  constexpr int trainers = 2;
  ProgramVariant variant;
  variant.mode = PDL_MODE_SYNC;
  TestCluster cluster(variant, 2, trainers, 1, seed);
  std::vector<Status> outcomes(trainers);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < trainers; ++rank)
    threads.emplace_back([&, rank] {
      Expected<std::unique_ptr<Job>> job = cluster.join(rank);
      ASSERT_TRUE(job.ok());
      const ReplicaLayout layout = (*job)->layout(trainers, 1);
      Scheduler scheduler(1);
      Model mirror(*cluster.trainerProgram, seed, StateLocation::Servers);
      auto engine = (*job)->createEngine(
          mirror, cluster.trainerProgram->programs[0], layout, scheduler);
      ASSERT_TRUE(engine.ok());
      GroupBatches<float> batches(layout, rounds);
      int reads = 0;
      Status &status = outcomes[rank];
      status = (*engine)->begin([&]() -> Expected<std::span<const StepInput>> {
        if (rank == 1 && reads++ == 5)
          return Status::invalidArgument("clicks.tsv:7:2: no number");
        return batches.read();
      });
      while (status.ok()) {
        Expected<std::optional<StepResult>> step = (*engine)->next(false);
        status = step.status();
        ASSERT_TRUE(!step || *step);
      }
      (*job)->leave(status);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(outcomes[1].message(), "clicks.tsv:7:2: no number");
  EXPECT_THAT(outcomes[0].message(), HasSubstr("clicks.tsv:7:2: no number"));
  EXPECT_THAT(outcomes[0].message(), HasSubstr("trainer 1"));
}

namespace {

struct OwnersShape {
  int32_t mode;
  int trainers, servers, workers;
  bool clipped;
};

/// A job whose trainers, run as threads, own state. In some modes it also has
/// servers.
struct OwnersJob {
  OwnersJob(const OwnersShape &shape) : shape(shape) {
    ProgramVariant variant;
    variant.mode = shape.mode;
    variant.clipped = shape.clipped;
    variant.role = PDL_ROLE_TRAINER;
    trainer = handWrittenProgram(variant);
    variant.role = PDL_ROLE_PSERVER;
    owner = handWrittenProgram(variant);
    placement = std::make_unique<Placement>(*Placement::compute(
        *owner, shape.servers, shape.trainers, PlacementPolicy::LeastLoaded));
    for (int s = 0; s < shape.servers; ++s)
      cluster.servers.push_back("server" + std::to_string(s));
    for (int t = 0; t < shape.trainers; ++t)
      cluster.peers.push_back("trainer" + std::to_string(t));
    cluster.trainers = shape.trainers;
    hosts.resize(shape.servers + shape.trainers);
    for (int s = 0; s < shape.servers; ++s)
      host(s, *network, cluster.servers[s]);
  }
  void host(int32_t number, Transport &transport, const std::string &address) {
    HostOptions options;
    options.owner = number;
    options.trainers = shape.trainers;
    options.seed = seed;
    hosts[number] =
        std::make_unique<StateHost>(*owner, *placement, options, clock);
    const Status status = hosts[number]->listen(transport, address);
    ASSERT_TRUE(status.ok()) << status.message();
    hosts[number]->load();
  }
  /// Runs trainer `rank`, from its start to its end. Returns its results.
  std::vector<StepResult> train(int rank) {
    const auto loopback = createLoopbackTransport(*network);
    const int32_t number = placement->ownerOfTrainer(rank);
    host(number, *loopback, cluster.peers[rank]);
    DistributedOptions options = cluster;
    options.rank = rank;
    std::vector<StepResult> steps =
        trainIn(joinJob(*trainer, options, {shape.workers, seed, 0}, *loopback),
                *trainer, rank, shape.trainers, shape.workers);
    end(number);
    return steps;
  }
  void end(int32_t number) {
    StateHost &host = *hosts[number];
    host.waitUntilOver([] {});
    EXPECT_EQ(host.core().status().state, JobState::Finished)
        << host.core().status().message;
    host.announceExit(std::chrono::seconds(10));
    EXPECT_TRUE(host.finish().ok());
  }

  const OwnersShape shape;
  RealClock clock;
  std::unique_ptr<Transport> network = createInProcessTransport(clock);
  const pdl_descriptor *trainer, *owner;
  std::unique_ptr<Placement> placement;
  DistributedOptions cluster;
  std::vector<std::unique_ptr<StateHost>> hosts;
};

class OwnersAgainstLocal : public testing::TestWithParam<OwnersShape> {};

} // namespace

TEST_P(OwnersAgainstLocal, SameBitsOfStateAndLosses) {
  const OwnersShape shape = GetParam();
  ProgramVariant variant;
  variant.clipped = shape.clipped;
  Reference reference(variant, shape.trainers, shape.workers);
  OwnersJob job(shape);
  std::vector<std::vector<StepResult>> steps(shape.trainers);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < shape.trainers; ++rank)
    threads.emplace_back([&, rank] { steps[rank] = job.train(rank); });
  for (std::thread &thread : threads)
    thread.join();
  for (int s = 0; s < shape.servers; ++s)
    job.end(s);
  for (const std::vector<StepResult> &own : steps) {
    ASSERT_EQ(own.size(), reference.steps.size());
    for (size_t i = 0; i < own.size(); ++i)
      EXPECT_EQ(own[i].lossSum, reference.steps[i].lossSum);
  }
  std::vector<const Model *> models;
  for (const auto &host : job.hosts)
    models.push_back(&host->model());
  expectParts(models, reference.model);
  // Servers have no parameters, and trainers have no rows, unless the mode says
  // so.
  for (size_t number = 0; number < models.size(); ++number) {
    const bool isServer = int(number) < shape.servers;
    for (int32_t symbol = 0; isServer && symbol < 3; ++symbol)
      EXPECT_TRUE(models[number]->rows(symbol).empty());
    if (shape.servers > 0 && !isServer) {
      EXPECT_EQ(models[number]->table(SymbolTable)->size(), 0);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OwnersAgainstLocal,
    testing::Values(OwnersShape{PDL_MODE_COLLECTIVE, 1, 0, 2, true},
                    OwnersShape{PDL_MODE_COLLECTIVE, 2, 0, 1, false},
                    OwnersShape{PDL_MODE_COLLECTIVE, 3, 0, 2, true},
                    OwnersShape{PDL_MODE_COLLECTIVE, 4, 0, 1, true},
                    OwnersShape{PDL_MODE_HYBRID, 1, 1, 1, true},
                    OwnersShape{PDL_MODE_HYBRID, 2, 1, 2, false},
                    OwnersShape{PDL_MODE_HYBRID, 3, 2, 1, true}));

// The state of a failed trainer is lost, so all others fail and name the
// trainer.
TEST(OwnersJob, ATrainerThatFailsEndsAllWithItsMessage) {
  OwnersJob job({PDL_MODE_COLLECTIVE, 2, 0, 1, false});
  std::vector<Status> outcomes(2);
  std::vector<std::thread> threads;
  std::latch haveJoined(2);
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      const auto loopback = createLoopbackTransport(*job.network);
      job.host(rank, *loopback, job.cluster.peers[rank]);
      DistributedOptions options = job.cluster;
      options.rank = rank;
      Expected<std::unique_ptr<Job>> joined =
          joinJob(*job.trainer, options, {1, seed, 0}, *loopback);
      haveJoined.count_down();
      ASSERT_TRUE(joined.ok()) << joined.status().message();
      haveJoined.wait();
      if (rank == 1) {
        outcomes[1] = Status::invalidArgument("clicks.tsv:7:2: no number");
      } else {
        int64_t here = 1;
        outcomes[0] = (*joined)->sum({&here, 1}, {});
      }
      (*joined)->leave(outcomes[rank]);
      StateHost &host = *job.hosts[rank];
      host.waitUntilOver([] {});
      EXPECT_EQ(host.core().status().state, JobState::Failed);
      host.announceExit(std::chrono::seconds(10));
      EXPECT_TRUE(host.finish().ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_THAT(outcomes[0].message(), HasSubstr("clicks.tsv:7:2: no number"));
  EXPECT_THAT(outcomes[0].message(), HasSubstr("trainer 1"));
}

TEST(OwnersJob, NoneWaitsForALostTrainer) {
  ProgramVariant variant;
  variant.mode = PDL_MODE_COLLECTIVE;
  variant.role = PDL_ROLE_TRAINER;
  const Status status =
      checkMayWait(*handWrittenProgram(variant), FailurePolicy::Wait);
  EXPECT_THAT(status.message(), HasSubstr("mode collective: trainers own"));
  EXPECT_TRUE(
      checkMayWait(*handWrittenProgram(variant), FailurePolicy::Abort).ok());
  variant.mode = PDL_MODE_SYNC;
  EXPECT_TRUE(
      checkMayWait(*handWrittenProgram(variant), FailurePolicy::Wait).ok());
}
