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
  // Ids, splits and their inverse say which rows are pooled.
  return operandNumber == 0;
}

SmallVector<Value> PoolOp::getResiduals() {
  SmallVector<Value> residuals{getInverse(), getKeySplits(), getOccurrences()};
  llvm::append_range(residuals, getIds());
  llvm::append_range(residuals, getSplits());
  return residuals;
}

LogicalResult PoolOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  SmallVector<Value> cotangents;
  SmallVector<bool> present;
  for (Value pooled : getPooled()) {
    Value cotangent = adjoints.cotangent(pooled);
    present.push_back(cotangent != nullptr);
    if (cotangent)
      cotangents.push_back(cotangent);
  }
  adjoints.accumulate(getRows(), PoolGradientOp::create(
                                     builder, getLoc(), getRows().getType(),
                                     cotangents, getInverse(), getKeySplits(),
                                     getOccurrences(), getIds(), getSplits(),
                                     getPoolings(), getBagged(), present));
  return success();
}
