//===- GeoTest.cpp - Model copies of trainers and their merge -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/GroupBatches.h"
#include "Support/ModelBytes.h"
#include "Support/TestCluster.h"

#include "pdlrt/Engine/CopyExchange.h"
#include "pdlrt/Engine/Engine.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>
#include <thread>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr uint64_t seed = 17;
constexpr int epochs = 2, rounds = 20;

ProgramVariant geoVariant(int32_t elementType = PDL_F32, bool clipped = false) {
  ProgramVariant variant;
  variant.elementType = elementType;
  variant.clipped = clipped;
  variant.mode = PDL_MODE_GEO;
  return variant;
}

/// Expects the values of all servers together to equal `copy`: all rows that
/// servers have are equal, and rows that they do not have still have their
/// initial values.
void expectServersHold(TestCluster &cluster, const Model &copy) {
  const pdl_descriptor &descriptor = *cluster.descriptor;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    const size_t rowBytes = size_t(symbol.row_width) * elementSize(symbol);
    int64_t found = 0;
    for (const auto &state : cluster.states) {
      const Model &part = state->model();
      EXPECT_EQ(symbol.slot_count, 0);
      if (const EmbeddingTable *table = part.table(s)) {
        RowList rows;
        TableScratch scratch;
        for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
          table->collectShard(shard, rows);
          found += int64_t(rows.size());
          for (const TableRow &row : rows) {
            void *own = nullptr;
            ASSERT_EQ(copy.table(s)->find(1, &row.key, &own, scratch), 0)
                << "key " << row.key;
            EXPECT_EQ(std::memcmp(row.row, own, rowBytes), 0)
                << "key " << row.key;
          }
        }
        continue;
      }
      auto *from = static_cast<const char *>(part.value(s));
      auto *all = static_cast<const char *>(copy.value(s));
      for (const RowBlock &block : part.rows(s)) {
        EXPECT_EQ(std::memcmp(from, all + size_t(block.firstRow) * rowBytes,
                              size_t(block.rowCount) * rowBytes),
                  0)
            << symbol.name;
        from += size_t(block.rowCount) * rowBytes;
        found += block.rowCount;
      }
    }
    EXPECT_EQ(found, copy.table(s) ? copy.table(s)->size() : symbol.row_count)
        << symbol.name;
  }
}

/// Trains `model` as trainer `rank`, and settles after each epoch.
Status train(TestCluster &cluster, int rank, int trainers, int workers,
             int64_t geoSteps, Model &model,
             std::vector<StepResult> *steps = nullptr) {
  DistributedOptions options = cluster.options(rank);
  options.geoSteps = geoSteps;
  auto job = joinJob(*cluster.trainerProgram, options, {workers, seed, 0},
                     *cluster.transport);
  if (!job)
    return job.status();
  EXPECT_EQ((*job)->stateLocation(), StateLocation::Here);
  const ReplicaLayout layout = (*job)->layout(trainers, workers);
  Scheduler scheduler(2);
  auto engine = (*job)->createEngine(model, model.descriptor().programs[0],
                                     layout, scheduler);
  Status status = engine.status();
  for (int epoch = 0; status.ok() && epoch < epochs; ++epoch) {
    GroupBatches<float> batches(layout, rounds);
    status = (*engine)->begin(batches.source());
    while (status.ok()) {
      Expected<std::optional<StepResult>> step = (*engine)->next(false);
      status = step.status();
      if (!step || !*step)
        break;
      if (steps)
        steps->push_back(**step);
    }
    if (status.ok())
      status = (*job)->settle();
  }
  (*job)->leave(status);
  return status;
}

/// Trains the same rounds in one process.
void trainHere(Model &model, int workers, std::vector<StepResult> &steps) {
  Scheduler scheduler(2);
  const auto local =
      Engine::createLocal(model, model.descriptor().programs[0],
                          ReplicaLayout::local(1, workers), scheduler);
  Engine &engine = *local;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    GroupBatches<float> batches(ReplicaLayout::local(1, workers), rounds);
    ASSERT_TRUE(engine.begin(batches.source()).ok());
    while (true) {
      Expected<std::optional<StepResult>> step = engine.next(false);
      ASSERT_TRUE(step.ok());
      if (!*step)
        break;
      steps.push_back(**step);
    }
  }
}

} // namespace

