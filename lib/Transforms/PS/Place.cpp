//===- Place.cpp - Show the placement of units on servers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementMap.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSPLACE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct Place : pdlc::impl::PSPlaceBase<Place> {
  using PSPlaceBase::PSPlaceBase;

  void runOnOperation() override {
    PlacementMap map;
    ModuleOp module = getOperation();
    if (failed(PlacementMap::compute(
            module,
            servers < 0 ? std::nullopt : std::optional<int32_t>(servers),
            trainers, policy, map)))
      return signalPassFailure();
    StringRef name = ps::getMode(module).trainersOwn() ? "owners" : "servers";
    for (PlacementMap::Symbol &symbol : map.symbols)
      symbol.units->setAttr(
          name, DenseI32ArrayAttr::get(&getContext(), symbol.owners));
  }
};
} // namespace
