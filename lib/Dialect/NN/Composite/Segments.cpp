//===- Segments.cpp - Composite ops on rows of bags -----------------------===//
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

/// Returns the number of rows of each bag, but at least 1. The shape is [b,
/// slots, 1, ...], with the rank of `result`.
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

/// Returns the row at one end of each bag by padding the bag to one position.
template <typename OpType>
static Value takeEnd(Composer &compose, OpType op, bool fromEnd) {
  SmallVector<int64_t> shape(op.getType().getShape());
  shape.insert(shape.begin() + 2, 1);
  auto type = RankedTensorType::get(shape, op.getType().getElementType());
  Value end = SegmentPadOp::create(compose.builder, type, op.getRows(),
                                   op.getBags(), fromEnd);
  return compose.reshape(end, op.getType().getShape());
}

Value SegmentFirstOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return takeEnd(compose, *this, /*fromEnd=*/false);
}

Value SegmentLastOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return takeEnd(compose, *this, /*fromEnd=*/true);
}

Value SegmentWindowOp::spellOut(ImplicitLocOpBuilder &builder) {
  auto last = static_cast<int64_t>(getLast());
  SmallVector<Value> parts;
  for (auto i = static_cast<int64_t>(getFirst()); i <= last; ++i)
    parts.push_back(i == 0
                        ? getRows()
                        : SegmentShiftOp::create(builder, getRows().getType(),
                                                 getRows(), getBags(), -i)
                              .getResult());
  return ConcatOp::create(builder, parts, 1);
}

Value SegmentSoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto type = tensorOf(getRows());
  const int64_t slots = getBags().getType().getSlots();
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
