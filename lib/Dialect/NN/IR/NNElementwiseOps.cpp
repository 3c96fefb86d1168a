//===- NNElementwiseOps.cpp - Elementwise ops -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberChecks.h"
#include "VerifierUtils.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

FailureOr<SmallVector<int64_t>>
pdlc::nn::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> result(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    int64_t &size = result[offset + i];
    if (size == rhs[i] || rhs[i] == 1)
      continue;
    if (size != 1)
      return failure();
    size = rhs[i];
  }
  return result;
}

static LogicalResult inferBroadcast(MLIRContext *context,
                                    std::optional<Location> location,
                                    ValueRange operands, StringRef name,
                                    SmallVectorImpl<Type> &types) {
  auto result = tensorOf(operands.front());
  for (Value operand : operands.drop_front()) {
    auto type = tensorOf(operand);
    auto shape = broadcastShapes(result.getShape(), type.getShape());
    if (failed(shape))
      return emitAt(location, context, name)
             << "cannot broadcast " << result << " and " << type << " (C1)";
    result = RankedTensorType::get(*shape, result.getElementType());
  }
  types.push_back(result);
  return success();
}

#define PDL_INFER_BROADCAST(OP)                                                \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> location, Adaptor adaptor, \
      SmallVectorImpl<Type> &types) {                                          \
    return inferBroadcast(context, location, adaptor.getOperands(),            \
                          getOperationName(), types);                          \
  }
PDL_INFER_BROADCAST(AddOp)
PDL_INFER_BROADCAST(SubOp)
PDL_INFER_BROADCAST(MulOp)
PDL_INFER_BROADCAST(DivOp)
PDL_INFER_BROADCAST(MaxOp)
PDL_INFER_BROADCAST(MinOp)
PDL_INFER_BROADCAST(EqualOp)
PDL_INFER_BROADCAST(GreaterOp)
PDL_INFER_BROADCAST(GreaterEqualOp)
PDL_INFER_BROADCAST(LessOp)
PDL_INFER_BROADCAST(LessEqualOp)
PDL_INFER_BROADCAST(NotEqualOp)
PDL_INFER_BROADCAST(SelectOp)
#undef PDL_INFER_BROADCAST

LogicalResult LeakyReluOp::verify() {
  return verifyFinite(*this, getResult(), "a slope", getSlope(), "C2");
}

LogicalResult EluOp::verify() {
  return verifyFinite(*this, getResult(), "an alpha", getAlpha(), "C2");
}

LogicalResult PowOp::verify() {
  return verifyFinite(*this, getResult(), "an exponent", getExponent(), "C2");
}

LogicalResult ClampOp::verify() {
  if (getLower().isNaN() || getUpper().isNaN())
    return emitOpError() << "has a bound that is NaN (C2)";
  if (getLower() > getUpper())
    return emitOpError() << "has a lower bound above its upper bound (C2); "
                            "give the smaller number first";
  Type element = tensorOf(getResult()).getElementType();
  const APFloat lower = roundedTo(getLower(), element),
                upper = roundedTo(getUpper(), element);
  if ((lower.isInfinity() && !lower.isNegative()) ||
      (upper.isInfinity() && upper.isNegative()))
    return emitOpError() << "has bounds that no number of " << element
                         << " is within (C2)";
  return success();
}

LogicalResult StandardizeOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() == 0)
    return emitOpError() << "standardizes " << type
                         << ", which has no columns (C1)";
  int64_t width = type.getShape().back();
  if (ShapedType::isDynamic(width))
    return emitOpError() << "standardizes " << type
                         << ", whose columns are not a static dimension (C1)";
  if (static_cast<int64_t>(getMean().size()) != width ||
      static_cast<int64_t>(getDeviation().size()) != width)
    return emitOpError() << "has " << getMean().size() << " means and "
                         << getDeviation().size() << " deviations for " << width
                         << " columns (C1)";
  for (double deviation : getDeviation())
    if (failed(verifyPositive(*this, getInput(), "a deviation",
                              APFloat(deviation), "C1")))
      return failure();
  for (double mean : getMean())
    if (failed(verifyFinite(*this, getInput(), "a mean", APFloat(mean), "C1")))
      return failure();
  return success();
}
