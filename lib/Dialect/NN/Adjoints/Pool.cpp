//===- Pool.cpp - Adjoint of pooling --------------------------------------===//
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

bool PoolOp::isDifferentiable(unsigned operandNumber) {
  // The other operands only determine which rows are pooled.
  return operandNumber == 0;
}

SmallVector<Value> PoolOp::getResiduals() {
  // Every operand except the rows.
  return SmallVector<Value>(getOperands().drop_front());
}

LogicalResult PoolOp::buildAdjoint(AdjointBuilder &adjoints) {
  SmallVector<PoolInput> inputs = getInputs();
  for (auto [input, pooled] : llvm::zip_equal(inputs, getPooled()))
    input.cotangent = adjoints.cotangent(pooled);
  adjoints.accumulate(getRows(),
                      PoolGradientOp::create(adjoints.builder(), getLoc(),
                                             getRows().getType(),
                                             getDeduplication(), inputs));
  return success();
}
