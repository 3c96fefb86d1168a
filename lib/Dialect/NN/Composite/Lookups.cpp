//===- Lookups.cpp - Composite lookups ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Composer.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the divisor of the sum of weighted rows, for each bag. A divisor of
/// 0, for example of an empty bag, is replaced by 1.
static Value divisorOf(Composer &compose, Pooling pooling, Value weights,
                       Value bags, Type type) {
  if (pooling == Pooling::sqrtn)
    weights = compose.square(weights);
  Value sum = SegmentSumOp::create(compose.builder, type, weights, bags);
  Value one = compose.number(sum, 1);
  Value divisor = SelectOp::create(compose.builder, sum, sum, one);
  return pooling == Pooling::sqrtn ? compose.apply<SqrtOp>(divisor) : divisor;
}

/// Without weights, the op is not composite.
Value LookupOp::spellOut(ImplicitLocOpBuilder &builder) {
  if (!getWeights())
    return {};
  Composer compose(builder);
  auto type = tensorOf(getResult());
  auto ofRows = RankedTensorType::get(
      {ShapedType::kDynamic, type.getShape().back()}, type.getElementType());
  Value rows = LookupOp::create(builder, ofRows, getTableAttr(), getIds(),
                                /*weights=*/Value(), PoolingAttr());
  Value sum = SegmentSumOp::create(builder, type,
                                   compose.mul(rows, getWeights()), getIds());
  if (*getPooling() == Pooling::sum)
    return sum;
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 1;
  auto ofBags = RankedTensorType::get(shape, type.getElementType());
  return compose.div(
      sum, divisorOf(compose, *getPooling(), getWeights(), getIds(), ofBags));
}
