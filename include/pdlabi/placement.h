//===- placement.h - Which server holds which block -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program knows its blocks and shards, never the number of servers. Each
// process computes the map from units to servers at its start, with these
// functions, and the processes compare digests. So they must be functions of
// integers only: no hash table order, no floating point, no allocation.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_PLACEMENT_H
#define PDLABI_PLACEMENT_H

#include "pdlabi/hash.h"
#include "pdlabi/norm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pdlabi {

//===----------------------------------------------------------------------===//
// Cutting a parameter into row blocks
//===----------------------------------------------------------------------===//

/// Smaller messages waste bandwidth: the default minimum of a block.
inline constexpr int64_t defaultMinBlockElements = 8192;
/// The default size that blocks are cut to.
inline constexpr int64_t defaultTargetBlockBytes = 128 * 1024;

/// Consecutive rows of a parameter.
struct RowBlock {
  int64_t firstRow = 0;
  int64_t rowCount = 0;
};

/// Into how many blocks a parameter of `rows` rows of `rowElements` elements of
/// `elementBytes` bytes is cut: as many as leave `minElements` elements and
/// about `targetBytes` bytes to each; at least 1. Blocks are whole units of
/// `rowsInNormUnit` rows. A vector is one unit: it has `rows` = 1. All
/// arguments are at least 1.
inline int64_t rowBlockCount(int64_t rows, int64_t rowElements,
                             int64_t elementBytes,
                             int64_t minElements = defaultMinBlockElements,
                             int64_t targetBytes = defaultTargetBlockBytes) {
  // In 128 bits: a wide row times 64 may pass 63 bits.
  using Wide = __int128;
  const Wide unitElements = Wide(rowElements) * rowsInNormUnit;
  const Wide unitBytes = unitElements * elementBytes;
  const Wide forMinimum = (minElements + unitElements - 1) / unitElements;
  // The nearest count of units, but one at least.
  const Wide forTarget = (targetBytes + unitBytes / 2) / unitBytes;
  const Wide unitsInBlock = std::max({Wide(1), forMinimum, forTarget});
  return static_cast<int64_t>(
      std::max(Wide(1), rows / (unitsInBlock * rowsInNormUnit)));
}

/// Block `index` of `blockCount`: the units are dealt evenly, and only the
/// parameter's last unit may be short.
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
// Units to servers
//===----------------------------------------------------------------------===//

/// What is placed as a whole: a row block of a parameter or a logical shard of
/// a table.
struct PlacementUnit {
  /// `placementUnitId`; no two units of a program share one.
  uint64_t id = 0;
  /// Bytes a step, or whatever else the program's costs are counted in. The
  /// sum over all units is below 2^64.
  uint64_t cost = 0;
};

/// The id of block or shard `index` of a symbol: it does not change when other
/// symbols come and go.
inline uint64_t placementUnitId(uint64_t symbol, uint64_t index) {
  const uint64_t words[] = {symbol, index};
  return XXH64(words, sizeof(words), 0);
}

enum class PlacementPolicy : uint32_t {
  /// Unit i on server i mod servers, in the order of the list.
  RoundRobin = 0,
  /// The id modulo the servers: no unit's place depends on other units.
  HashName = 1,
  /// Dearest first, equal costs by id, each on the server with the least load
  /// so far, of equal ones on the first. The result does not depend on the
  /// order of the list.
  LeastLoaded = 2,
};

/// The names of the policies, by number, in flags and reports.
inline constexpr const char *placementPolicyNames[] = {
    "round-robin", "hash-name", "least-loaded"};

/// Writes the server of each unit, in [0, serverCount), to `serverOf`.
/// `order` (one entry a unit) and `loads` (one a server) belong to the caller;
/// `loads` holds each server's cost afterwards. False, with nothing written,
/// where there is no server, the policy is unknown, or there are 2^32 units.
inline bool placeUnits(PlacementPolicy policy, const PlacementUnit *units,
                       size_t unitCount, int32_t serverCount, uint32_t *order,
                       uint64_t *loads, int32_t *serverOf) {
  if (serverCount < 1 || unitCount > UINT32_MAX ||
      policy > PlacementPolicy::LeastLoaded)
    return false;
  std::fill_n(loads, serverCount, uint64_t(0));
  for (size_t i = 0; i < unitCount; ++i)
    order[i] = static_cast<uint32_t>(i);
  if (policy == PlacementPolicy::LeastLoaded)
    std::sort(order, order + unitCount, [&](uint32_t left, uint32_t right) {
      if (units[left].cost != units[right].cost)
        return units[left].cost > units[right].cost;
      return units[left].id < units[right].id;
    });
  const auto servers = static_cast<uint64_t>(serverCount);
  for (size_t i = 0; i < unitCount; ++i) {
    const PlacementUnit &unit = units[order[i]];
    uint64_t server = 0;
    if (policy == PlacementPolicy::RoundRobin)
      server = i % servers;
    else if (policy == PlacementPolicy::HashName)
      server = unit.id % servers;
    else
      server = static_cast<uint64_t>(
          std::min_element(loads, loads + serverCount) - loads);
    loads[server] += unit.cost;
    serverOf[order[i]] = static_cast<int32_t>(server);
  }
  return true;
}

/// What processes compare before their first step: it differs where units,
/// costs, servers or the map differ.
inline uint64_t placementDigest(const PlacementUnit *units, size_t unitCount,
                                int32_t serverCount, const int32_t *serverOf) {
  const uint64_t head[] = {unitCount, static_cast<uint64_t>(serverCount)};
  uint64_t digest = XXH64(head, sizeof(head), 0);
  for (size_t i = 0; i < unitCount; ++i) {
    const uint64_t words[] = {units[i].id, units[i].cost,
                              static_cast<uint64_t>(serverOf[i])};
    digest = XXH64(words, sizeof(words), digest);
  }
  return digest;
}

} // namespace pdlabi

#endif // PDLABI_PLACEMENT_H
