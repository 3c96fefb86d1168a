//===- CheckScalars.cpp - Check rule arguments of groups ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCHECKSCALARS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Computes the values that `once` yields at the first update. A value that
/// depends on the batch, by its weight or a norm, is null.
static SmallVector<FloatAttr> scalarsOfFirstStep(OnceOp once) {
  Block &body = once.getBody().front();
  DenseMap<Value, Attribute> known;
  known[once.getStepArgument()] =
      FloatAttr::get(once.getStepArgument().getType(), 1.0);
  // Compute with one sender. More senders would only lower the learning rate,
  // so this finds numbers that are too large. It does not find numbers that
  // become 0 with more senders.
  if (BlockArgument senders = once.getSendersArgument())
    known[senders] = FloatAttr::get(senders.getType(), 1.0);
  for (Operation &op : body.without_terminator()) {
    SmallVector<Attribute> operands;
    for (Value operand : op.getOperands())
      operands.push_back(known.lookup(operand));
    SmallVector<OpFoldResult> results;
    if (op.getNumResults() != 1 || failed(op.fold(operands, results)) ||
        results.size() != 1)
      continue;
    if (auto value = dyn_cast<Attribute>(results.front()))
      known[op.getResult(0)] = value;
    else
      known[op.getResult(0)] = known.lookup(cast<Value>(results.front()));
  }
  SmallVector<FloatAttr> scalars;
  for (Value value : body.getTerminator()->getOperands())
    scalars.push_back(dyn_cast_or_null<FloatAttr>(known.lookup(value)));
  return scalars;
}

namespace {
struct CheckScalars : pdlc::impl::NNCheckScalarsBase<CheckScalars> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk(
        [&](OnceOp once) -> WalkResult { return check(once); });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult check(OnceOp once) {
    for (auto [scalar, result] :
         llvm::zip_equal(scalarsOfFirstStep(once), once.getScalars())) {
      if (!scalar)
        continue;
      auto element = cast<FloatType>(
          cast<RankedTensorType>(result.getType()).getElementType());
      APFloat rounded =
          convertFloat(scalar.getValue(), element.getFloatSemantics());
      const bool vanishes = rounded.isZero() && !scalar.getValue().isZero();
      if (rounded.isFinite() && !vanishes)
        continue;
      auto group = SymbolTable::lookupNearestSymbolFrom<GroupOp>(
          once, once.getGroupAttr());
      Operation *giver = group ? group.getOperation() : once.getOperation();
      SmallString<8> text;
      scalar.getValue().toString(text);
      if (vanishes) {
        giver->emitWarning() << "gives its rule the number " << text
                             << ", which is 0 in " << element
                             << ", at the first update; look at rate, schedule "
                                "and the hyper-parameters of both";
        continue;
      }
      text.clear();
      rounded.toString(text);
      return giver->emitOpError()
             << "gives its rule the number " << text << " (" << element
             << ") at the first update; look at rate, schedule and the "
                "hyper-parameters of both (C7)";
    }
    return success();
  }
};
} // namespace
