//===- Placement.h - Which owner holds what of a program --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The map from the units of a program (row blocks of parameters, shards of
// tables) to owners. Each process computes it at its start from the descriptor
// and the numbers of servers and trainers (pdlabi/placement.h); processes
// compare digests.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_PLACEMENT_H
#define PDLRT_STATE_PLACEMENT_H

#include "pdlabi/abi.h"
#include "pdlabi/placement.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

using pdlabi::PlacementPolicy;

/// The policy of that name: "round-robin", "hash-name" or "least-loaded"; else
/// an error that lists them.
Expected<PlacementPolicy> parsePlacementPolicy(std::string_view name);
/// The name that `parsePlacementPolicy` takes.
const char *placementPolicyName(PlacementPolicy policy);

/// Consecutive rows of a parameter: rows [firstRow, firstRow + rowCount).
using pdlabi::RowBlock;

/// The map of one program for the owners of a job: who holds a part of its
/// state, and whom a trainer's requests go to. They are the job's servers,
/// numbered from 0 in the order of the list of addresses, and behind them, in a
/// mode in which trainers own state, its trainers in the order of their ranks.
/// "Server" below is any owner. Immutable, so any thread may read it.
class Placement {
public:
  /// `descriptor` has passed `checkDescriptor` and is of a mode with owners;
  /// else an error, as where the mode cannot have so many servers. It need not
  /// outlive the map.
  static Expected<Placement> compute(const pdl_descriptor &descriptor,
                                     int32_t servers, int32_t trainers,
                                     PlacementPolicy policy);

  /// How many owners there are.
  int32_t serverCount() const { return int32_t(loads.size()); }
  /// The owner in the process of a trainer, where trainers own state.
  int32_t ownerOfTrainer(int32_t trainer) const { return servers + trainer; }
  /// What messages call an owner: "server 1", "owner in trainer 0".
  std::string nameOf(int32_t owner) const;
  PlacementPolicy policy() const { return usedPolicy; }
  /// What processes compare before the first step.
  uint64_t digest() const { return mapDigest; }

  /// The owner of block or shard `unit` of a symbol.
  int32_t ownerOf(int32_t symbol, int64_t unit) const {
    return symbols[symbol].owners[unit];
  }
  /// The owner of a table's key.
  int32_t ownerOfKey(int32_t table, int64_t key) const {
    return ownerOf(table, pdlabi::shardOfKey(key));
  }
  /// The blocks or shards of a symbol that an owner has, ascending.
  const std::vector<int64_t> &unitsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].units[server];
  }
  /// A parameter's rows that an owner has, ascending; adjacent blocks are one
  /// run. Empty for a table.
  const std::vector<RowBlock> &rowsOf(int32_t symbol, int32_t server) const {
    return symbols[symbol].rows[server];
  }
  /// The number of those rows.
  int64_t rowCountOf(int32_t symbol, int32_t server) const;
  /// The summed costs of an owner's units.
  uint64_t loadOf(int32_t server) const { return loads[server]; }

private:
  struct SymbolMap {
    /// By unit.
    std::vector<int32_t> owners;
    /// By owner.
    std::vector<std::vector<int64_t>> units;
    std::vector<std::vector<RowBlock>> rows;
  };

  /// With processes of their own.
  int32_t servers = 0;
  PlacementPolicy usedPolicy = PlacementPolicy::LeastLoaded;
  uint64_t mapDigest = 0;
  std::vector<SymbolMap> symbols;
  std::vector<uint64_t> loads;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PLACEMENT_H
