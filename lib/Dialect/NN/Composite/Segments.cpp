//===- Segments.cpp - Ops on rows of bags that others can say -------------===//
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

static Value sumOf(Composer &compose, Value rows, Value bags, Type result) {
  return SegmentSumOp::create(compose.builder, result, rows, bags);
}

/// How many rows each bag has, at least 1, as [b, slots, 1, ...] of the
/// result's rank.
static Value divisorOf(Composer &compose, Value bags, RankedTensorType result) {
  SmallVector<int64_t> shape(result.getShape().take_front(2));
  shape.push_back(1);
  auto type = RankedTensorType::get(shape, result.getElementType());
  Value sizes = compose.max(
      SegmentSizesOp::create(compose.builder, type, bags).getResult(), 1);
  shape.resize(result.getRank(), 1);
  return compose.reshape(sizes, shape);
}

Value SegmentMeanOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return compose.div(sumOf(compose, getRows(), getBags(), getType()),
                     divisorOf(compose, getBags(), getType()));
}

Value SegmentSqrtnOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value root = compose.apply<SqrtOp>(divisorOf(compose, getBags(), getType()));
  return compose.div(sumOf(compose, getRows(), getBags(), getType()), root);
}

/// The sum of the rows of which all but those at one end are made zeros.
template <typename OpType>
static Value takeEnd(Composer &compose, OpType op, bool fromEnd) {
  auto type = tensorOf(op.getRows());
  SmallVector<int64_t> shape{type.getDimSize(0), 1};
  auto column = RankedTensorType::get(shape, type.getElementType());
  Value positions = SegmentPositionsOp::create(
      compose.builder, column, op.getBags(), /*like=*/Value(), fromEnd);
  Value inside = GreaterOp::create(compose.builder, positions,
                                   compose.number(positions, 0));
  shape.resize(type.getRank(), 1);
  Value kept = SelectOp::create(compose.builder, compose.reshape(inside, shape),
                                compose.number(op.getRows(), 0), op.getRows());
  return sumOf(compose, kept, op.getBags(), op.getType());
}

Value SegmentFirstOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return takeEnd(compose, *this, /*fromEnd=*/false);
}

Value SegmentLastOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return takeEnd(compose, *this, /*fromEnd=*/true);
}

Value SegmentSoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getRows());
  auto slots = cast<RaggedType>(getBags().getType()).getSlots();
  SmallVector<int64_t> shape{ShapedType::kDynamic, slots};
  llvm::append_range(shape, type.getShape().drop_front());
  auto ofBags = RankedTensorType::get(shape, type.getElementType());
  auto repeat = [&](Value value) -> Value {
    return SegmentRepeatOp::create(builder, type, value, getBags(),
                                   /*like=*/Value());
  };
  Value largest = SegmentMaxOp::create(builder, ofBags, getRows(), getBags());
  largest = compose.apply<StopGradientOp>(largest);
  Value power = compose.apply<ExpOp>(compose.sub(getRows(), repeat(largest)));
  Value sum = sumOf(compose, power, getBags(), ofBags);
  return compose.div(power, repeat(sum));
}
