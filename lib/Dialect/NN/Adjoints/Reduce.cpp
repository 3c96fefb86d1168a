//===- Reduce.cpp - Adjoints of reductions --------------------------------===//
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

SmallVector<Value> CumulativeSumOp::getResiduals() { return {}; }

/// An element is part of the sums on its other side.
LogicalResult CumulativeSumOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      CumulativeSumOp::create(adjoints.builder(), getLoc(),
                                              adjoints.cotangent(getResult()),
                                              getExclusive(),
                                              /*reversed=*/!getReversed()));
  return success();
}

SmallVector<Value> ReduceOp::getResiduals() {
  // The shape of the input is always read; its elements only by `max`.
  if (getKind() == Reduction::max)
    return {getInput(), getResult()};
  return {};
}

LogicalResult ReduceOp::buildAdjoint(AdjointBuilder &adjoints) {
  OpBuilder &builder = adjoints.builder();
  Location loc = getLoc();
  RankedTensorType type = tensorOf(getInput());
  ArrayRef<int64_t> axes = getAxes();
  Value cotangent = adjoints.cotangent(getResult());
  switch (getKind()) {
  case Reduction::sum:
    break;
  case Reduction::mean: {
    int64_t count = 1;
    for (int64_t axis : axes) {
      if (type.isDynamicDim(axis))
        return emitOpError("has no gradient: it averages over a dimension of "
                           "unknown size");
      count *= type.getDimSize(axis);
    }
    Value divisor = createNumber(builder, loc, type.getElementType(),
                                 static_cast<double>(count));
    cotangent = DivOp::create(builder, loc, cotangent, divisor);
    break;
  }
  case Reduction::max: {
    Value largest = repeatAlong(builder, loc, getResult(), axes, getInput());
    Value mask = EqualOp::create(builder, loc, getInput(), largest);
    Value ties =
        ReduceOp::create(builder, loc, Reduction::sum, mask, axes, getKeep());
    Value share = DivOp::create(builder, loc, cotangent, ties);
    Value repeated = repeatAlong(builder, loc, share, axes, getInput());
    adjoints.accumulate(getInput(),
                        MulOp::create(builder, loc, repeated, mask));
    return success();
  }
  }
  adjoints.accumulate(getInput(),
                      repeatAlong(builder, loc, cotangent, axes, getInput()));
  return success();
}
