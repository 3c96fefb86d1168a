//===- Shapes.cpp - Adjoints of ops that move elements --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

SmallVector<Value> ConcatOp::getResiduals() { return {}; }

LogicalResult ConcatOp::buildAdjoint(AdjointBuilder &adjoints) {
  Value cotangent = adjoints.cotangent(getResult());
  int64_t offset = tensorOf(getResult()).getDimSize(getAxis());
  for (Value input : llvm::reverse(getInputs())) {
    int64_t size = tensorOf(input).getDimSize(getAxis());
    offset -= size;
    if (adjoints.isNeeded(input))
      adjoints.accumulate(input,
                          SliceOp::create(adjoints.builder(), getLoc(),
                                          cotangent, getAxis(), offset, size));
  }
  return success();
}

SmallVector<Value> SliceOp::getResiduals() { return {}; }

LogicalResult SliceOp::buildAdjoint(AdjointBuilder &adjoints) {
  int64_t whole = tensorOf(getInput()).getDimSize(getAxis());
  int64_t behind = whole - getOffset() - getSize();
  adjoints.accumulate(getInput(),
                      PadOp::create(adjoints.builder(), getLoc(),
                                    adjoints.cotangent(getResult()), getAxis(),
                                    getOffset(), behind));
  return success();
}

SmallVector<Value> ReshapeOp::getResiduals() { return {}; }

LogicalResult ReshapeOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      ReshapeOp::create(adjoints.builder(), getLoc(),
                                        getInput().getType(),
                                        adjoints.cotangent(getResult())));
  return success();
}

bool BroadcastOp::isDifferentiable(unsigned operandNumber) {
  // `like` lends its size only.
  return operandNumber == 0;
}

SmallVector<Value> BroadcastOp::getResiduals() { return {}; }

LogicalResult BroadcastOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(), sumTo(adjoints.builder(), getLoc(),
                                        adjoints.cotangent(getResult()),
                                        tensorOf(getInput())));
  return success();
}
