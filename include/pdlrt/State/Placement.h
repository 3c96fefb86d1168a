//===- Placement.h - Placement of state on owners ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map from the units of a program (row blocks of parameters, shards of
// tables) to owners. Each process computes it at its start from the descriptor
// and the numbers of servers and trainers (pdlabi/placement.h). Processes
// compare digests of the map.
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
/// "least-loaded". For any other name, returns an error that lists them.
Expected<PlacementPolicy> parsePlacementPolicy(std::string_view name);
/// Returns the name that `parsePlacementPolicy` takes.
const char *placementPolicyName(PlacementPolicy policy);

/// Consecutive rows of a parameter: [firstRow, firstRow + rowCount).
using pdlabi::RowBlock;

/// The map of one program to the owners of a job. It determines which owner has
/// a part of the state, and where a trainer sends its requests. Owners are the
/// job's servers, numbered from 0 in the order of the list of addresses. If
/// trainers own state, they follow in the order of their ranks. "Server" below
/// means any owner. Immutable and thread-safe.
class Placement {
public:
  /// Computes the map. `descriptor` must have passed `checkDescriptor`; it need
  /// not outlive the map. Returns an error if its mode has no owners, or cannot
  /// have this number of servers.
  static Expected<Placement> compute(const pdl_descriptor &descriptor,
                                     int32_t servers, int32_t trainers,
                                     PlacementPolicy policy);

  /// Returns the number of owners.
  int32_t serverCount() const { return int32_t(loads.size()); }
  /// Returns the owner in the process of a trainer, if trainers own state.
  int32_t ownerOfTrainer(int32_t trainer) const { return servers + trainer; }
  /// Returns the name of an owner in messages: "server 1", "owner in trainer
  /// 0".
  std::string nameOf(int32_t owner) const;
  PlacementPolicy policy() const { return usedPolicy; }
  /// Returns the digest that processes compare before the first step.
  uint64_t digest() const { return mapDigest; }

  /// Returns the owner of block or shard `unit` of a symbol.
  int32_t ownerOf(int32_t symbol, int64_t unit) const {
    return symbols[symbol].owners[unit];
  }
  /// Returns the owner of a table's key.
  int32_t ownerOfKey(int32_t table, int64_t key) const {
    return ownerOf(table, pdlabi::shardOfKey(key));
  }
  /// Returns the blocks or shards of a symbol on an owner, ascending.
  const std::vector<int64_t> &unitsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].units[server];
  }
  /// Returns the rows of a parameter on an owner, ascending; adjacent blocks
  /// are merged. Empty for a table.
  const std::vector<RowBlock> &rowsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].rows[server];
  }
  /// Returns the number of these rows.
  int64_t rowCountOf(int32_t symbol, int32_t server) const;
  /// Returns the sum of the costs of an owner's units.
  uint64_t loadOf(int32_t server) const { return loads[server]; }

private:
  struct SymbolMap {
    /// Indexed by unit.
    std::vector<int32_t> owners;
    /// Indexed by owner.
    std::vector<std::vector<int64_t>> units;
    std::vector<std::vector<RowBlock>> rows;
  };

  /// Number of owners with their own process.
  int32_t servers = 0;
  PlacementPolicy usedPolicy = PlacementPolicy::LeastLoaded;
  uint64_t mapDigest = 0;
  std::vector<SymbolMap> symbols;
  std::vector<uint64_t> loads;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PLACEMENT_H
