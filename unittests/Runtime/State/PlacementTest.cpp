//===- PlacementTest.cpp - Placement of a program's state -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Placement.h"

#include "Support/HandWrittenProgram.h"
#include "pdlrt/Abi/Descriptor.h"

#include <gmock/gmock.h>
#include <numeric>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr PlacementPolicy policies[] = {PlacementPolicy::RoundRobin,
                                        PlacementPolicy::HashName,
                                        PlacementPolicy::LeastLoaded};

/// The hand-written program with a parameter of five blocks.
struct BlockedProgram {
  explicit BlockedProgram(int32_t role, int32_t mode = PDL_MODE_SYNC)
      : descriptor(*handWrittenProgram(
            {PDL_F32, PDL_UNTOUCHED_LAZY, false, mode, role})) {
    std::copy_n(descriptor.symbols, 3, symbols);
    pdl_symbol &weights = symbols[SymbolWeights];
    weights.shape = shape;
    weights.row_count = 300;
    weights.unit_count = 5;
    weights.block_rows = blocks;
    weights.unit_costs = costs;
    descriptor.symbols = symbols;
  }
  int64_t shape[2] = {300, 1};
  int64_t blocks[6] = {0, 64, 128, 192, 256, 300};
  uint64_t costs[5] = {64, 64, 64, 64, 44};
  pdl_symbol symbols[3];
  pdl_descriptor descriptor;
};

} // namespace

TEST(Placement, NamesOfPoliciesGoBothWays) {
  for (PlacementPolicy policy : policies) {
    Expected<PlacementPolicy> parsed =
        parsePlacementPolicy(placementPolicyName(policy));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, policy);
  }
  EXPECT_THAT(parsePlacementPolicy("random").status().message(),
              HasSubstr("round-robin, hash-name or least-loaded"));
}

TEST(Placement, EachUnitHasOneOwner) {
  const BlockedProgram program(PDL_ROLE_PSERVER);
  ASSERT_TRUE(checkDescriptor(&program.descriptor).ok());
  for (PlacementPolicy policy : policies)
    for (int32_t servers : {1, 2, 3, 7}) {
      const Expected<Placement> map =
          Placement::compute(program.descriptor, servers, 1, policy);
      ASSERT_TRUE(map.ok()) << map.status().message();
      for (int32_t s = 0; s < 3; ++s) {
        const pdl_symbol &symbol = program.symbols[s];
        int64_t units = 0;
        std::vector<char> rows(symbol.row_count);
        for (int32_t server = 0; server < servers; ++server) {
          int64_t last = -1;
          for (int64_t unit : map->unitsOf(s, server)) {
            EXPECT_LT(last, unit);
            EXPECT_EQ(map->ownerOf(s, unit), server);
            last = unit;
            ++units;
          }
          int64_t rowCount = 0, end = -1;
          for (const RowBlock &run : map->rowsOf(s, server)) {
            EXPECT_GT(run.firstRow, end) << "runs are maximal";
            end = run.firstRow + run.rowCount;
            rowCount += run.rowCount;
            for (int64_t row = run.firstRow; row < end; ++row)
              ++rows[row];
          }
          EXPECT_EQ(map->rowCountOf(s, server), rowCount);
        }
        EXPECT_EQ(units, symbol.unit_count);
        if (symbol.kind == PDL_SYMBOL_PARAMETER)
          EXPECT_EQ(std::count(rows.begin(), rows.end(), 1), symbol.row_count);
      }
    }
}

TEST(Placement, BothRolesComputeTheSameMap) {
  const BlockedProgram server(PDL_ROLE_PSERVER), trainer(PDL_ROLE_TRAINER);
  ASSERT_TRUE(checkDescriptor(&trainer.descriptor).ok())
      << checkDescriptor(&trainer.descriptor).message();
  for (PlacementPolicy policy : policies) {
    const Expected<Placement> a =
        Placement::compute(server.descriptor, 3, 1, policy);
    const Expected<Placement> b =
        Placement::compute(trainer.descriptor, 3, 1, policy);
    const Expected<Placement> other =
        Placement::compute(server.descriptor, 2, 1, policy);
    ASSERT_TRUE(a.ok() && b.ok() && other.ok());
    EXPECT_EQ(a->digest(), b->digest());
    EXPECT_NE(a->digest(), other->digest());
    for (int64_t key : {-5, 0, 7, 123456})
      EXPECT_EQ(a->ownerOfKey(SymbolTable, key),
                b->ownerOf(SymbolTable, pdlabi::shardOfKey(key)));
  }
}

