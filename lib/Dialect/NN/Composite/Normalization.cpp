//===- Normalization.cpp - Softmax and normalization ----------------------===//
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
  return op.emitOpError() << "normalizes axis " << axis << " of " << type
                          << "; expected a static dimension (C2)";
}

LogicalResult SoftmaxOp::verify() { return verifyAxis(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxis(*this); }

/// Subtracts the maximum, which gets no gradient, from the input.
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

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getInput().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Over samples
//===----------------------------------------------------------------------===//

LogicalResult BatchSumOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location> location,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  if (type.getRank() < 2 || !type.isDynamicDim(0))
    return emitOptionalError(location, "'nn.batch_sum' op sums up ", type,
                             "; expected [b, d, ...] with b the batch (C1)");
  types.push_back(RankedTensorType::get(type.getShape().drop_front(),
                                        type.getElementType()));
  return success();
}

/// Returns the sum over the samples of the batch and over the axes up to
/// `last`.
static Value sumOverBatch(Composer &compose, Value input, int64_t last = 0) {
  return ReduceOp::create(compose.builder, Reduction::sum, input,
                          llvm::to_vector(llvm::seq<int64_t>(last + 1)),
                          /*keep=*/false, /*mixing=*/true);
}

Value BatchSumOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return sumOverBatch(compose, getInput());
}

/// Returns true if `op` is in a training program.
static bool isTraining(Operation *op) {
  auto program = op->getParentOfType<ProgramOp>();
  return program && !program.getFrozen();
}

/// Returns the number of samples as a tensor [1].
static Value countSamples(Composer &compose, Value input) {
  auto column = RankedTensorType::get({ShapedType::kDynamic, 1},
                                      tensorOf(input).getElementType());
  Value ones = BroadcastOp::create(compose.builder, column,
                                   compose.number(input, 1), input);
  return sumOverBatch(compose, ones);
}

static Value readState(Composer &compose, FlatSymbolRefAttr name, Value input) {
  auto type = tensorOf(input);
  return ReadOp::create(
      compose.builder,
      RankedTensorType::get({type.getShape().back()}, type.getElementType()),
      name);
}

LogicalResult BatchNormOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() < 2 || !type.isDynamicDim(0))
    return emitOpError() << "normalizes " << type
                         << "; expected [b, ..., n] with b the batch (C1)";
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C3");
}

Value BatchNormOp::getRowsOfOperand(OpOperand &) { return {}; }
Value BatchNormOp::getRowsOfResult() { return {}; }

Value BatchNormOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value mean, variance, centered;
  if (isTraining(*this)) {
    // Mean of each sample over the dimensions between batch and features.
    const int64_t middle = lastAxis(getInput()) - 1;
    int64_t places = 1;
    for (int64_t axis = 1; axis <= middle; ++axis)
      places *= tensorOf(getInput()).getDimSize(axis);
    auto ofSample = [&](Value value) -> Value {
      if (middle == 0)
        return value;
      return ReduceOp::create(
          builder, Reduction::mean, value,
          llvm::to_vector(llvm::seq<int64_t>(1, middle + 1)), /*keep=*/false);
    };
    Value count = compose.mul(countSamples(compose, getInput()),
                              static_cast<double>(places));
    mean = compose.div(sumOverBatch(compose, getInput(), middle), count);
    centered = compose.sub(getInput(), mean);
    Value squares = compose.square(centered);
    variance = compose.div(sumOverBatch(compose, squares, middle), count);
    AccumulateOp::create(builder, getMeanAttr(), ofSample(getInput()), Value());
    AccumulateOp::create(builder, getVarianceAttr(), ofSample(squares),
                         Value());
  } else {
    mean = readState(compose, getMeanAttr(), getInput());
    variance = readState(compose, getVarianceAttr(), getInput());
    centered = compose.sub(getInput(), mean);
  }
  Value deviation = compose.apply<SqrtOp>(
      compose.add(variance, getEpsilon().convertToDouble()));
  return compose.div(centered, deviation);
}

LogicalResult DataNormOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() != 2 || !type.isDynamicDim(0))
    return emitOpError() << "normalizes " << type
                         << "; expected [b, n] with b the batch (C1)";
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C3");
}

Value DataNormOp::getRowsOfOperand(OpOperand &) { return {}; }
Value DataNormOp::getRowsOfResult() { return {}; }

Value DataNormOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value size = readState(compose, getSizeAttr(), getInput());
  Value sum = readState(compose, getSumAttr(), getInput());
  Value squareSum = readState(compose, getSquareSumAttr(), getInput());
  Value centered = compose.sub(getInput(), compose.div(sum, size));
  if (isTraining(*this)) {
    Value ones = BroadcastOp::create(builder, getInput().getType(),
                                     compose.number(getInput(), 1), getInput());
    AccumulateOp::create(builder, getSizeAttr(), ones, Value());
    AccumulateOp::create(builder, getSumAttr(), getInput(), Value());
    AccumulateOp::create(
        builder, getSquareSumAttr(),
        compose.add(compose.square(centered), getEpsilon().convertToDouble()),
        Value());
  }
  return compose.mul(centered,
                     compose.apply<SqrtOp>(compose.div(size, squareSum)));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() < 2 || getType() != type)
    return emitOpError() << "normalizes rows of " << type << " to " << getType()
                         << "; expected one type of rank 2 or more (C1)";
  auto vector =
      RankedTensorType::get({type.getShape().back()}, type.getElementType());
  for (Value operand : {getScale(), getShift()})
    if (operand && operand.getType() != vector)
      return emitOpError() << "scales or shifts rows by " << operand.getType()
                           << "; expected " << vector << " (C2)";
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C3");
}

Value LayerNormOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  const int64_t axis = lastAxis(getInput());
  Value mean = compose.reduce(Reduction::mean, getInput(), axis);
  Value centered = compose.sub(getInput(), mean);
  Value variance =
      compose.reduce(Reduction::mean, compose.square(centered), axis);
  Value deviation = compose.apply<SqrtOp>(
      compose.add(variance, getEpsilon().convertToDouble()));
  Value result = compose.div(centered, deviation);
  if (getScale())
    result = compose.mul(result, getScale());
  if (getShift())
    result = compose.add(result, getShift());
  return result;
}

//===----------------------------------------------------------------------===//
// Length
//===----------------------------------------------------------------------===//

/// Returns the length of rows, but at least the square root of epsilon.
static Value lengthOf(Composer &compose, Value rows, const APFloat &epsilon) {
  Value sum = compose.sum(compose.square(rows), lastAxis(rows));
  return compose.apply<SqrtOp>(compose.max(sum, epsilon.convertToDouble()));
}

LogicalResult L2NormalizeOp::verify() {
  if (tensorOf(getInput()).getRank() < 2)
    return emitOpError() << "normalizes " << getInput().getType()
                         << "; expected rank 2 or more (C1)";
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C2");
}

Value L2NormalizeOp::spellOut(ImplicitLocOpBuilder &builder) {
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
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C2");
}

Value CosineSimilarityOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value dot = compose.sum(compose.mul(getLhs(), getRhs()), lastAxis(getLhs()));
  Value part = compose.div(dot, lengthOf(compose, getLhs(), getEpsilon()));
  return compose.div(part, lengthOf(compose, getRhs(), getEpsilon()));
}
