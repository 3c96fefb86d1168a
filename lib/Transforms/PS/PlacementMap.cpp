//===- PlacementMap.cpp - Placement of units on owners --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementMap.h"
#include "pdlabi/placement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pdlc;

/// Returns the number of servers of the module's job.
static FailureOr<int32_t> serversOf(ModuleOp module,
                                    std::optional<int32_t> asked) {
  const ps::ModeProperties &mode = ps::getMode(module);
  if (mode.hasServers && !mode.needsServers()) {
    if (asked.value_or(0) == 0)
      return 0;
    return module.emitError()
           << "a job of mode " << mode.name
           << " has no servers, because its trainers own all state; leave "
              "servers out, and say trainers";
  }
  if (asked.value_or(1) < 1)
    return module.emitError()
           << "a job has at least one server, not " << *asked;
  return asked.value_or(1);
}

LogicalResult PlacementMap::compute(ModuleOp module,
                                    std::optional<int32_t> asked,
                                    int32_t trainers, StringRef policy,
                                    PlacementMap &map) {
  auto known = llvm::find(pdlabi::placementPolicyNames, policy);
  if (known == std::end(pdlabi::placementPolicyNames))
    return module.emitError()
           << "'" << policy << "' is no placement policy; give "
           << llvm::join(ArrayRef(pdlabi::placementPolicyNames), ", ");
  FailureOr<int32_t> servers = serversOf(module, asked);
  if (failed(servers))
    return failure();
  map.servers = *servers;
  if (trainers < 1)
    return module.emitError()
           << "a job has at least one trainer, not " << trainers;
  const ps::ModeProperties &mode = ps::getMode(module);
  const int32_t ownerCount = mode.ownerCount(*servers, trainers);
  std::vector<pdlabi::PlacementUnit> units;
  for (Operation &op : *module.getBody()) {
    if (!isa<ps::BlocksOp, ps::ShardsOp>(op))
      continue;
    Symbol &symbol = map.symbols.emplace_back();
    symbol.units = &op;
    symbol.name = op.getAttrOfType<FlatSymbolRefAttr>("symbol");
    if (auto blocks = dyn_cast<ps::BlocksOp>(op))
      symbol.costs.assign(blocks.getCosts().begin(), blocks.getCosts().end());
    else
      symbol.costs.assign(cast<ps::ShardsOp>(op).getCount(),
                          cast<ps::ShardsOp>(op).getCost());
    uint64_t id = pdlabi::symbolId(symbol.name.getValue().str());
    for (auto [index, cost] : llvm::enumerate(symbol.costs))
      units.push_back(
          {pdlabi::placementUnitId(id, index), cost,
           pdlabi::ownersIn(isa<ps::ShardsOp>(op) ? mode.tablesWith
                                                  : mode.parametersWith,
                            *servers, trainers)});
  }
  if (units.empty())
    // Report at the location: an error at the op would print the whole module.
    return emitError(module.getLoc())
           << "the module is cut into no units for servers: stop at phase "
              "placed of mode sync or async, with "
              "--pdl-pipeline=\"to=placed mode=sync\" before this pass";
  std::vector<uint32_t> order(units.size());
  std::vector<int32_t> owners(units.size());
  map.loads.resize(ownerCount);
  auto number = known - std::begin(pdlabi::placementPolicyNames);
  if (!pdlabi::placeUnits(static_cast<pdlabi::PlacementPolicy>(number),
                          units.data(), units.size(), ownerCount, order.data(),
                          map.loads.data(), owners.data()))
    return module.emitError("has more units than can be placed");
  map.digest = pdlabi::placementDigest(units.data(), units.size(), ownerCount,
                                       owners.data());
  auto next = owners.begin();
  for (Symbol &symbol : map.symbols) {
    symbol.owners.assign(next, next + symbol.costs.size());
    next += symbol.costs.size();
  }
  return success();
}
