//===- CompositeOps.cpp - Evaluation of composite ops ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Evaluates a composite op by the ops that replace it. Builds these in a
/// separate program, whose block arguments stand for the operands, so that the
/// program that runs does not change.
LogicalResult interpreter::evaluateComposite(CompositeOpInterface op,
                                             Frame &frame) {
  // Some ops depend on whether their program trains.
  OperationState like(op.getLoc(), ProgramOp::getOperationName());
  like.addRegion();
  OwningOpRef<ProgramOp> program(cast<ProgramOp>(Operation::create(like)));
  program->setFrozen(frame.isFrozen());
  Block &block = program->getBody().emplaceBlock();
  IRMapping mapping;
  Frame inner(frame.step());
  inner.setSymbols(frame.takenSymbols());
  for (Value operand : op->getOperands()) {
    if (mapping.contains(operand))
      continue;
    Value argument = block.addArgument(operand.getType(), op.getLoc());
    mapping.map(operand, argument);
    inner.set(argument, frame.value(operand));
  }
  ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
  builder.setInsertionPointToEnd(&block);
  Operation *copy = builder.clone(*op, mapping);
  builder.setInsertionPoint(copy);
  Value result = cast<CompositeOpInterface>(copy).spellOut(builder);
  if (!result)
    return op->emitOpError("cannot be said by other ops");
  for (Operation &each : llvm::make_range(block.begin(), copy->getIterator()))
    if (failed(evaluate(&each, inner)))
      return failure();
  frame.set(op->getResult(0), inner.value(result));
  return success();
}

namespace {

struct CompositeEvaluator
    : InterpretableOpInterface::FallbackModel<CompositeEvaluator> {
  LogicalResult interpret(Operation *op, Frame &frame) const {
    return evaluateComposite(cast<CompositeOpInterface>(op), frame);
  }
};

} // namespace

void interpreter::attachCompositeOps(MLIRContext &context) {
  attachToOpsWith<CompositeOpInterface, CompositeEvaluator>(
      context, NNDialect::getDialectNamespace());
}
