//===- placement.h - Placement of blocks and shards on owners ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program contains its units (blocks of parameters and shards of tables), but
// not the number of their owners. Each process computes the map from units to
// owners at its start, with these functions, and the processes compare digests
// of the map. All processes must get the same map. So the functions use only
// integers, and do not depend on the order in a hash table.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_PLACEMENT_H
#define PDLABI_PLACEMENT_H

#include "pdlabi/hash.h"
#include "pdlabi/modes.h"
#include "pdlabi/norm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pdlabi {

//===----------------------------------------------------------------------===//
// Cutting a parameter into row blocks
//===----------------------------------------------------------------------===//

/// Default minimum number of elements of a block. Smaller messages waste
/// bandwidth.
inline constexpr int64_t defaultMinBlockElements = 8192;
/// Default target size of blocks, in bytes.
inline constexpr int64_t defaultTargetBlockBytes = 128 * 1024;

/// A range of consecutive rows of a parameter.
struct RowBlock {
  int64_t firstRow = 0;
  int64_t rowCount = 0;
};

/// Returns the number of blocks of a parameter with `rows` rows of
/// `rowElements` elements of `elementBytes` bytes. Blocks consist of whole runs
/// of `rowsInNormUnit` rows. The result is the largest number for which each
/// block has at least `minElements` elements and about `targetBytes` bytes, but
/// at least 1. A vector is one row: `rows` is 1. All arguments must be at least
/// 1.
inline int64_t rowBlockCount(int64_t rows, int64_t rowElements,
                             int64_t elementBytes,
                             int64_t minElements = defaultMinBlockElements,
                             int64_t targetBytes = defaultTargetBlockBytes) {
  // 128 bits, because a wide row times 64 may exceed 63 bits.
  using Wide = __int128;
  const Wide unitElements = Wide(rowElements) * rowsInNormUnit;
  const Wide unitBytes = unitElements * elementBytes;
  const Wide forMinimum = (minElements + unitElements - 1) / unitElements;
  // The nearest number of units, but at least one.
  const Wide forTarget = (targetBytes + unitBytes / 2) / unitBytes;
  const Wide unitsInBlock = std::max({Wide(1), forMinimum, forTarget});
  return static_cast<int64_t>(
      std::max(Wide(1), rows / (unitsInBlock * rowsInNormUnit)));
}

/// Returns block number `index` of `blockCount` blocks. The runs of
/// `rowsInNormUnit` rows are distributed evenly over the blocks; only the last
/// run of the parameter may be shorter.
inline RowBlock rowBlock(int64_t rows, int64_t blockCount, int64_t index) {
  const int64_t units = (rows + rowsInNormUnit - 1) / rowsInNormUnit;
  const auto firstRowOf = [&](int64_t block) {
    const auto unit =
        static_cast<int64_t>(__int128(units) * block / blockCount);
    return std::min<int64_t>(rows, unit * rowsInNormUnit);
  };
  const int64_t first = firstRowOf(index);
  return {first, firstRowOf(index + 1) - first};
}

//===----------------------------------------------------------------------===//
// Units to owners
//===----------------------------------------------------------------------===//

/// The owners on which a unit may be placed: [first, first + count), or any
/// owner if `count` is 0. Owners of a job are numbered: first its servers, then
/// its trainers if they own state.
struct OwnerRange {
  int32_t first = 0;
  int32_t count = 0;
};

/// Returns the owners that are servers of a job, or those that are in its
/// trainers.
inline OwnerRange ownersIn(OwnerPlace place, int32_t servers,
                           int32_t trainers) {
  return place == OwnerPlace::Servers ? OwnerRange{0, servers}
                                      : OwnerRange{servers, trainers};
}

/// A unit of state that one owner has as a whole: a block of rows of a
/// parameter, or a logical shard of a table.
struct PlacementUnit {
  /// `placementUnitId`, unique within a program.
  uint64_t id = 0;
  /// Cost in bytes per step, or in another measure that is the same for all
  /// units of the program. The sum over all units must be below 2^64.
  uint64_t cost = 0;
  OwnerRange owners = {};
};

