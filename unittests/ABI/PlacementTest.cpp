//===- PlacementTest.cpp - Placement of blocks on servers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/placement.h"

#include "gtest/gtest.h"

#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace pdlabi;

namespace {

using Units = std::vector<PlacementUnit>;

struct Map {
  std::vector<int32_t> serverOf;
  std::vector<uint64_t> loads;
  uint64_t digest = 0;

  /// Returns the largest load divided by the mean.
  double balance() const {
    const auto total = std::accumulate(loads.begin(), loads.end(), 0.0);
    return static_cast<double>(*std::max_element(loads.begin(), loads.end())) *
           static_cast<double>(loads.size()) / total;
  }
};

Map place(PlacementPolicy policy, const Units &units, int servers) {
  Map map;
  map.serverOf.assign(units.size(), -1);
  map.loads.resize(static_cast<size_t>(servers));
  std::vector<uint32_t> order(units.size());
  EXPECT_TRUE(placeUnits(policy, units.data(), units.size(), servers,
                         order.data(), map.loads.data(), map.serverOf.data()));
  map.digest =
      placementDigest(units.data(), units.size(), servers, map.serverOf.data());
  return map;
}

/// Adds the f32 row blocks of a parameter; a vector has one row.
void addParam(Units &units, const std::string &name, int64_t rows,
              int64_t rowElements) {
  const int64_t count = rowBlockCount(rows, rowElements, 4);
  for (int64_t i = 0; i < count; ++i)
    units.push_back({placementUnitId(symbolId(name), static_cast<uint64_t>(i)),
                     static_cast<uint64_t>(rowBlock(rows, count, i).rowCount *
                                           rowElements * 4)});
}

/// Adds the shards of a table, with the expected bytes of a step of 512
/// samples.
void addTable(Units &units, const std::string &name, int64_t slots,
              int64_t width) {
  for (uint64_t i = 0; i < uint64_t(logicalShardCount); ++i)
    units.push_back(
        {placementUnitId(symbolId(name), i),
         static_cast<uint64_t>(512 * slots * width * 4 / logicalShardCount)});
}

Units ctrDnn(bool tables) {
  Units units;
  if (tables)
    addTable(units, "emb", 26, 10);
  addParam(units, "w1", 273, 400);
  addParam(units, "b1", 1, 400);
  addParam(units, "w2", 400, 400);
  addParam(units, "b2", 1, 400);
  addParam(units, "w3", 400, 400);
  addParam(units, "b3", 1, 400);
  addParam(units, "w4", 400, 1);
  addParam(units, "b4", 1, 1);
  return units;
}

Units wideDeep() {
  Units units;
  addTable(units, "wide_weights", 12, 1);
  addTable(units, "embedding", 12, 8);
  addParam(units, "w1", 101, 100);
  addParam(units, "b1", 1, 100);
  addParam(units, "w2", 100, 50);
  addParam(units, "b2", 1, 50);
  addParam(units, "w3", 50, 1);
  addParam(units, "b3", 1, 1);
  return units;
}

TEST(PlacementTest, BlocksAreWholeUnitsOfEnoughElements) {
  for (int64_t rows : {1, 2, 63, 64, 65, 101, 127, 128, 273, 400, 4096, 99999})
    for (int64_t width : {1, 7, 50, 128, 400, 10000}) {
      const int64_t count = rowBlockCount(rows, width, 4);
      ASSERT_GE(count, 1);
      int64_t next = 0;
      for (int64_t i = 0; i < count; ++i) {
        const RowBlock block = rowBlock(rows, count, i);
        EXPECT_EQ(block.firstRow, next);
        EXPECT_EQ(block.firstRow % 64, 0);
        EXPECT_GT(block.rowCount, 0);
        if (count > 1) {
          EXPECT_GE(block.rowCount * width, defaultMinBlockElements);
          EXPECT_GE(block.rowCount, 64);
        }
        next += block.rowCount;
      }
      EXPECT_EQ(next, rows) << rows << " x " << width;
    }
}

TEST(PlacementTest, BlocksHitTheirSizes) {
  EXPECT_EQ(rowBlockCount(273, 400, 4), 4);
  EXPECT_EQ(rowBlock(273, 4, 3).firstRow, 192);
  EXPECT_EQ(rowBlock(273, 4, 3).rowCount, 81);
  EXPECT_EQ(rowBlockCount(400, 1, 4), 1);
  EXPECT_EQ(rowBlockCount(101, 100, 4), 1);
  // 128 elements per row: 8192 elements (32 KiB) per unit, so 4 units per
  // block.
  EXPECT_EQ(rowBlockCount(4096, 128, 4), 16);
  EXPECT_EQ(rowBlockCount(4096, 128, 4, 8192, 1), 64);
  EXPECT_EQ(rowBlockCount(4096, 128, 4, 4096 * 128, 1), 1);
  // If rows are so wide that 64 of them overflow 64 bits, a block has one unit.
  EXPECT_EQ(rowBlockCount(130, int64_t(1) << 60, 8), 2);
}

TEST(PlacementTest, LeastLoadedBalancesModels) {
  for (int servers : {2, 3, 8}) {
    EXPECT_LE(
        place(PlacementPolicy::LeastLoaded, ctrDnn(true), servers).balance(),
        1.15)
        << servers;
    // 16 large blocks without other units can still be balanced among 8
    // servers.
    EXPECT_LE(
        place(PlacementPolicy::LeastLoaded, ctrDnn(false), servers).balance(),
        1.15)
        << servers;
    EXPECT_LE(
        place(PlacementPolicy::LeastLoaded, wideDeep(), servers).balance(),
        1.15)
        << servers;
  }
}

TEST(PlacementTest, LeastLoadedStaysWithinItsBound) {
  // Graham: placing the largest first is within 4/3 - 1/(3n) of the optimum.
  // Here a perfect placement exists by construction: each server gets pieces of
  // 1000.
  for (int servers : {2, 3, 5, 8}) {
    Units units;
    for (int server = 0; server < servers; ++server) {
      uint64_t left = 1000;
      for (uint64_t piece = 0; left > 0; ++piece) {
        const uint64_t id =
            placementUnitId(static_cast<uint64_t>(server), piece);
        const uint64_t cost = std::min(left, 1 + id % 400);
        units.push_back({id, cost});
        left -= cost;
      }
    }
    const Map map = place(PlacementPolicy::LeastLoaded, units, servers);
    EXPECT_LE(map.balance(), 4.0 / 3 - 1 / (3.0 * servers) + 1e-12);
  }
}

TEST(PlacementTest, LeastLoadedIgnoresTheListsOrder) {
  Units units = ctrDnn(true);
  const Map map = place(PlacementPolicy::LeastLoaded, units, 3);
  Units reversed(units.rbegin(), units.rend());
  Map other = place(PlacementPolicy::LeastLoaded, reversed, 3);
  std::reverse(other.serverOf.begin(), other.serverOf.end());
  EXPECT_EQ(map.serverOf, other.serverOf);
}

TEST(PlacementTest, PoliciesByHand) {
  const Units units = {{10, 5}, {21, 9}, {32, 5}, {43, 1}};
  EXPECT_EQ(place(PlacementPolicy::RoundRobin, units, 3).serverOf,
            (std::vector<int32_t>{0, 1, 2, 0}));
  EXPECT_EQ(place(PlacementPolicy::HashName, units, 4).serverOf,
            (std::vector<int32_t>{2, 1, 0, 3}));
  // 9 goes to server 0; 5 (id 10) and 5 (id 32) to server 1; 1 to server 0.
  const Map map = place(PlacementPolicy::LeastLoaded, units, 2);
  EXPECT_EQ(map.serverOf, (std::vector<int32_t>{1, 0, 1, 0}));
  EXPECT_EQ(map.loads, (std::vector<uint64_t>{10, 10}));
}

TEST(PlacementTest, HashNameKeepsUnitsWhenOthersCome) {
  const Units all = ctrDnn(true);
  const Units few(all.begin() + 1024, all.end());
  const Map whole = place(PlacementPolicy::HashName, all, 5);
  const Map part = place(PlacementPolicy::HashName, few, 5);
  EXPECT_TRUE(std::equal(part.serverOf.begin(), part.serverOf.end(),
                         whole.serverOf.begin() + 1024));
}

TEST(PlacementTest, DigestDistinguishesMaps) {
  std::set<uint64_t> digests;
  size_t maps = 0;
  for (int servers : {1, 2, 3, 8})
    for (const Units &units : {ctrDnn(true), ctrDnn(false), wideDeep()}) {
      const Map map = place(PlacementPolicy::LeastLoaded, units, servers);
      EXPECT_EQ(map.digest,
                place(PlacementPolicy::LeastLoaded, units, servers).digest);
      digests.insert(map.digest);
      ++maps;
      Units changed = units;
      ++changed.back().cost;
      digests.insert(placementDigest(changed.data(), changed.size(), servers,
                                     map.serverOf.data()));
      ++maps;
      if (servers == 1)
        continue;
      std::vector<int32_t> moved = map.serverOf;
      moved.front() = (moved.front() + 1) % servers;
      digests.insert(
          placementDigest(units.data(), units.size(), servers, moved.data()));
      ++maps;
    }
  EXPECT_EQ(digests.size(), maps);
}

TEST(PlacementTest, DigestIsTheSameEverywhere) {
  // These values are constants, so the test detects changes of code or compiler
  // that would move the blocks of a running job. The values are chained xxh64
  // hashes of little-endian words.
  const Units units = {{10, 5}, {21, 9}};
  const int32_t serverOf[] = {1, 0};
  const uint64_t head[] = {2, 2};
  const uint64_t first[] = {10, 5, 1};
  const uint64_t second[] = {21, 9, 0};
  uint64_t expected = XXH64(head, 16, 0);
  expected = XXH64(first, 24, expected);
  expected = XXH64(second, 24, expected);
  EXPECT_EQ(placementDigest(units.data(), 2, 2, serverOf), expected);
}

TEST(PlacementTest, BadRequestsAreRefused) {
  const Units units = {{1, 1}};
  uint32_t order = 7;
  uint64_t load = 7;
  int32_t server = 7;
  EXPECT_FALSE(placeUnits(PlacementPolicy::LeastLoaded, units.data(), 1, 0,
                          &order, &load, &server));
  EXPECT_FALSE(placeUnits(static_cast<PlacementPolicy>(3), units.data(), 1, 1,
                          &order, &load, &server));
  EXPECT_EQ(order, 7u);
  EXPECT_EQ(load, 7u);
  EXPECT_EQ(server, 7);
}

// The possible owners of a unit depend on its kind; load is counted per owner.
TEST(PlacementTest, UnitsGoToOwnersOfTheirRange) {
  const OwnerRange first{0, 1}, rest{1, 2}, any;
  const Units units = {
      {1, 4, rest}, {2, 3, rest}, {3, 2, rest}, {4, 9, first}, {5, 1, any}};
  const Map map = place(PlacementPolicy::LeastLoaded, units, 3);
  EXPECT_EQ(map.serverOf, (std::vector<int32_t>{1, 2, 2, 0, 1}));
  EXPECT_EQ(map.loads, (std::vector<uint64_t>{9, 5, 5}));
  EXPECT_EQ(place(PlacementPolicy::RoundRobin, units, 3).serverOf,
            (std::vector<int32_t>{1, 2, 1, 0, 1}));
  EXPECT_EQ(place(PlacementPolicy::HashName, units, 3).serverOf,
            (std::vector<int32_t>{2, 1, 2, 0, 2}));
  uint32_t order = 0;
  uint64_t loads[2] = {};
  int32_t owner = 0;
  for (const OwnerRange bad : {OwnerRange{1, 2}, OwnerRange{-1, 1},
                               OwnerRange{0, -1}, OwnerRange{3, 0}}) {
    const PlacementUnit unit{1, 1, bad};
    EXPECT_FALSE(placeUnits(PlacementPolicy::LeastLoaded, &unit, 1, 2, &order,
                            loads, &owner));
  }
}

TEST(PlacementTest, MoreServersThanUnits) {
  const Map map = place(PlacementPolicy::LeastLoaded, {{1, 1}, {2, 1}}, 5);
  EXPECT_EQ(map.loads, (std::vector<uint64_t>{1, 1, 0, 0, 0}));
}

} // namespace
