//===- TestCluster.h - Servers of a job in one process ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_TESTCLUSTER_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_TESTCLUSTER_H

#include "HandWrittenProgram.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Job/DistributedJob.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Transport/Transport.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

inline void expectRows(const pdlrt::EmbeddingTable &part,
                       const pdlrt::EmbeddingTable &whole) {
  using namespace pdlrt;
  RowList rows;
  TableScratch scratch;
  for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
    part.collectShard(shard, rows);
    for (const TableRow &row : rows) {
      void *expected = nullptr;
      ASSERT_EQ(whole.find(1, &row.key, &expected, scratch), 0);
      EXPECT_EQ(std::memcmp(row.row, expected, whole.rowBytes()), 0)
          << "key " << row.key;
    }
  }
}

/// Expects the parts of owners together to equal the state of `whole`.
inline void expectParts(const std::vector<const pdlrt::Model *> &parts,
                        const pdlrt::Model &whole) {
  using namespace pdlrt;
  const pdl_descriptor &descriptor = parts.front()->descriptor();
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    const size_t size = elementSize(symbol);
    int64_t found = 0;
    for (const Model *part : parts) {
      if (const EmbeddingTable *table = part->table(s)) {
        found += table->size();
        expectRows(*table, *whole.table(s));
        continue;
      }
      for (int32_t slot = -1; slot < symbol.slot_count; ++slot) {
        auto *from = static_cast<const char *>(slot < 0 ? part->value(s)
                                                        : part->slot(s, slot));
        auto *all = static_cast<const char *>(slot < 0 ? whole.value(s)
                                                       : whole.slot(s, slot));
        for (const RowBlock &block : part->rows(s)) {
          const size_t row = size_t(symbol.row_width) * size;
          EXPECT_EQ(std::memcmp(from, all + block.firstRow * row,
                                block.rowCount * row),
                    0)
              << symbol.name;
          from += block.rowCount * row;
          found += slot < 0 ? block.rowCount : 0;
        }
      }
    }
    EXPECT_EQ(found, whole.table(s) ? whole.table(s)->size() : symbol.row_count)
        << symbol.name;
  }
  for (int32_t g = 0; g < descriptor.group_count; ++g)
    for (const Model *part : parts)
      EXPECT_EQ(part->stepCount(g), whole.stepCount(g));
}

/// Servers with real state, which trainers in threads reach over the in-process
/// transport.
class TestCluster {
public:
  TestCluster(ProgramVariant variant, int servers, int trainers, int workers,
              uint64_t seed)
      : transport(pdlrt::createInProcessTransport(clock)), scheduler(2),
        trainers(trainers), workers(workers), seed(seed) {
    using namespace pdlrt;
    variant.role = PDL_ROLE_PSERVER;
    descriptor = handWrittenProgram(variant);
    variant.role = PDL_ROLE_TRAINER;
    trainerProgram = handWrittenProgram(variant);
    placement = std::make_unique<Placement>(*Placement::compute(
        *descriptor, servers, trainers, PlacementPolicy::LeastLoaded));
    for (int rank = 0; rank < servers; ++rank) {
      Handshake handshake = Handshake::of(*descriptor, *placement);
      handshake.serverRank = rank;
      handshake.trainers = trainers;
      handshake.seed = seed;
      auto created =
          createStateServer({*descriptor, *placement, handshake, scheduler});
      EXPECT_TRUE(created.ok()) << created.status().message();
      states.push_back(std::move(*created));
      ServerCoreOptions options;
      options.trainers = uint32_t(trainers);
      options.workersOfTrainer = uint32_t(workers) + 1;
      cores.push_back(
          std::make_unique<ServerCore>(options, *states.back(), clock));
      addresses.push_back("server" + std::to_string(rank));
      auto listener =
          transport->listen(addresses.back(), cores.back()->handler());
      EXPECT_TRUE(listener.ok());
      listeners.push_back(std::move(*listener));
    }
  }
  ~TestCluster() { listeners.clear(); }

  /// Returns the options of trainer `rank`.
  pdlrt::DistributedOptions options(int rank) const {
    pdlrt::DistributedOptions result;
    result.rank = rank;
    result.trainers = trainers;
    result.servers = addresses;
    return result;
  }
  pdlrt::Expected<std::unique_ptr<pdlrt::Job>> join(int rank) {
    return pdlrt::joinJob(*trainerProgram, options(rank), {workers, seed, 0},
                          *transport);
  }

  /// Expects the state of all servers together to equal `whole`.
  void expectState(const pdlrt::Model &whole) {
    std::vector<const pdlrt::Model *> models;
    for (auto &state : states)
      models.push_back(&state->model());
    expectParts(models, whole);
  }

  pdlrt::RealClock clock;
  std::unique_ptr<pdlrt::Transport> transport;
  const pdl_descriptor *descriptor, *trainerProgram;
  std::vector<std::unique_ptr<pdlrt::StateServer>> states;
  std::vector<std::unique_ptr<pdlrt::ServerCore>> cores;

private:
  pdlrt::Scheduler scheduler;
  std::unique_ptr<pdlrt::Placement> placement;
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<pdlrt::Listener>> listeners;
  int trainers, workers;
  uint64_t seed;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_TESTCLUSTER_H