TEST(GeoJob, OneTrainerIsOneProcess) {
  struct Shape {
    int servers, workers;
    int64_t geoSteps;
    bool clipped;
  };
  for (const Shape &shape : {Shape{1, 1, 1, false}, Shape{2, 2, 3, true},
                             Shape{3, 1, 7, true}, Shape{2, 1, 1000, false}}) {
    SCOPED_TRACE(testing::Message()
                 << shape.servers << " servers, " << shape.workers
                 << " workers, each " << shape.geoSteps << " steps");
    ProgramVariant variant = geoVariant(PDL_F32, shape.clipped);
    TestCluster cluster(variant, shape.servers, 1, shape.workers, seed);
    variant.mode = PDL_MODE_LOCAL;
    Model whole(*handWrittenProgram(variant), seed);
    std::vector<StepResult> expected, steps;
    trainHere(whole, shape.workers, expected);
    Model copy(*cluster.trainerProgram, seed);
    const Status status =
        train(cluster, 0, 1, shape.workers, shape.geoSteps, copy, &steps);
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_EQ(steps.size(), expected.size());
    for (size_t i = 0; i < steps.size(); ++i)
      EXPECT_EQ(steps[i].lossSum, expected[i].lossSum);
    // Values are equal, and so are slots, which have never left the trainer.
    EXPECT_EQ(stateOf(copy), stateOf(whole));
    for (int32_t g = 0; g < whole.descriptor().group_count; ++g)
      EXPECT_EQ(copy.stepCount(g), whole.stepCount(g));
    expectServersHold(cluster, copy);
    for (const auto &core : cluster.cores) {
      EXPECT_TRUE(core->waitUntilOver(std::chrono::seconds(10)));
      EXPECT_EQ(core->status().state, JobState::Finished)
          << core->status().message;
    }
  }
}

TEST(GeoJob, AllEndWithTheValuesOfServers) {
  for (const int trainers : {2, 3})
    for (const int64_t geoSteps : {1, 4, 1000}) {
      SCOPED_TRACE(testing::Message()
                   << trainers << " trainers, each " << geoSteps << " steps");
      TestCluster cluster(geoVariant(), 2, trainers, 1, seed);
      std::vector<std::unique_ptr<Model>> copies;
      std::vector<Status> statuses(trainers);
      std::vector<std::thread> threads;
      for (int rank = 0; rank < trainers; ++rank)
        copies.push_back(
            std::make_unique<Model>(*cluster.trainerProgram, seed));
      for (int rank = 0; rank < trainers; ++rank)
        threads.emplace_back([&, rank] {
          statuses[rank] =
              train(cluster, rank, trainers, 1, geoSteps, *copies[rank]);
        });
      for (std::thread &thread : threads)
        thread.join();
      for (int rank = 0; rank < trainers; ++rank) {
        EXPECT_TRUE(statuses[rank].ok()) << statuses[rank].message();
        // No trainer still holds the initial values or its own values.
        EXPECT_EQ(copies[rank]->stepCount(0), epochs * (rounds - rank));
        expectServersHold(cluster, *copies[rank]);
      }
    }
}

//===----------------------------------------------------------------------===//
// The arithmetic, against a replay
//===----------------------------------------------------------------------===//

namespace {

/// Trainer without steps, whose copy the tests change.
class Copy {
public:
  Copy(TestCluster &cluster, int rank, int trainers, KeyPacking packing)
      : cluster(cluster), scheduler(2), model(*cluster.trainerProgram, seed),
        placement(*Placement::compute(*cluster.trainerProgram,
                                      int32_t(cluster.states.size()), trainers,
                                      PlacementPolicy::LeastLoaded)) {
    SenderName sender;
    sender.trainer = uint32_t(rank);
    sender.start = StartSign::ofThisProcess();
    ServerGroupOptions groupOptions;
    auto connected =
        ServerGroup::connect(*cluster.transport, cluster.options(rank).servers,
                             sender, groupOptions);
    EXPECT_TRUE(connected.ok()) << connected.status().message();
    group = std::move(*connected);
    Handshake handshake = Handshake::of(*cluster.trainerProgram, placement);
    handshake.trainers = trainers;
    handshake.workers = 1;
    handshake.seed = seed;
    handshake.keyPacking = nameOf(packing);
    std::vector<Message> messages;
    for (size_t s = 0; s < cluster.states.size(); ++s) {
      handshake.serverRank = int64_t(s);
      messages.push_back(encodeHandshake(handshake));
    }
    auto joined = group->joinAll(std::move(messages));
    EXPECT_TRUE(joined.ok()) << joined.status().message();
    auto created =
        CopyExchange::create(*cluster.trainerProgram, 0, placement, *group,
                             model, scheduler, {trainers, packing});
    EXPECT_TRUE(created.ok()) << created.status().message();
    copies = std::move(*created);
  }
  ~Copy() { group->leaveAll(""); }

