//===- NNFeatureOps.cpp - Ops on ids and types ----------------------------===//
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

LogicalResult BucketizeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = tensorOf(adaptor.getInput());
  // Inputs are compared with boundaries that are rounded to the element type,
  // so check the rounded ones. The verifier reports inputs that are not floats.
  SmallVector<APFloat> boundaries;
  if (isa<FloatType>(input.getElementType()))
    for (double boundary : adaptor.getBoundaries())
      boundaries.push_back(
          roundedTo(APFloat(boundary), input.getElementType()));
  for (size_t i = 0; i < boundaries.size(); ++i)
    if (!boundaries[i].isFinite() ||
        (i && !(boundaries[i - 1] < boundaries[i])))
      return emitAt(location, context, getOperationName())
             << "needs boundaries that are finite and strictly ascending in "
             << input.getElementType() << " (C1)";
  types.push_back(
      RankedTensorType::get(input.getShape(), IntegerType::get(context, 64)));
  return success();
}

LogicalResult CrossOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitAt(location, context, getOperationName())
           << "needs an operand (C1)";
  SmallVector<int64_t> shape = idShape(adaptor.getInputs().front().getType());
  bool ragged = false;
  for (Value input : adaptor.getInputs()) {
    if (shape.size() != 2 || idShape(input.getType()) != shape)
      return emitAt(location, context, getOperationName())
             << "crosses operands of different shapes; expected [b, s] alike "
                "(C1)";
    ragged |= isa<RaggedType>(input.getType());
  }
  Type i64 = IntegerType::get(context, 64);
  types.push_back(ragged ? Type(RaggedType::get(context, shape, i64))
                         : Type(RankedTensorType::get(shape, i64)));
  return success();
}

LogicalResult IdArithmeticOp::verify() {
  const bool divides =
      getKind() == IdOperation::quotient || getKind() == IdOperation::remainder;
  auto number = static_cast<int64_t>(getNumber());
  if (divides && number <= 0)
    return emitOpError() << "divides by " << number
                         << "; expected a number above 0 (C2)";
  return success();
}

Value IdArithmeticOp::getRowsOfOperand(OpOperand &) { return {}; }
Value IdArithmeticOp::getRowsOfResult() { return getInput(); }
bool IdArithmeticOp::leadsToOtherRows() { return isa<RaggedType>(getType()); }

LogicalResult CastOp::verify() {
  auto result = tensorOf(getResult());
  auto ragged = dyn_cast<RaggedType>(getInput().getType());
  Type from =
      ragged ? ragged.getElementType() : tensorOf(getInput()).getElementType();
  Type to = result.getElementType();
  if (ragged && to.isInteger())
    return emitOpError() << "makes bags of " << from << " to rows of " << to
                         << "; rows are floats (C1)";
  if (!ragged && from == to)
    return emitOpError() << "makes " << from << " to " << to
                         << ", which it is; leave the cast out (C1)";
  SmallVector<int64_t> shape{ShapedType::kDynamic, 1};
  if (!ragged)
    shape.assign(tensorOf(getInput()).getShape().begin(),
                 tensorOf(getInput()).getShape().end());
  if (result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "makes " << getInput().getType() << " to " << result
                         << "; expected "
                         << RankedTensorType::get(shape,
                                                  result.getElementType())
                         << " (C2)";
  return success();
}

Value CastOp::getRowsOfOperand(OpOperand &) { return {}; }
Value CastOp::getRowsOfResult() { return getInput(); }
bool CastOp::leadsToOtherRows() {
  return isa<RaggedType>(getInput().getType());
}
