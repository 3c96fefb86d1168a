//===- Placement.h - Placement of state on owners ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map from units of state to owners. A unit is a block of rows of a
// parameter, or a shard of a table. Each process of a job computes the map at
// its start, from the descriptor and the numbers of servers and trainers
// (pdlabi/placement.h). Processes compare digests of the map, to detect
// differences.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_PLACEMENT_H
#define PDLRT_STATE_PLACEMENT_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/placement.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

using pdlabi::PlacementPolicy;

/// Returns the policy with this name: "round-robin", "hash-name" or
/// "least-loaded". For any other name, returns an error that lists the three.
Expected<PlacementPolicy> parsePlacementPolicy(std::string_view name);
/// Returns the name of a policy, which `parsePlacementPolicy` accepts.
const char *placementPolicyName(PlacementPolicy policy);

/// Consecutive rows of a parameter: [firstRow, firstRow + rowCount).
using pdlabi::RowBlock;

/// The map from the units of one program to the owners of a job. It determines
/// to which owner a trainer sends a key or a gradient. Owners are the job's
/// servers, numbered from 0 in the order of the list of addresses. If trainers
/// own state, they follow, in the order of their ranks. In this class, "server"
/// means any owner. Immutable and thread-safe.
class Placement {
public:
  /// Computes the map. `descriptor` must have passed `checkDescriptor`; it need
  /// not outlive the map. Returns an error if the mode has no owners, or does
  /// not allow `servers` servers.
  static Expected<Placement> compute(const pdl_descriptor &descriptor,
                                     int32_t servers, int32_t trainers,
                                     PlacementPolicy policy);

  /// Returns the number of owners.
  int32_t serverCount() const { return int32_t(loads.size()); }
  /// Returns the number of the owner in the process of a trainer. Call only if
  /// trainers own state.
  int32_t ownerOfTrainer(int32_t trainer) const { return servers + trainer; }
  /// Returns the name of an owner in messages, such as "server 1" or "owner in
  /// trainer 0".
  std::string nameOf(int32_t owner) const;
  PlacementPolicy policy() const { return usedPolicy; }
  /// Returns the digest that processes compare before the first step.
  uint64_t digest() const { return mapDigest; }

  /// Returns the owner of a unit of a symbol: of block or shard number `unit`.
  int32_t ownerOf(int32_t symbol, int64_t unit) const {
    return symbols[symbol].owners[unit];
  }
  /// Returns the owner of a table's key.
  int32_t ownerOfKey(int32_t table, int64_t key) const {
    return ownerOf(table, pdlabi::shardOfKey(key));
  }
  /// Returns the numbers of the units of a symbol that an owner has, ascending.
  const std::vector<int64_t> &unitsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].units[server];
  }
  /// Returns the rows of a parameter that an owner has, ascending. Adjacent
  /// blocks are merged. Empty for a table.
  const std::vector<RowBlock> &rowsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].rows[server];
  }
  /// Returns the number of rows in `rowsOf`.
  int64_t rowCountOf(int32_t symbol, int32_t server) const;
  /// Returns the sum of the costs of all units that an owner has.
  uint64_t loadOf(int32_t server) const { return loads[server]; }

private:
  struct SymbolMap {
    /// Owner of each unit.
    std::vector<int32_t> owners;
    /// Units of each owner, and, for parameters, its rows.
    std::vector<std::vector<int64_t>> units;
    std::vector<std::vector<RowBlock>> rows;
  };

  /// Number of servers: of owners that are not in a trainer.
  int32_t servers = 0;
  PlacementPolicy usedPolicy = PlacementPolicy::LeastLoaded;
  uint64_t mapDigest = 0;
  std::vector<SymbolMap> symbols;
  std::vector<uint64_t> loads;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PLACEMENT_H