  /// Records the keys as a step would, then changes bias and rows.
  void change(double bias, const std::map<int64_t, double> &rows) {
    std::vector<int64_t> keys;
    for (const auto &[key, by] : rows)
      keys.push_back(key);
    PartialSum sum;
    sum.present = true;
    sum.blocks.resize(3);
    sum.blocks[2].keyCount = int64_t(keys.size());
    sum.blocks[2].keys = keys.data();
    copies->note(sum);
    static_cast<double *>(model.value(SymbolBias))[0] += bias;
    for (const auto &[key, by] : rows)
      for (int j = 0; j < handWrittenWidth; ++j)
        rowOf(key)[j] += by * (j + 1);
  }
  double *rowOf(int64_t key) {
    void *row = nullptr;
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model.table(SymbolTable)
                    ->findOrInsert(1, &key, &row, scratch, inserted)
                    .ok());
    return static_cast<double *>(row);
  }
  double bias() const {
    return static_cast<const double *>(model.value(SymbolBias))[0];
  }

  TestCluster &cluster;
  Scheduler scheduler;
  Model model;
  const Placement placement;
  std::unique_ptr<ServerGroup> group;
  std::unique_ptr<CopyExchange> copies;
};

/// Number that is computed by the rule of mode geo: the value of the servers,
/// and the copy and its base of each trainer.
struct Number {
  double value;
  std::vector<double> copy, base;
  double divisor;
  /// True if another trainer has changed the number since, indexed by trainer.
  std::vector<bool> changed;

  Number(double initial, int trainers, double by)
      : value(initial), copy(trainers, initial), base(trainers, initial),
        divisor(by), changed(trainers) {}
  void push(int trainer) {
    const double delta = (copy[trainer] - base[trainer]) / divisor;
    base[trainer] += delta;
    value += delta;
    for (size_t other = 0; other < changed.size(); ++other)
      if (int(other) != trainer)
        changed[other] = true;
  }
  void pull(int trainer) {
    if (!changed[trainer])
      return;
    if (copy[trainer] == base[trainer])
      copy[trainer] = value;
    else
      copy[trainer] += value - base[trainer];
    base[trainer] = value;
    changed[trainer] = false;
  }
};

void replayRandomExchanges(int trainers, int servers, KeyPacking packing,
                           int32_t tableMerge) {
  ProgramVariant variant = geoVariant(PDL_F64);
  variant.tableMerge = tableMerge;
  TestCluster cluster(variant, servers, trainers, 1, seed);
  std::vector<std::unique_ptr<Copy>> copies;
  for (int rank = 0; rank < trainers; ++rank)
    copies.push_back(std::make_unique<Copy>(cluster, rank, trainers, packing));
  constexpr int keyCount = 40;
  Number bias(copies[0]->bias(), trainers, trainers);
  std::map<int64_t, std::vector<Number>> rows;
  Model initial(*cluster.trainerProgram, seed);
  for (int64_t key = -keyCount / 2; key < keyCount / 2; ++key) {
    std::vector<double> values(handWrittenWidth);
    initial.table(SymbolTable)->initialElements(key, values.data());
    for (const double value : values)
      rows[key].emplace_back(value, trainers,
                             tableMerge == PDL_MERGE_SUM ? 1 : trainers);
  }
  std::mt19937 random(unsigned(trainers * 10 + servers));
  std::uniform_real_distribution<double> amount(-1, 1);
  std::vector<std::set<int64_t>> noted(trainers);
  std::vector<bool> biasNoted(trainers);
  for (int turn = 0; turn < 200; ++turn) {
    const int trainer = int(random() % unsigned(trainers));
    Copy &copy = *copies[trainer];
    if (random() % 3 != 0) {
      std::map<int64_t, double> changes;
      for (int k = 0; k < 5; ++k)
        changes[int64_t(random() % keyCount) - keyCount / 2] = amount(random);
      const double by = amount(random);
      copy.change(by, changes);
      bias.copy[trainer] += by;
      biasNoted[trainer] = true;
      for (const auto &[key, change] : changes) {
        noted[trainer].insert(key);
        for (int j = 0; j < handWrittenWidth; ++j)
          rows[key][j].copy[trainer] += change * (j + 1);
      }
      continue;
    }
    const Status status = copy.copies->exchange();
    ASSERT_TRUE(status.ok()) << status.message();
    if (biasNoted[trainer])
      bias.push(trainer);
    bias.pull(trainer);
    biasNoted[trainer] = false;
    for (const int64_t key : noted[trainer])
      for (Number &number : rows[key])
        number.push(trainer);
    noted[trainer].clear();
    for (auto &[key, numbers] : rows)
      for (Number &number : numbers)
        number.pull(trainer);
    EXPECT_EQ(copy.bias(), bias.copy[trainer]) << "turn " << turn;
    for (auto &[key, numbers] : rows)
      for (int j = 0; j < handWrittenWidth; ++j)
        EXPECT_EQ(copy.rowOf(key)[j], numbers[j].copy[trainer])
            << "turn " << turn << ", key " << key;
  }
  double held = 0;
  for (const auto &state : cluster.states)
    if (state->model().heldElements(SymbolBias) > 0)
      held = static_cast<const double *>(state->model().value(SymbolBias))[0];
  EXPECT_EQ(held, bias.value);
}

} // namespace

