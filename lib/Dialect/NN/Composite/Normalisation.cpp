//===- Normalisation.cpp - Softmax, layer norm, rows of length 1 ----------===//
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

static int64_t lastAxis(Value value) { return tensorOf(value).getRank() - 1; }

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

template <typename OpType> static LogicalResult verifyAxis(OpType op) {
  auto type = tensorOf(op.getInput());
  auto axis = static_cast<int64_t>(op.getAxis());
  if (axis >= 0 && axis < type.getRank() && !type.isDynamicDim(axis))
    return success();
  return op.emitOpError() << "normalises axis " << axis << " of " << type
                          << "; expected a static dimension (C2)";
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this); }

/// The input less its maximum, which gets no gradient.
static Value subtractLargest(Composer &compose, Value input, int64_t axis) {
  Value largest = compose.reduce(Reduction::max, input, axis);
  return compose.sub(input, compose.apply<StopGradientOp>(largest));
}

Value SoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto axis = static_cast<int64_t>(getAxis());
  Value power =
      compose.apply<ExpOp>(subtractLargest(compose, getInput(), axis));
  return compose.div(power, compose.sum(power, axis));
}

Value LogSoftmaxOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  auto axis = static_cast<int64_t>(getAxis());
  Value shifted = subtractLargest(compose, getInput(), axis);
  Value sum = compose.sum(compose.apply<ExpOp>(shifted), axis);
  return compose.sub(shifted, compose.apply<LogOp>(sum));
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() < 2 || getType() != type)
    return emitOpError() << "normalises rows of " << type << " to " << getType()
                         << "; expected one type of rank 2 or more (C1)";
  auto vector =
      RankedTensorType::get({type.getShape().back()}, type.getElementType());
  for (Value operand : {getScale(), getShift()})
    if (operand && operand.getType() != vector)
      return emitOpError() << "scales or shifts rows by " << operand.getType()
                           << "; expected " << vector << " (C2)";
  return verifyPositive(*this, "an epsilon", getEpsilon(), "C3");
}

Value LayerNormOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  const int64_t axis = lastAxis(getInput());
  Value mean = compose.reduce(Reduction::mean, getInput(), axis);
  Value centred = compose.sub(getInput(), mean);
  Value variance =
      compose.reduce(Reduction::mean, compose.square(centred), axis);
  Value deviation = compose.apply<SqrtOp>(
      compose.add(variance, getEpsilon().convertToDouble()));
  Value result = compose.div(centred, deviation);
  if (getScale())
    result = compose.mul(result, getScale());
  if (getShift())
    result = compose.add(result, getShift());
  return result;
}

//===----------------------------------------------------------------------===//
// Length
//===----------------------------------------------------------------------===//

/// The length of rows, at least the root of epsilon.
static Value lengthOf(Composer &compose, Value rows, const APFloat &epsilon) {
  Value sum = compose.sum(compose.square(rows), lastAxis(rows));
  return compose.apply<SqrtOp>(compose.max(sum, epsilon.convertToDouble()));
}

LogicalResult L2NormaliseOp::verify() {
  if (tensorOf(getInput()).getRank() < 2)
    return emitOpError() << "normalises " << getInput().getType()
                         << "; expected rank 2 or more (C1)";
  return verifyPositive(*this, "an epsilon", getEpsilon(), "C2");
}

Value L2NormaliseOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return compose.div(getInput(), lengthOf(compose, getInput(), getEpsilon()));
}

LogicalResult CosineSimilarityOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getLhs());
  if (type.getRank() < 2 || adaptor.getRhs().getType() != type)
    return emitOptionalError(location, "'nn.cosine_similarity' op compares ",
                             type, " and ", adaptor.getRhs().getType(),
                             "; expected one type of rank 2 or more (C1)");
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = 1;
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult CosineSimilarityOp::verify() {
  return verifyPositive(*this, "an epsilon", getEpsilon(), "C2");
}

Value CosineSimilarityOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value dot = compose.sum(compose.mul(getLhs(), getRhs()), lastAxis(getLhs()));
  Value part = compose.div(dot, lengthOf(compose, getLhs(), getEpsilon()));
  return compose.div(part, lengthOf(compose, getRhs(), getEpsilon()));
}
