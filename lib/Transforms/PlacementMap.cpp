//===- PlacementMap.cpp - Units of a module, and their servers ------------===//
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

LogicalResult PlacementMap::compute(ModuleOp module, int32_t servers,
                                    StringRef policy, PlacementMap &map) {
  auto known = llvm::find(pdlabi::placementPolicyNames, policy);
  if (known == std::end(pdlabi::placementPolicyNames))
    return module.emitError()
           << "'" << policy << "' is no placement policy; give "
           << llvm::join(ArrayRef(pdlabi::placementPolicyNames), ", ");
  if (servers < 1)
    return module.emitError()
           << "a job has at least one server, not " << servers;
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
      units.push_back({pdlabi::placementUnitId(id, index), cost});
  }
  if (units.empty())
    // Not of the op, which would be printed as a whole.
    return emitError(module.getLoc())
           << "the module is cut into no units for servers: stop at phase "
              "placed of mode sync or async, with "
              "--pdl-pipeline=\"to=placed mode=sync\" before this pass";
  std::vector<uint32_t> order(units.size());
  std::vector<int32_t> owners(units.size());
  map.loads.resize(servers);
  auto number = known - std::begin(pdlabi::placementPolicyNames);
  if (!pdlabi::placeUnits(static_cast<pdlabi::PlacementPolicy>(number),
                          units.data(), units.size(), servers, order.data(),
                          map.loads.data(), owners.data()))
    return module.emitError("has more units than can be placed");
  map.digest = pdlabi::placementDigest(units.data(), units.size(), servers,
                                       owners.data());
  auto next = owners.begin();
  for (Symbol &symbol : map.symbols) {
    symbol.servers.assign(next, next + symbol.costs.size());
    next += symbol.costs.size();
  }
  return success();
}
