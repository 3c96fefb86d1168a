//===- BroadcastSplats.cpp - Broadcast constants of one number ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Interfaces/StageOpInterface.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNBROADCASTSPLATS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Maximum number of elements of a constant that is not changed, because it is
/// small enough to be stored in the executable.
static constexpr int64_t fewElements = 64;

namespace {
struct BroadcastSplats : pdlc::impl::NNBroadcastSplatsBase<BroadcastSplats> {
  void runOnOperation() override {
    uint64_t broadcasts = 0;
    getOperation().walk([&](ConstantOp constant) {
      auto value = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (value && value.isSplat() && value.getNumElements() > fewElements &&
          broadcast(constant, value))
        ++broadcasts;
    });
    reportStatistic(*this, getOperation(), numBroadcasts, "splats-broadcast",
                    broadcasts);
  }

  /// If users need the constant in memory, gives them a tensor that is filled
  /// at run time instead, and returns true. Other users are loops, which read
  /// the single number.
  static bool broadcast(ConstantOp constant, DenseElementsAttr value) {
    // A view always needs memory, even if an elementwise op reads it.
    auto needsMemory = [](OpOperand &use) {
      auto inStage = dyn_cast<StageOpInterface>(use.getOwner());
      return !isa<ElementwiseOpInterface>(use.getOwner()) ||
             (inStage && inStage.getViewSource());
    };
    if (llvm::none_of(constant->getUses(), needsMemory))
      return false;
    OpBuilder builder(constant);
    SmallVector<int64_t> ones(value.getType().getRank(), 1);
    auto one = ConstantOp::create(
        builder, constant.getLoc(),
        cast<ElementsAttr>(value.resizeSplat(value.getType().clone(ones))));
    Value filled = BroadcastOp::create(builder, constant.getLoc(),
                                       constant.getType(), one, Value());
    constant.getResult().replaceUsesWithIf(filled, needsMemory);
    if (constant->use_empty())
      constant.erase();
    return true;
  }
};
} // namespace
