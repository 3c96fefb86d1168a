//===- NNMixingOps.cpp - Ops that mix the samples of a batch --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

LogicalResult RotateOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (type.getRank() < 1 || !type.isDynamicDim(0))
    return emitOpError() << "rotates " << type
                         << ", which has no batch; expected a dynamic first "
                            "dimension (C1)";
  const int64_t by = static_cast<int64_t>(getBy());
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (by < -most || by > most)
    return emitOpError() << "rotates by " << by << "; expected at most " << most
                         << " places either way (C2)";
  return success();
}

/// Returns true if `value` is [b, 1].
static bool isColumn(Value value, Type element) {
  auto type = tensorOf(value);
  return type.getRank() == 2 && type.isDynamicDim(0) &&
         type.getDimSize(1) == 1 && type.getElementType() == element;
}

/// Verifies the operands users, items, correction and ids of an op that scores
/// each user of a batch against the items of the batch.
template <typename OpType> static LogicalResult verifyScores(OpType op) {
  auto type = tensorOf(op.getUsers());
  if (type.getRank() != 2 || !type.isDynamicDim(0) ||
      op.getItems().getType() != type)
    return op.emitOpError()
           << "scores " << type << " by " << op.getItems().getType()
           << "; expected one type [b, width] (C1)";
  Type element = type.getElementType();
  if (op.getCorrection() && !isColumn(op.getCorrection(), element))
    return op.emitOpError()
           << "corrects scores by " << op.getCorrection().getType()
           << "; expected one number of " << element << " an item, [b, 1] (C2)";
  if (op.getIds() &&
      !isColumn(op.getIds(), IntegerType::get(op.getContext(), 64)))
    return op.emitOpError() << "has " << op.getIds().getType()
                            << " for ids; expected one an item, [b, 1] (C2)";
  return success();
}

/// Returns the type of one number per sample, [b, 1].
static Type columnOf(Value users) {
  return RankedTensorType::get({ShapedType::kDynamic, 1},
                               tensorOf(users).getElementType());
}

LogicalResult InBatchSoftmaxOp::inferReturnTypes(MLIRContext *,
                                                 std::optional<Location>,
                                                 Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  types.push_back(columnOf(adaptor.getUsers()));
  return success();
}

LogicalResult
InBatchLogSumExpOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  types.push_back(columnOf(adaptor.getUsers()));
  return success();
}

LogicalResult
InBatchGradientOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getUsers().getType());
  return success();
}

LogicalResult InBatchSoftmaxOp::verify() { return verifyScores(*this); }
LogicalResult InBatchLogSumExpOp::verify() { return verifyScores(*this); }

LogicalResult InBatchGradientOp::verify() {
  if (failed(verifyScores(*this)))
    return failure();
  Type element = tensorOf(getUsers()).getElementType();
  for (Value column : {getSums(), getCotangent()})
    if (!isColumn(column, element))
      return emitOpError() << "takes " << column.getType()
                           << " of sums and cotangents; expected [b, 1] of "
                           << element << " (C3)";
  return success();
}