TEST(Placement, LeastLoadedIsBalanced) {
  const BlockedProgram program(PDL_ROLE_PSERVER);
  const Expected<Placement> map = Placement::compute(
      program.descriptor, 3, 1, PlacementPolicy::LeastLoaded);
  ASSERT_TRUE(map.ok());
  const uint64_t total = 300 + 8 + 1024 * 16;
  uint64_t sum = 0;
  for (int32_t server = 0; server < 3; ++server) {
    sum += map->loadOf(server);
    EXPECT_LE(map->loadOf(server), total / 3 + 64);
  }
  EXPECT_EQ(sum, total);
}

TEST(Placement, ProgramsOfOneProcessHaveNone) {
  EXPECT_THAT(Placement::compute(*handWrittenProgram({}), 2, 1,
                                 PlacementPolicy::LeastLoaded)
                  .status()
                  .message(),
              HasSubstr("--mode=sync"));
  const BlockedProgram program(PDL_ROLE_PSERVER);
  EXPECT_THAT(
      Placement::compute(program.descriptor, 0, 1, PlacementPolicy::LeastLoaded)
          .status()
          .message(),
      HasSubstr("1 to 65536 servers"));
}

// In mode hybrid, parameters are placed on trainers only, and rows on servers.
// In mode collective, everything is on trainers.
TEST(Placement, KindsGoToTheirOwners) {
  const BlockedProgram collective(PDL_ROLE_PSERVER, PDL_MODE_COLLECTIVE),
      hybrid(PDL_ROLE_PSERVER, PDL_MODE_HYBRID);
  for (PlacementPolicy policy : policies)
    for (int32_t trainers : {1, 2, 3}) {
      const Expected<Placement> all =
          Placement::compute(collective.descriptor, 0, trainers, policy);
      ASSERT_TRUE(all.ok()) << all.status().message();
      EXPECT_EQ(all->serverCount(), trainers);
      EXPECT_EQ(all->ownerOfTrainer(trainers - 1), trainers - 1);
      EXPECT_EQ(all->nameOf(0), "owner in trainer 0");
      for (int32_t servers : {1, 2}) {
        const Expected<Placement> map =
            Placement::compute(hybrid.descriptor, servers, trainers, policy);
        ASSERT_TRUE(map.ok()) << map.status().message();
        EXPECT_EQ(map->serverCount(), servers + trainers);
        EXPECT_EQ(map->nameOf(servers - 1),
                  "server " + std::to_string(servers - 1));
        EXPECT_EQ(map->nameOf(servers), "owner in trainer 0");
        for (int32_t s = 0; s < 3; ++s)
          for (int64_t unit = 0; unit < hybrid.symbols[s].unit_count; ++unit)
            EXPECT_EQ(map->ownerOf(s, unit) < servers, s == SymbolTable);
      }
    }
}

TEST(Placement, AModeSaysWhichProcessesAJobHas) {
  auto messageOf = [](int32_t mode, int32_t servers, int32_t trainers) {
    const BlockedProgram program(PDL_ROLE_PSERVER, mode);
    return Placement::compute(program.descriptor, servers, trainers,
                              PlacementPolicy::LeastLoaded)
        .status()
        .message();
  };
  EXPECT_THAT(messageOf(PDL_MODE_COLLECTIVE, 2, 2),
              HasSubstr("mode collective has no servers, not 2"));
  EXPECT_THAT(messageOf(PDL_MODE_COLLECTIVE, 0, 0),
              HasSubstr("trainers, not 0"));
  EXPECT_THAT(messageOf(PDL_MODE_HYBRID, 0, 2), HasSubstr("servers, not 0"));
}
