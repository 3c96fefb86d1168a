//===- Placement.cpp - Placement of state on owners -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Placement.h"

#include "pdlrt/Abi/Mode.h"

#include <iterator>
#include <string>
#include <utility>

using namespace pdlrt;

/// A larger number is a mistake on the command line.
static constexpr int32_t maxServers = 65536;

Expected<PlacementPolicy> pdlrt::parsePlacementPolicy(std::string_view name) {
  for (uint32_t i = 0; i < std::size(pdlabi::placementPolicyNames); ++i)
    if (name == pdlabi::placementPolicyNames[i])
      return static_cast<PlacementPolicy>(i);
  return Status::invalidArgument("'" + std::string(name) +
                                 "' is no placement policy; give round-robin, "
                                 "hash-name or least-loaded");
}

const char *pdlrt::placementPolicyName(PlacementPolicy policy) {
  return pdlabi::placementPolicyNames[static_cast<uint32_t>(policy)];
}

/// Returns an error if a job of this mode cannot have these numbers of servers
/// and trainers.
static Status checkCounts(const Mode &mode, int32_t servers, int32_t trainers) {
  if (mode.needsServers() && (servers < 1 || servers > maxServers))
    return Status::invalidArgument("a job has 1 to " +
                                   std::to_string(maxServers) +
                                   " servers, not " + std::to_string(servers));
  if (!mode.needsServers() && servers != 0)
    return Status::invalidArgument(
        std::string("a job of mode ") + mode.name + " has no servers, not " +
        std::to_string(servers) + ": its trainers own all state");
  if (trainers < 1 || trainers > maxServers)
    return Status::invalidArgument(
        "a job has 1 to " + std::to_string(maxServers) + " trainers, not " +
        std::to_string(trainers));
  return {};
}

Expected<Placement> Placement::compute(const pdl_descriptor &descriptor,
                                       int32_t servers, int32_t trainers,
                                       PlacementPolicy policy) {
  const Mode &mode = modeOf(descriptor);
  if (!mode.hasServers)
    return Status::failedPrecondition(
        std::string("model ") + descriptor.model_name +
        " was translated for one process and knows no servers; translate it "
        "with " +
        serverModeFlags());
  PDLRT_RETURN_IF_ERROR(checkCounts(mode, servers, trainers));
  const int32_t ownerCount = mode.ownerCount(servers, trainers);
  std::vector<pdlabi::PlacementUnit> units;
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    const bool isTable = symbol.kind == PDL_SYMBOL_TABLE;
    for (int64_t u = 0; u < symbol.unit_count; ++u)
      units.push_back(
          {pdlabi::placementUnitId(symbol.id, uint64_t(u)),
           symbol.unit_costs[isTable ? 0 : u],
           pdlabi::ownersIn(isTable ? mode.tablesWith : mode.parametersWith,
                            servers, trainers)});
  }
  Placement result;
  result.servers = servers;
  result.usedPolicy = policy;
  result.loads.resize(ownerCount);
  std::vector<uint32_t> order(units.size());
  std::vector<int32_t> owners(units.size());
  if (!pdlabi::placeUnits(policy, units.data(), units.size(), ownerCount,
                          order.data(), result.loads.data(), owners.data()))
    return Status::internal("this program's units cannot be placed");
  result.mapDigest = pdlabi::placementDigest(units.data(), units.size(),
                                             ownerCount, owners.data());

  const int32_t *next = owners.data();
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    SymbolMap &map = result.symbols.emplace_back();
    map.owners.assign(next, next + symbol.unit_count);
    next += symbol.unit_count;
    map.units.resize(ownerCount);
    map.rows.resize(ownerCount);
    for (int64_t u = 0; u < symbol.unit_count; ++u) {
      const int32_t server = map.owners[u];
      map.units[server].push_back(u);
      if (symbol.kind == PDL_SYMBOL_TABLE)
        continue;
      const int64_t first = symbol.block_rows[u];
      const int64_t count = symbol.block_rows[u + 1] - first;
      std::vector<RowBlock> &rows = map.rows[server];
      if (!rows.empty() && rows.back().firstRow + rows.back().rowCount == first)
        rows.back().rowCount += count;
      else
        rows.push_back({first, count});
    }
  }
  return result;
}

int64_t Placement::rowCountOf(int32_t symbol, int32_t server) const {
  int64_t count = 0;
  for (const RowBlock &rows : rowsOf(symbol, server))
    count += rows.rowCount;
  return count;
}

std::string Placement::nameOf(int32_t owner) const {
  return owner < servers
             ? "server " + std::to_string(owner)
             : "owner in trainer " + std::to_string(owner - servers);
}
