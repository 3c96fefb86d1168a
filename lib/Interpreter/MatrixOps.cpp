//===- MatrixOps.cpp - Matrix products and linear layers ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "MatrixProduct.h"
#include "Scalars.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// The product of two matrices, each transposed as said; diagnoses sizes that
/// the types left open and the batch does not fulfil.
static FailureOr<Tensor> multiplyTensors(Operation *op, const Tensor &lhs,
                                         const Tensor &rhs, bool transposeLhs,
                                         bool transposeRhs) {
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
  dispatchFloat(elementType, [&](auto zero) {
    using T = decltype(zero);
    multiply(shape, lhs.get<T>().data(), rhs.get<T>().data(),
             out.get<T>().data());
  });
  return out;
}

/// Replaces each element x of a matrix by function(x, its index, its column).
template <typename T, typename Function>
static void mapElements(Tensor &matrix, Function function) {
  std::vector<T> &elements = matrix.get<T>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = function(elements[i], i, i % matrix.dim(1));
}

static LogicalResult evaluateMatmul(MatmulOp op, Frame &frame) {
  FailureOr<Tensor> out =
      multiplyTensors(op, frame.tensor(op.getLhs()), frame.tensor(op.getRhs()),
                      op.getTransposeLhs(), op.getTransposeRhs());
  if (failed(out))
    return failure();
  frame.set(op.getResult(), std::move(*out));
  return success();
}

static LogicalResult evaluateGemm(GemmOp op, Frame &frame) {
  FailureOr<Tensor> out =
      multiplyTensors(op, frame.tensor(op.getLhs()), frame.tensor(op.getRhs()),
                      op.getTransposeLhs(), op.getTransposeRhs());
  if (failed(out))
    return failure();
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    for (auto post : op.getPosts().getAsRange<PostOpAttr>()) {
      switch (post.getValue()) {
      case PostOp::bias: {
        const std::vector<T> &bias = frame.tensor(op.getBias()).get<T>();
        mapElements<T>(
            *out, [&](T x, size_t, size_t column) { return x + bias[column]; });
        break;
      }
      case PostOp::relu:
        mapElements<T>(*out, [](T x, size_t, size_t) { return relu(x); });
        break;
      case PostOp::relu_gradient: {
        const std::vector<T> &mask = frame.tensor(op.getMask()).get<T>();
        mapElements<T>(*out, [&](T x, size_t i, size_t) {
          return mask[i] <= T(0) ? T(0) : x;
        });
        break;
      }
      }
    }
  });
  frame.set(op.getResult(), std::move(*out));
  return success();
}

static LogicalResult evaluateLinear(LinearOp op, Frame &frame) {
  const Parameter *weight = frame.state().findParameter(op.getWeight());
  const Parameter *bias =
      op.getBias() ? frame.state().findParameter(*op.getBias()) : nullptr;
  if (!weight || (op.getBias() && !bias))
    return op.emitOpError("names a symbol that holds no dense tensor");
  FailureOr<Tensor> out = multiplyTensors(op, frame.tensor(op.getInput()),
                                          weight->value, false, false);
  if (failed(out))
    return failure();
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    mapElements<T>(*out, [&](T x, size_t, size_t column) {
      T sum = bias ? x + bias->value.get<T>()[column] : x;
      switch (op.getActivation()) {
      case Activation::none:
        return sum;
      case Activation::relu:
        return relu(sum);
      case Activation::sigmoid:
        return sigmoid(sum);
      case Activation::tanh:
        return hyperbolicTangent(sum);
      }
      llvm_unreachable("all activations are evaluated");
    });
  });
  frame.set(op.getResult(), std::move(*out));
  return success();
}

void interpreter::addMatrixOps(Registry &registry) {
  registry.add<MatmulOp>(evaluateMatmul);
  registry.add<GemmOp>(evaluateGemm);
  registry.add<LinearOp>(evaluateLinear);
}
