//===- Cast.cpp - Adjoint of nn.cast --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Only casts between float types are differentiable; ids have no gradient.
bool CastOp::isDifferentiable(unsigned) {
  return isa<FloatType>(elementTypeOf(getInput().getType())) &&
         isa<FloatType>(getType().getElementType());
}

SmallVector<Value> CastOp::getResiduals() { return {}; }

/// Rounding is treated as the identity.
LogicalResult CastOp::buildAdjoint(AdjointBuilder &adjoints) {
  if (adjoints.isNeeded(getInput()))
    adjoints.accumulate(getInput(),
                        CastOp::create(adjoints.builder(), getLoc(),
                                       getInput().getType(),
                                       adjoints.cotangent(getResult())));
  return success();
}
