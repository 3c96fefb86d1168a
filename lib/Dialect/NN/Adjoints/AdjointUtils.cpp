//===- AdjointUtils.cpp - Common code of adjoints -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AdjointUtils.h"

using namespace mlir;
using namespace pdlc::nn;

Value pdlc::nn::createNumber(OpBuilder &builder, Location loc, Type element,
                             double value) {
  auto type = RankedTensorType::get({}, element);
  Attribute number = builder.getFloatAttr(element, value);
  return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
}

static Value sumOver(OpBuilder &builder, Location loc, Value value,
                     ArrayRef<int64_t> axes, bool keep) {
  return ReduceOp::create(builder, loc, Reduction::sum, value, axes, keep);
}

Value pdlc::nn::sumTo(OpBuilder &builder, Location loc, Value value,
                      RankedTensorType type) {
  RankedTensorType from = tensorOf(value);
  if (from == type)
    return value;
  int64_t missing = from.getRank() - type.getRank();
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < from.getRank(); ++i)
    if (i < missing ||
        (type.getDimSize(i - missing) == 1 && from.getDimSize(i) != 1))
      axes.push_back(i);
  // `sumOver` either removes all of its axes, or keeps all of them with size 1.
  // If some must be removed and others kept, keep all; the reshape below
  // removes the rest.
  bool keep = axes.back() >= missing;
  if (axes.size() > 1 && axes.front() == 0) {
    value = sumOver(builder, loc, value, ArrayRef(axes).drop_front(), true);
    value = sumOver(builder, loc, value, axes.front(), true);
  } else {
    value = sumOver(builder, loc, value, axes, keep);
  }
  if (value.getType() != type)
    value = ReshapeOp::create(builder, loc, type, value);
  return value;
}

Value pdlc::nn::repeatAlong(OpBuilder &builder, Location loc, Value value,
                            ArrayRef<int64_t> axes, Value like) {
  RankedTensorType type = tensorOf(like);
  SmallVector<int64_t> units(type.getShape());
  for (int64_t axis : axes)
    units[axis] = 1;
  auto unitType = RankedTensorType::get(units, type.getElementType());
  if (value.getType() != unitType)
    value = ReshapeOp::create(builder, loc, unitType, value);
  if (unitType == type)
    return value;
  return BroadcastOp::create(builder, loc, type, value, like);
}
