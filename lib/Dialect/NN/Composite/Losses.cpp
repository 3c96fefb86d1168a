//===- Losses.cpp - Composite losses --------------------------------------===//
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

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  if (type.getRank() != 2 || type.getDimSize(1) != 1)
    return emitOptionalError(location, "'nn.one_hot' op takes ", type,
                             "; expected one number a sample, [b, 1] (C1)");
  auto classes = static_cast<int64_t>(adaptor.getClasses());
  if (classes < 2 || classes > int64_t(1) << 24)
    return emitOptionalError(location, "'nn.one_hot' op has ", classes,
                             " classes; expected 2 to 2^24 (C2)");
  types.push_back(RankedTensorType::get({type.getDimSize(0), classes},
                                        type.getElementType()));
  return success();
}

Value OneHotOp::spellOut(ImplicitLocOpBuilder &builder) {
  Type element = getType().getElementType();
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(getClasses()); ++i)
    numbers.push_back(builder.getFloatAttr(element, static_cast<double>(i)));
  auto type =
      RankedTensorType::get({static_cast<int64_t>(getClasses())}, element);
  Value classes =
      ConstantOp::create(builder, DenseElementsAttr::get(type, numbers));
  return EqualOp::create(builder, getInput(), classes);
}

LogicalResult SoftmaxCrossEntropyOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getLogits());
  if (type.getRank() != 2 || type.isDynamicDim(1) ||
      adaptor.getLabels().getType() != type)
    return emitOptionalError(
        location, "'nn.softmax_cross_entropy' op compares ", type, " with ",
        adaptor.getLabels().getType(), "; expected one type [b, classes] (C1)");
  types.push_back(
      RankedTensorType::get({type.getDimSize(0), 1}, type.getElementType()));
  return success();
}

Value SoftmaxCrossEntropyOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value logarithms =
      LogSoftmaxOp::create(builder, getLogits().getType(), getLogits(), 1);
  Value sum = compose.sum(compose.mul(getLabels(), logarithms), 1);
  return compose.apply<NegOp>(sum);
}

Value HingeLossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value side = compose.add(compose.add(getLabels(), getLabels()), -1);
  Value one = compose.number(side, 1);
  return compose.apply<ReluOp>(
      compose.sub(one, compose.mul(side, getLogits())));
}

Value BPRLossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  return compose.apply<SoftplusOp>(compose.sub(getNegative(), getPositive()));
}

Value RankLossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value difference = compose.sub(getLeft(), getRight());
  return SigmoidCrossEntropyOp::create(builder, getType(), difference,
                                       getLabels());
}

LogicalResult HuberLossOp::verify() {
  return verifyPositive(*this, getResult(), "a delta", getDelta(), "C2");
}

/// Computes q (d - q / 2) with q = min(d, delta).
Value HuberLossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  Value distance =
      compose.apply<AbsOp>(compose.sub(getPredictions(), getLabels()));
  Value near = compose.min(distance, getDelta().convertToDouble());
  return compose.mul(near, compose.sub(distance, compose.mul(near, 0.5)));
}

LogicalResult LogLossOp::verify() {
  return verifyPositive(*this, getResult(), "an epsilon", getEpsilon(), "C2");
}

Value LogLossOp::spellOut(ImplicitLocOpBuilder &builder) {
  Composer compose(builder);
  const double epsilon = getEpsilon().convertToDouble();
  Value one = compose.number(getLabels(), 1);
  Value ofClick = compose.apply<LogOp>(compose.add(getPredictions(), epsilon));
  Value rest = compose.add(compose.sub(one, getPredictions()), epsilon);
  Value ofNone = compose.apply<LogOp>(rest);
  Value sum = compose.add(compose.mul(getLabels(), ofClick),
                          compose.mul(compose.sub(one, getLabels()), ofNone));
  return compose.apply<NegOp>(sum);
}
