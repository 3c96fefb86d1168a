//===- Mixing.cpp - Adjoints of ops that mix samples, and of dropout ------===//
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

SmallVector<Value> RotateOp::getResiduals() { return {}; }

LogicalResult RotateOp::buildAdjoint(AdjointBuilder &adjoints) {
  // Unsigned, because the smallest signed number is its own negative.
  const uint64_t by = getBy();
  adjoints.accumulate(getInput(),
                      RotateOp::create(adjoints.builder(), getLoc(), getType(),
                                       adjoints.cotangent(getResult()),
                                       static_cast<int64_t>(0 - by)));
  return success();
}

bool InBatchLogSumExpOp::isDifferentiable(unsigned operandNumber) {
  return operandNumber < 2;
}

SmallVector<Value> InBatchLogSumExpOp::getResiduals() {
  SmallVector<Value> residuals(getOperands());
  residuals.push_back(getResult());
  return residuals;
}

LogicalResult InBatchLogSumExpOp::buildAdjoint(AdjointBuilder &adjoints) {
  auto gradientOf = [&](BatchSide side) -> Value {
    return InBatchGradientOp::create(
        adjoints.builder(), getLoc(), getUsers().getType(), side, getUsers(),
        getItems(), getCorrection(), getIds(), getResult(),
        adjoints.cotangent(getResult()));
  };
  if (adjoints.isNeeded(getUsers()))
    adjoints.accumulate(getUsers(), gradientOf(BatchSide::users));
  if (adjoints.isNeeded(getItems()))
    adjoints.accumulate(getItems(), gradientOf(BatchSide::items));
  return success();
}

SmallVector<Value> DropoutOp::getResiduals() { return {}; }

LogicalResult DropoutOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(
      getInput(), DropoutOp::create(adjoints.builder(), getLoc(), getType(),
                                    adjoints.cotangent(getResult()), getBags(),
                                    getRateAttr(), getStreamAttr()));
  return success();
}
