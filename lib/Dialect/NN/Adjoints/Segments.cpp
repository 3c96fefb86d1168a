//===- Segments.cpp - Adjoints of ops on rows of bags ---------------------===//
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

SmallVector<Value> SegmentSumOp::getResiduals() { return {}; }

LogicalResult SegmentSumOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getRows(),
                      SegmentRepeatOp::create(adjoints.builder(), getLoc(),
                                              getRows().getType(),
                                              adjoints.cotangent(getResult()),
                                              getBags(), /*like=*/getRows()));
  return success();
}

SmallVector<Value> SegmentRepeatOp::getResiduals() { return {}; }

LogicalResult SegmentRepeatOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(
      getInput(),
      SegmentSumOp::create(adjoints.builder(), getLoc(), getInput().getType(),
                           adjoints.cotangent(getResult()), getBags()));
  return success();
}

SmallVector<Value> SegmentMaxOp::getResiduals() {
  return {getRows(), getResult()};
}

LogicalResult SegmentMaxOp::buildAdjoint(AdjointBuilder &adjoints) {
  ImplicitLocOpBuilder builder(getLoc(), adjoints.builder());
  auto repeat = [&](Value value) -> Value {
    return SegmentRepeatOp::create(builder, getRows().getType(), value,
                                   getBags(), /*like=*/getRows());
  };
  Value mask = EqualOp::create(builder, getRows(), repeat(getResult()));
  Value ties = SegmentSumOp::create(builder, getType(), mask, getBags());
  // A bag without rows has 0 ties. Divides by 1 instead; the quotient is not
  // used.
  Value one =
      createNumber(builder, getLoc(), tensorOf(ties).getElementType(), 1);
  Value share = DivOp::create(builder, adjoints.cotangent(getResult()),
                              MaxOp::create(builder, ties, one));
  adjoints.accumulate(getRows(), MulOp::create(builder, repeat(share), mask));
  return success();
}

SmallVector<Value> SegmentShiftOp::getResiduals() { return {}; }

LogicalResult SegmentShiftOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getRows(), SegmentShiftOp::create(
                                     adjoints.builder(), getLoc(), getType(),
                                     adjoints.cotangent(getResult()), getBags(),
                                     -static_cast<int64_t>(getBy())));
  return success();
}

SmallVector<Value> SegmentReverseOp::getResiduals() { return {}; }

LogicalResult SegmentReverseOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(
      getRows(),
      SegmentReverseOp::create(adjoints.builder(), getLoc(), getType(),
                               adjoints.cotangent(getResult()), getBags()));
  return success();
}

SmallVector<Value> SegmentPadOp::getResiduals() { return {}; }

LogicalResult SegmentPadOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(
      getRows(),
      SegmentUnpadOp::create(adjoints.builder(), getLoc(), getRows().getType(),
                             adjoints.cotangent(getResult()), getBags(),
                             /*like=*/getRows(), getFromEnd()));
  return success();
}

SmallVector<Value> SegmentUnpadOp::getResiduals() { return {}; }

LogicalResult SegmentUnpadOp::buildAdjoint(AdjointBuilder &adjoints) {
  adjoints.accumulate(getInput(),
                      SegmentPadOp::create(adjoints.builder(), getLoc(),
                                           getInput().getType(),
                                           adjoints.cotangent(getResult()),
                                           getBags(), getFromEnd()));
  return success();
}
