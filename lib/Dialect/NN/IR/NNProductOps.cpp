//===- NNProductOps.cpp - Matrix products ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeadingDimensions.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

/// Returns the type of op(lhs) * op(rhs) for two matrices; null if their shapes
/// do not match.
static RankedTensorType productType(RankedTensorType lhs, bool transposeLhs,
                                    RankedTensorType rhs, bool transposeRhs) {
  if (lhs.getRank() != 2 || rhs.getRank() != 2 ||
      lhs.getElementType() != rhs.getElementType() ||
      lhs.getDimSize(transposeLhs ? 0 : 1) !=
          rhs.getDimSize(transposeRhs ? 1 : 0))
    return {};
  return RankedTensorType::get({lhs.getDimSize(transposeLhs ? 1 : 0),
                                rhs.getDimSize(transposeRhs ? 0 : 1)},
                               lhs.getElementType());
}

/// Returns the type of the last two dimensions.
static RankedTensorType matrixOf(RankedTensorType type) {
  return RankedTensorType::get(type.getShape().take_back(2),
                               type.getElementType());
}

/// Returns the dimensions before the last two.
static ArrayRef<int64_t> batchOf(RankedTensorType type) {
  return type.getShape().drop_back(2);
}

//===----------------------------------------------------------------------===//
// nn.matmul
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = tensorOf(adaptor.getLhs()), rhs = tensorOf(adaptor.getRhs());
  RankedTensorType matrix;
  if (lhs.getRank() >= 2 && rhs.getRank() >= 2)
    matrix = productType(matrixOf(lhs), adaptor.getTransposeLhs(),
                         matrixOf(rhs), adaptor.getTransposeRhs());
  if (!matrix)
    return emitOptionalError(location, "'nn.matmul' op cannot multiply ", lhs,
                             " by ", rhs, " (C1)");
  bool isOneMatrix = rhs.getRank() == 2 && !adaptor.getTransposeLhs();
  if (batchOf(lhs) != batchOf(rhs) && !isOneMatrix)
    return emitOptionalError(
        location, "'nn.matmul' op multiplies ", lhs, " by ", rhs,
        ", whose dimensions before the last two differ (C2); reshape one of "
        "them, or give one matrix on the right");
  SmallVector<int64_t> shape(batchOf(lhs));
  llvm::append_range(shape, matrix.getShape());
  types.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

std::optional<std::string> MatmulOp::mixesSamples() {
  auto lhs = tensorOf(getLhs());
  if (lhs.getRank() > 2 || !lhs.isDynamicDim(getTransposeLhs() ? 0 : 1))
    return std::nullopt;
  return "adds products over the samples of a batch, which replicas could not "
         "do alike";
}

Value pdlc::nn::joinLeadingDimensions(ImplicitLocOpBuilder &builder,
                                      Value value, int64_t kept) {
  auto type = tensorOf(value);
  int64_t first = ShapedType::kDynamic;
  if (ArrayRef<int64_t> joined = type.getShape().drop_back(kept);
      !ShapedType::isDynamicShape(joined))
    first = ShapedType::getNumElements(joined);
  SmallVector<int64_t> shape{first};
  llvm::append_range(shape, type.getShape().take_back(kept));
  auto to = RankedTensorType::get(shape, type.getElementType());
  return to == type ? value : ReshapeOp::create(builder, to, value).getResult();
}

Value MatmulOp::spellOut(ImplicitLocOpBuilder &builder) {
  auto lhs = tensorOf(getLhs()), rhs = tensorOf(getRhs());
  if (lhs.getRank() == 2)
    return {};
  auto joined = [&](Value value, int64_t kept) {
    return joinLeadingDimensions(builder, value, kept);
  };
  Value product;
  if (rhs.getRank() == 2) {
    product = MatmulOp::create(builder, joined(getLhs(), 1), getRhs(),
                               /*transpose_lhs=*/false, getTransposeRhs());
  } else {
    product =
        BatchMatmulOp::create(builder, joined(getLhs(), 2), joined(getRhs(), 2),
                              getTransposeLhs(), getTransposeRhs());
  }
  if (product.getType() != getType())
    product = ReshapeOp::create(builder, getType(), product);
  return product;
}

//===----------------------------------------------------------------------===//
// Lowered products
//===----------------------------------------------------------------------===//

LogicalResult BatchMatmulOp::inferReturnTypes(MLIRContext *context,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  auto lhs = tensorOf(adaptor.getLhs()), rhs = tensorOf(adaptor.getRhs());
  RankedTensorType matrix;
  if (lhs.getRank() == 3 && rhs.getRank() == 3 &&
      lhs.getDimSize(0) == rhs.getDimSize(0))
    matrix = productType(matrixOf(lhs), adaptor.getTransposeLhs(),
                         matrixOf(rhs), adaptor.getTransposeRhs());
  if (!matrix)
    return emitOptionalError(location, "'nn.batch_matmul' op cannot multiply ",
                             lhs, " by ", rhs, " (C1)");
  types.push_back(RankedTensorType::get(
      {lhs.getDimSize(0), matrix.getDimSize(0), matrix.getDimSize(1)},
      lhs.getElementType()));
  return success();
}

LogicalResult GemmOp::verify() {
  RankedTensorType type = productType(tensorOf(getLhs()), getTransposeLhs(),
                                      tensorOf(getRhs()), getTransposeRhs());
  if (type != getResult().getType())
    return emitOpError() << "cannot multiply " << getLhs().getType() << " by "
                         << getRhs().getType() << " to "
                         << getResult().getType() << " (C1)";
  unsigned bias = 0, relu = 0, mask = 0;
  for (auto post : getPosts().getAsRange<PostOpAttr>()) {
    bias += post.getValue() == PostOp::bias;
    relu += post.getValue() == PostOp::relu;
    mask += post.getValue() == PostOp::relu_gradient;
  }
  if (bias > 1 || relu > 1 || mask > 1)
    return emitOpError("lists a post-op twice (C2)");
  if (bias != (getBias() ? 1 : 0) || mask != (getMask() ? 1 : 0))
    return emitOpError("needs `bias` and `mask` exactly if bias and "
                       "relu_gradient are listed (C2)");
  if (getBias() &&
      getBias().getType() !=
          RankedTensorType::get({type.getDimSize(1)}, type.getElementType()))
    return emitOpError() << "adds a bias " << getBias().getType() << " to "
                         << type << " (C2)";
  if (getMask() && getMask().getType() != type)
    return emitOpError() << "masks " << type << " with " << getMask().getType()
                         << " (C2)";
  if (std::optional<Compute> compute = getCompute();
      compute && !type.getElementType().isF32())
    return emitOpError() << "computes in '" << stringifyCompute(*compute)
                         << "' on elements of " << type.getElementType()
                         << "; only elements of f32 can be split (C3)";
  return success();
}
