//===- SettleDelays.cpp - Remove unneeded delay compensation --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSSETTLEDELAYS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Replaces the seen value, argument 2 of a region, by the current value, and
/// simplifies the region. A select on `value == seen` becomes its first choice:
/// without delay the two are equal, because values are finite.
static void settle(Region &region) {
  Block &body = region.front();
  body.getArgument(2).replaceAllUsesWith(body.getArgument(0));
  body.eraseArgument(2);
  for (auto compare : llvm::make_early_inc_range(body.getOps<arith::CmpFOp>()))
    if (compare.getPredicate() == arith::CmpFPredicate::OEQ &&
        compare.getLhs() == body.getArgument(0) &&
        compare.getRhs() == body.getArgument(0))
      for (Operation *user :
           llvm::make_early_inc_range(compare.getResult().getUsers()))
        if (auto select = dyn_cast<arith::SelectOp>(user)) {
          select.replaceAllUsesWith(select.getTrueValue());
          select.erase();
        }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct SettleDelays : pdlc::impl::PSSettleDelaysBase<SettleDelays> {
  using PSSettleDelaysBase::PSSettleDelaysBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::optional<ps::Mode> known = ps::modeOf(mode);
    if (!known) {
      module.emitError("ps-settle-delays knows no mode '")
          << mode << "'; expected " << ps::modeList(/*withServers=*/false);
      return signalPassFailure();
    }
    const ps::ModeProperties &properties = ps::propertiesOf(*known);
    if (properties.pushesAreSteps())
      return markAllAnalysesPreserved();
    uint64_t settled = 0;
    WalkResult result = module.walk([&](nn::UpdateOp update) -> WalkResult {
      if (!update.getSeen())
        return success();
      if (properties.closesWithQuorum)
        return refuse(update);
      settle(update.getEach());
      if (update.hasRow())
        settle(update.getSum());
      update.setSeen(false);
      ++settled;
      return success();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    reportStatistic(*this, module, numSettled, "updates-settled", settled);
  }

  LogicalResult refuse(nn::UpdateOp update) {
    Operation *symbol =
        SymbolTable::lookupNearestSymbolFrom(update, update.getSymbolAttr());
    auto group = SymbolTable::lookupNearestSymbolFrom<nn::GroupOp>(
        update, nn::groupOf(symbol));
    return group.emitOpError()
           << "is not for mode " << mode
           << ": it compensates delays, and a round adds gradients that were "
              "computed on different values; leave compensate out, or use "
              "mode async or half-async";
  }
};
} // namespace
