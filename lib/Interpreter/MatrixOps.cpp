//===- MatrixOps.cpp - Matrix products ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "MatrixProduct.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Returns the product of two matrices, each transposed if requested. Reports
/// an error if their dynamic sizes do not match in this batch.
static FailureOr<Tensor> multiplyTensors(Operation *op, const Tensor &lhs,
                                         const Tensor &rhs, bool transposeLhs,
                                         bool transposeRhs,
                                         std::optional<Compute> compute = {}) {
  ProductShape shape{transposeLhs ? lhs.dim(1) : lhs.dim(0),
                     transposeRhs ? rhs.dim(0) : rhs.dim(1),
                     transposeLhs ? lhs.dim(0) : lhs.dim(1), transposeLhs,
                     transposeRhs};
  int64_t rhsRows = transposeRhs ? rhs.dim(1) : rhs.dim(0);
  if (rhsRows != shape.k)
    return op->emitOpError() << "multiplies along " << shape.k << " and "
                             << rhsRows << " elements";
  Type elementType = getElementTypeOrSelf(op->getResult(0).getType());
  Tensor out({shape.m, shape.n}, elementType);
  if (compute && *compute != Compute::bf16) {
    multiplyInParts(shape, *compute == Compute::bf16x3 ? 2 : 3,
                    lhs.get<float>().data(), rhs.get<float>().data(),
                    out.get<float>().data());
    return out;
  }
  if (compute) {
    multiplyInBFloat16(shape, lhs.get<float>().data(), rhs.get<float>().data(),
                       out.get<float>().data());
    return out;
  }
  dispatchFloat(elementType, [&](auto zero) {
    using T = decltype(zero);
    multiply(shape, lhs.get<T>().data(), rhs.get<T>().data(),
             out.get<T>().data());
  });
  return out;
}

/// Applies one more elementwise op to `result`, for example a post-op of a
/// product. The op is not part of the program: `build` creates it, with
/// `result` and, if it is not null, `other` as operands.
static LogicalResult
follow(Operation *owner, Type type, Tensor &result, const Tensor *other,
       Type otherType,
       function_ref<Value(OpBuilder &, Location, ValueRange)> build) {
  Block block;
  SmallVector<const Tensor *> operands{&result};
  block.addArgument(type, owner->getLoc());
  if (other) {
    operands.push_back(other);
    block.addArgument(otherType, owner->getLoc());
  }
  OpBuilder builder(owner->getContext());
  builder.setInsertionPointToEnd(&block);
  Value value = build(builder, owner->getLoc(), block.getArguments());
  FailureOr<Tensor> next =
      evaluateElements(value.getDefiningOp<ElementwiseOpInterface>(), operands);
  if (succeeded(next))
    result = std::move(*next);
  return next;
}

static LogicalResult evaluateMatmul(MatmulOp op, Frame &frame) {
  if (tensorOf(op.getLhs()).getRank() > 2)
    return evaluateComposite(op, frame);
  FailureOr<Tensor> out =
      multiplyTensors(op, frame.tensor(op.getLhs()), frame.tensor(op.getRhs()),
                      op.getTransposeLhs(), op.getTransposeRhs());
  if (failed(out))
    return failure();
  frame.set(op.getResult(), std::move(*out));
  return success();
}

static LogicalResult evaluateGemm(GemmOp op, Frame &frame) {
  std::optional<DenormalsAreZeros> zeros;
  if (op.getCompute() == Compute::bf16)
    zeros.emplace();
  FailureOr<Tensor> out = multiplyTensors(
      op, frame.tensor(op.getLhs()), frame.tensor(op.getRhs()),
      op.getTransposeLhs(), op.getTransposeRhs(), op.getCompute());
  if (failed(out))
    return failure();
  Type type = op.getType();
  for (auto post : op.getPosts().getAsRange<PostOpAttr>()) {
    Value other = post.getValue() == PostOp::bias            ? op.getBias()
                  : post.getValue() == PostOp::relu_gradient ? op.getMask()
                                                             : Value();
    auto build = [&](OpBuilder &builder, Location loc,
                     ValueRange operands) -> Value {
      switch (post.getValue()) {
      case PostOp::bias:
        return AddOp::create(builder, loc, type, operands[0], operands[1]);
      case PostOp::relu:
        return ReluOp::create(builder, loc, type, operands[0]);
      case PostOp::relu_gradient:
        return ReluGradientOp::create(builder, loc, type, operands[0],
                                      operands[1]);
      }
      llvm_unreachable("all post-ops are evaluated");
    };
    if (failed(follow(op, type, *out, other ? &frame.tensor(other) : nullptr,
                      other ? other.getType() : Type(), build)))
      return failure();
  }
  frame.set(op.getResult(), std::move(*out));
  return success();
}

static void evaluateBatchMatmul(BatchMatmulOp op, Frame &frame) {
  const Tensor &lhs = frame.tensor(op.getLhs()),
               &rhs = frame.tensor(op.getRhs());
  const bool ofColumns = op.getTransposeLhs(), byRows = op.getTransposeRhs();
  ProductShape shape{lhs.dim(ofColumns ? 2 : 1), rhs.dim(byRows ? 1 : 2),
                     rhs.dim(byRows ? 2 : 1), ofColumns, byRows};
  Type elementType = getElementTypeOrSelf(op.getType());
  Tensor out({lhs.dim(0), shape.m, shape.n}, elementType);
  dispatchFloat(elementType, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < out.dim(0); ++i)
      multiply(shape, lhs.get<T>().data() + i * shape.m * shape.k,
               rhs.get<T>().data() + i * shape.k * shape.n,
               out.get<T>().data() + i * shape.m * shape.n);
  });
  frame.set(op.getResult(), std::move(out));
}

void interpreter::attachMatrixOps(MLIRContext &context) {
  attachEvaluator<MatmulOp, evaluateMatmul>(context);
  attachEvaluator<GemmOp, evaluateGemm>(context);
  attachEvaluator<BatchMatmulOp, evaluateBatchMatmul>(context);
}
