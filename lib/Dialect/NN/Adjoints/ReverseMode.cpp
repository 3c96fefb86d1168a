//===- ReverseMode.cpp - Reverse-mode differentiation ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/ReverseMode.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

void ReverseMode::accumulate(Value operand, Value value) {
  if (!isNeeded(operand))
    return;
  Value &sum = cotangents[operand];
  sum = sum ? AddOp::create(opBuilder, value.getLoc(), sum, value) : value;
}

void ReverseMode::activate(Operation &op) {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  bool depends = llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
    return active.contains(operand.get()) &&
           (!differentiable ||
            differentiable.isDifferentiable(operand.getOperandNumber()));
  });
  if (depends)
    for (Value result : op.getResults())
      if (isFloatTensor(result))
        active.insert(result);
}

FailureOr<bool> ReverseMode::differentiate(Operation &op) {
  bool reached = llvm::any_of(op.getResults(), [&](Value result) {
    return cotangents.contains(result);
  });
  if (!reached)
    return false;
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op.emitOpError("has no gradient, but stands between a trained "
                          "symbol and the losses; put nn.stop_gradient "
                          "before it, or say the same with ops that have one");
  if (failed(differentiable.buildAdjoint(*this)))
    return failure();
  return true;
}
