//===- PartsOfOwnerTest.cpp - Files of a checkpoint that an owner reads ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/BlockProgram.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/State/Placement.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;

namespace {

constexpr int32_t ownerCount = 3;

/// Owners of the units of a program without stages.
class PartsOfOwnerTest : public testing::Test {
protected:
  void SetUp() override {
    Expected<Placement> computed = Placement::compute(
        descriptor, ownerCount, 1, PlacementPolicy::RoundRobin);
    ASSERT_TRUE(computed.ok()) << computed.status().message();
    placement.push_back(*std::move(computed));
  }

  /// Returns the use of a file by each owner.
  std::vector<PartUse> usesOf(const CheckpointPart &part, bool isStored) const {
    std::vector<PartUse> uses;
    for (int32_t owner = 0; owner < ownerCount; ++owner)
      uses.push_back(
          partsOfOwner(descriptor, placement.front(), owner, isStored)
              .useOf(part, "unused"));
    return uses;
  }

  /// Expects that only `owners` use a file. In a folder, all of them verify it;
  /// in a store, one of them.
  void expectOwners(const CheckpointPart &part,
                    const std::vector<int32_t> &owners) const {
    const std::vector<PartUse> inFolder = usesOf(part, /*isStored=*/false);
    const std::vector<PartUse> inStore = usesOf(part, /*isStored=*/true);
    for (int32_t owner = 0; owner < ownerCount; ++owner) {
      const bool isUser = std::ranges::find(owners, owner) != owners.end();
      EXPECT_EQ(inFolder[size_t(owner)],
                isUser ? PartUse::Verify : PartUse::None)
          << part.file << " owner " << owner;
      EXPECT_EQ(inStore[size_t(owner)] != PartUse::None, isUser)
          << part.file << " owner " << owner;
    }
    EXPECT_EQ(std::ranges::count(inStore, PartUse::Verify), 1) << part.file;
  }

  /// Returns a file with the shards [first, end) of a table.
  CheckpointPart tablePart(int32_t symbol, int64_t first, int64_t end) const {
    CheckpointPart part;
    part.file = "table-" + std::to_string(symbol) + "-" + std::to_string(first);
    part.kind = PartKind::Table;
    part.symbol = descriptor.symbols[symbol].name;
    part.shards = {{first, end}};
    return part;
  }

  /// Returns a file with the rows [first, end) of a parameter.
  CheckpointPart densePart(int32_t symbol, int64_t first, int64_t end) const {
    CheckpointPart part;
    part.file = "dense-" + std::to_string(first);
    part.kind = PartKind::Dense;
    part.rows = {{descriptor.symbols[symbol].name, {{first, end}}}};
    return part;
  }

  BlockProgram program{BlockVariant()};
  const pdl_descriptor &descriptor = program.descriptor();
  /// One map, which has no default constructor.
  std::vector<Placement> placement;
};

} // namespace

TEST_F(PartsOfOwnerTest, OneShardIsReadByItsOwner) {
  for (const int32_t table : {BlockLazy, BlockAll})
    for (int64_t shard = 0; shard < 16; ++shard)
      expectOwners(tablePart(table, shard, shard + 1),
                   {placement.front().ownerOf(table, shard)});
}

TEST_F(PartsOfOwnerTest, SeveralShardsAreReadByTheirOwners) {
  std::vector<int64_t> verified(ownerCount);
  for (int64_t shard = 0; shard < 60; ++shard) {
    expectOwners(tablePart(BlockLazy, shard, shard + 2),
                 {placement.front().ownerOf(BlockLazy, shard),
                  placement.front().ownerOf(BlockLazy, shard + 1)});
    // Each owner has some of so many shards.
    const CheckpointPart whole = tablePart(BlockLazy, shard, shard + 100);
    expectOwners(whole, {0, 1, 2});
    const std::vector<PartUse> uses = usesOf(whole, /*isStored=*/true);
    ++verified[size_t(std::ranges::find(uses, PartUse::Verify) - uses.begin())];
  }
  // Files with several owners are spread in an object store.
  for (const int64_t count : verified)
    EXPECT_GE(count, 10);
}

TEST_F(PartsOfOwnerTest, ParametersAreReadByTheOwnersOfTheirRows) {
  const pdl_symbol &weights = descriptor.symbols[BlockW];
  for (int64_t block = 0; block < weights.unit_count; ++block) {
    const int64_t first = weights.block_rows[block];
    const int64_t end = weights.block_rows[block + 1];
    const int32_t owner = placement.front().ownerOf(BlockW, block);
    expectOwners(densePart(BlockW, first, end), {owner});
    expectOwners(densePart(BlockW, end - 1, end), {owner});
    if (block + 1 < weights.unit_count)
      expectOwners(densePart(BlockW, end - 1, end + 1),
                   {owner, placement.front().ownerOf(BlockW, block + 1)});
  }
  // A file without ranges has all rows.
  CheckpointPart all;
  all.file = "dense";
  expectOwners(all, {0, 1, 2});
}

TEST_F(PartsOfOwnerTest, TheFirstOwnerVerifiesOtherFiles) {
  CheckpointPart unknown = tablePart(BlockLazy, 0, 3);
  unknown.symbol = "removed";
  CheckpointPart empty = tablePart(BlockLazy, 0, 3);
  empty.shards.clear();
  CheckpointPart trainer;
  trainer.file = "trainer";
  trainer.kind = PartKind::Trainer;
  for (const CheckpointPart &part : {unknown, empty, trainer})
    for (const bool isStored : {false, true})
      EXPECT_THAT(usesOf(part, isStored),
                  ElementsAre(PartUse::Verify, PartUse::None, PartUse::None));
}