TEST(GeoExchange, IsTheRuleToTheBit) {
  for (const int trainers : {2, 3, 5})
    for (const int servers : {1, 2, 3})
      for (const int32_t merge : {PDL_MERGE_MEAN, PDL_MERGE_SUM})
        replayRandomExchanges(
            trainers, servers,
            trainers == 3 ? KeyPacking::Delta : KeyPacking::None, merge);
}

// A change of one of two trainers reaches the other once, even in a row that
// the other never used.
TEST(GeoExchange, BringsWhatOthersChangedOnce) {
  TestCluster cluster(geoVariant(PDL_F64), 2, 2, 1, seed);
  Copy first(cluster, 0, 2, KeyPacking::None),
      second(cluster, 1, 2, KeyPacking::None);
  const double before = first.bias();
  first.change(1, {{1234567, 2}});
  ASSERT_TRUE(first.copies->exchange().ok());
  // The servers get half of the change; the trainer keeps all of it.
  EXPECT_EQ(first.bias(), before + 1);
  ASSERT_TRUE(second.copies->exchange().ok());
  EXPECT_EQ(second.bias(), before + 0.5);
  std::vector<double> initial(handWrittenWidth);
  second.model.table(SymbolTable)->initialElements(1234567, initial.data());
  EXPECT_EQ(second.rowOf(1234567)[1],
            initial[1] + (first.rowOf(1234567)[1] - initial[1]) / 2);
  const int64_t received = second.copies->costs().servers[0].bytesReceived +
                           second.copies->costs().servers[1].bytesReceived;
  ASSERT_TRUE(second.copies->exchange().ok());
  EXPECT_LT(second.copies->costs().servers[0].bytesReceived +
                second.copies->costs().servers[1].bytesReceived - received,
            received);
  EXPECT_EQ(second.bias(), before + 0.5);
  // Slots are local, so they start as those of a new row.
  EXPECT_EQ(second.rowOf(1234567)[handWrittenWidth], 0);
}

// Trainers start with the values that were loaded into servers.
TEST(GeoJob, TrainersBeginWithWhatServersWereGiven) {
  for (const int trainers : {1, 2}) {
    TestCluster cluster(geoVariant(), 2, trainers, 1, seed);
    for (auto &state : cluster.states) {
      Model &model = state->model();
      for (int32_t s : {SymbolWeights, SymbolBias})
        for (int64_t i = 0; i < model.heldElements(s); ++i)
          static_cast<float *>(model.value(s))[i] = 0.125F * float(i + 1);
      state->noteLoaded();
    }
    std::vector<std::thread> threads;
    for (int rank = 0; rank < trainers; ++rank)
      threads.emplace_back([&, rank] {
        auto job = cluster.join(rank);
        ASSERT_TRUE(job.ok());
        Scheduler scheduler(1);
        Model copy(*cluster.trainerProgram, seed);
        auto engine =
            (*job)->createEngine(copy, copy.descriptor().programs[0],
                                 (*job)->layout(trainers, 1), scheduler);
        EXPECT_TRUE(engine.ok()) << engine.status().message();
        EXPECT_EQ(static_cast<float *>(copy.value(SymbolBias))[0], 0.125F);
        EXPECT_EQ(static_cast<float *>(copy.value(SymbolWeights))[2], 0.375F);
        (*job)->leave({});
      });
    for (std::thread &thread : threads)
      thread.join();
  }
}