/// Returns the id of block or shard `index` of a symbol. It does not change
/// when other symbols are added or removed.
inline uint64_t placementUnitId(uint64_t symbol, uint64_t index) {
  const uint64_t words[] = {symbol, index};
  return XXH64(words, sizeof(words), 0);
}

enum class PlacementPolicy : uint32_t {
  /// Unit i in the list is placed on owner i modulo n of its n owners.
  RoundRobin = 0,
  /// A unit is placed on owner id modulo n of its n owners, independent of
  /// other units.
  HashName = 1,
  /// Units are placed in descending order of cost; equal costs in the order of
  /// ids. Each unit is placed on the owner with the least load so far, or on
  /// the first of these if several are equal. The result does not depend on the
  /// order of the list.
  LeastLoaded = 2,
};

/// Names of the policies in flags and reports, by PlacementPolicy.
inline constexpr const char *placementPolicyNames[] = {
    "round-robin", "hash-name", "least-loaded"};

/// Writes the owner of each unit, in [0, ownerCount), to `ownerOf`. `order` is
/// scratch memory with one entry per unit. `loads` has one entry per owner, and
/// gets the sum of the costs of the owner's units. Returns false and writes
/// nothing if there is no owner, if the range of a unit contains owners that do
/// not exist, if the policy is unknown, or if there are 2^32 or more units.
inline bool placeUnits(PlacementPolicy policy, const PlacementUnit *units,
                       size_t unitCount, int32_t ownerCount, uint32_t *order,
                       uint64_t *loads, int32_t *ownerOf) {
  if (ownerCount < 1 || unitCount > UINT32_MAX ||
      policy > PlacementPolicy::LeastLoaded)
    return false;
  for (size_t i = 0; i < unitCount; ++i) {
    const OwnerRange &range = units[i].owners;
    if (range.first < 0 || range.count < 0 ||
        range.first > ownerCount - range.count)
      return false;
  }
  std::fill_n(loads, ownerCount, uint64_t(0));
  for (size_t i = 0; i < unitCount; ++i)
    order[i] = static_cast<uint32_t>(i);
  if (policy == PlacementPolicy::LeastLoaded)
    std::sort(order, order + unitCount, [&](uint32_t left, uint32_t right) {
      if (units[left].cost != units[right].cost)
        return units[left].cost > units[right].cost;
      return units[left].id < units[right].id;
    });
  for (size_t i = 0; i < unitCount; ++i) {
    const PlacementUnit &unit = units[order[i]];
    const OwnerRange range =
        unit.owners.count > 0 ? unit.owners : OwnerRange{0, ownerCount};
    const auto count = static_cast<uint64_t>(range.count);
    uint64_t *own = loads + range.first;
    uint64_t place = 0;
    if (policy == PlacementPolicy::RoundRobin)
      place = i % count;
    else if (policy == PlacementPolicy::HashName)
      place = unit.id % count;
    else
      place = static_cast<uint64_t>(std::min_element(own, own + count) - own);
    own[place] += unit.cost;
    ownerOf[order[i]] = range.first + static_cast<int32_t>(place);
  }
  return true;
}

/// Returns the digest of a map, which processes compare before their first
/// step. It covers the units, their costs, the number of owners and the owner
/// of each unit.
inline uint64_t placementDigest(const PlacementUnit *units, size_t unitCount,
                                int32_t ownerCount, const int32_t *ownerOf) {
  const uint64_t head[] = {unitCount, static_cast<uint64_t>(ownerCount)};
  uint64_t digest = XXH64(head, sizeof(head), 0);
  for (size_t i = 0; i < unitCount; ++i) {
    const uint64_t words[] = {units[i].id, units[i].cost,
                              static_cast<uint64_t>(ownerOf[i])};
    digest = XXH64(words, sizeof(words), digest);
  }
  return digest;
}

} // namespace pdlabi

#endif // PDLABI_PLACEMENT_H
