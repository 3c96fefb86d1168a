//===- If.cpp - Adjoint of nn.if ------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The adjoint of an nn.if is another nn.if. Each body of it recomputes the
// needed values of the original body and differentiates them in reverse order.
// Therefore no value of a body that may not have run must be kept.
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"
#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/ReverseMode.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {

/// Builds the adjoint of one body into a separate block.
class ChoiceAdjoint : public ReverseMode {
public:
  ChoiceAdjoint(IfOp op, Block &body, Block &block)
      : ReverseMode(OpBuilder::atBlockEnd(&block)), op(op), body(body),
        block(block) {}

  /// Builds the adjoint. Its bodies yield the cotangents of those inputs of the
  /// op for which `isNeeded` is true. `ofResults` are the cotangents of the
  /// op's results; null for zero.
  LogicalResult run(ArrayRef<bool> isNeeded, ArrayRef<Value> ofResults);

private:
  Value zerosLike(Value value);

  IfOp op;
  Block &body, &block;
};

} // namespace

Value ChoiceAdjoint::zerosLike(Value value) {
  auto type = tensorOf(value);
  Value zero = createNumber(opBuilder, op.getLoc(), type.getElementType(), 0);
  return BroadcastOp::create(opBuilder, op.getLoc(), type, zero,
                             type.hasStaticShape() ? Value() : value);
}

LogicalResult ChoiceAdjoint::run(ArrayRef<bool> isNeeded,
                                 ArrayRef<Value> ofResults) {
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments())
    mapping.map(argument,
                block.addArgument(argument.getType(), argument.getLoc()));
  for (auto [argument, needed] : llvm::zip(block.getArguments(), isNeeded))
    if (needed)
      active.insert(argument);
  SmallVector<Operation *> repeated;
  for (Operation &each : body.without_terminator()) {
    repeated.push_back(opBuilder.clone(each, mapping));
    activate(*repeated.back());
  }
  for (auto [yielded, given] :
       llvm::zip_equal(body.getTerminator()->getOperands(), ofResults))
    if (given)
      accumulate(mapping.lookup(yielded),
                 block.addArgument(given.getType(), given.getLoc()));
  for (Operation *each : llvm::reverse(repeated))
    if (failed(differentiate(*each)))
      return failure();
  SmallVector<Value> yielded;
  for (auto [argument, needed] : llvm::zip(block.getArguments(), isNeeded)) {
    if (!needed)
      continue;
    Value found = cotangent(argument);
    yielded.push_back(found ? found : zerosLike(argument));
  }
  YieldOp::create(opBuilder, op.getLoc(), yielded);
  for (Operation *each : llvm::reverse(repeated))
    if (each->use_empty())
      each->erase();
  return success();
}

bool IfOp::isDifferentiable(unsigned operand) { return operand != 0; }

SmallVector<Value> IfOp::getResiduals() { return getOperands(); }

LogicalResult IfOp::buildAdjoint(AdjointBuilder &adjoints) {
  SmallVector<bool> isNeeded;
  SmallVector<Value> needed;
  for (Value input : getInputs()) {
    isNeeded.push_back(adjoints.isNeeded(input));
    if (isNeeded.back())
      needed.push_back(input);
  }
  SmallVector<Value> cotangents, operands(getInputs());
  for (Value result : getResults()) {
    cotangents.push_back(adjoints.cotangent(result));
    if (cotangents.back())
      operands.push_back(cotangents.back());
  }
  auto adjoint =
      IfOp::create(adjoints.builder(), getLoc(), TypeRange(ValueRange(needed)),
                   getCondition(), operands);
  for (auto [from, to] : llvm::zip_equal(getRegions(), adjoint->getRegions()))
    if (failed(ChoiceAdjoint(*this, from->front(), to.emplaceBlock())
                   .run(isNeeded, cotangents)))
      return failure();
  for (auto [input, cotangent] : llvm::zip_equal(needed, adjoint.getResults()))
    adjoints.accumulate(input, cotangent);
  return success();
}
