//===- ElementwiseOps.cpp - Ops on one element at a time ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Formulas.h"
#include "Frame.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

namespace {

// One functor an op: called with float or double elements. Others are in
// Formulas.h.

struct Sign {
  template <typename T> T operator()(T x) const {
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x != x ? x : T(0);
  }
};
struct Log1p {
  template <typename T> T operator()(T x) const { return logarithm1p(x); }
};
struct Tanh {
  template <typename T> T operator()(T x) const { return hyperbolicTangent(x); }
};
struct Sigmoid {
  template <typename T> T operator()(T x) const { return sigmoid(x); }
};
struct Relu {
  template <typename T> T operator()(T x) const { return relu(x); }
};
struct SignedLog1p {
  template <typename T> T operator()(T x) const {
    return std::copysign(logarithm1p(std::fabs(x)), x);
  }
};
struct Identity {
  template <typename T> T operator()(T x) const { return x; }
};

struct Equal {
  template <typename T> T operator()(T a, T b) const { return T(a == b); }
};
struct Greater {
  template <typename T> T operator()(T a, T b) const { return T(a > b); }
};
struct ReluGradient {
  template <typename T> T operator()(T cotangent, T output) const {
    return output <= T(0) ? T(0) : cotangent;
  }
};
struct SigmoidCrossEntropy {
  template <typename T> T operator()(T z, T y) const {
    T product = z * y;
    T positive = maximum(z, T(0));
    T tail = logarithm1p(exponential(-std::fabs(z)));
    return (positive - product) + tail;
  }
};
struct SquaredError {
  template <typename T> T operator()(T prediction, T label) const {
    T difference = prediction - label;
    return difference * difference;
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <typename OpType, typename Formula>
static void evaluateUnary(OpType op, Frame &frame) {
  const Tensor &input = frame.tensor(op->getOperand(0));
  dispatchFloat(op->getResult(0).getType(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> &x = input.get<T>();
    std::vector<T> out(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      out[i] = Formula()(x[i]);
    frame.set(op->getResult(0), Tensor(input.shape(), std::move(out)));
  });
}

/// The shape that two shapes broadcast to as in NumPy.
static Tensor::Shape broadcastShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Tensor::Shape shape(a);
  size_t shift = a.size() - b.size();
  for (size_t axis = 0; axis < b.size(); ++axis)
    if (shape[shift + axis] == 1)
      shape[shift + axis] = b[axis];
  return shape;
}

/// How far a step along each axis of `shape` moves in a tensor that is repeated
/// to that shape.
static Tensor::Shape broadcastStrides(ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> shape) {
  Tensor::Shape strides(shape.size(), 0);
  size_t shift = shape.size() - from.size();
  int64_t stride = 1;
  for (size_t axis = from.size(); axis-- > 0; stride *= from[axis])
    if (from[axis] != 1)
      strides[shift + axis] = stride;
  return strides;
}

static int64_t offsetOf(const Odometer &position, ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    offset += position[axis] * strides[axis];
  return offset;
}

/// Whether shapes that broadcast by their types do so in this batch too: two
/// dynamic dimensions may turn out to differ.
static LogicalResult verifyBroadcast(Operation *op, const Tensor &lhs,
                                     const Tensor &rhs) {
  for (int64_t back = 1; back <= std::min(lhs.rank(), rhs.rank()); ++back) {
    int64_t left = lhs.dim(lhs.rank() - back);
    int64_t right = rhs.dim(rhs.rank() - back);
    if (left != right && left != 1 && right != 1)
      return op->emitOpError() << "meets dimensions of " << left << " and "
                               << right << " elements in this batch";
  }
  return success();
}

template <typename OpType, typename Formula>
static LogicalResult evaluateBinary(OpType op, Frame &frame) {
  const Tensor &lhs = frame.tensor(op->getOperand(0));
  const Tensor &rhs = frame.tensor(op->getOperand(1));
  if (failed(verifyBroadcast(op, lhs, rhs)))
    return failure();
  Tensor out(broadcastShape(lhs.shape(), rhs.shape()),
             getElementTypeOrSelf(op->getResult(0).getType()));
  Tensor::Shape lhsStrides = broadcastStrides(lhs.shape(), out.shape());
  Tensor::Shape rhsStrides = broadcastStrides(rhs.shape(), out.shape());
  dispatchFloat(op->getResult(0).getType(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> &a = lhs.get<T>(), &b = rhs.get<T>();
    Odometer position(out.shape());
    for (T &element : out.get<T>()) {
      element = Formula()(a[offsetOf(position, lhsStrides)],
                          b[offsetOf(position, rhsStrides)]);
      position.advance();
    }
  });
  frame.set(op->getResult(0), std::move(out));
  return success();
}

static void evaluateBroadcast(BroadcastOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Tensor::Shape shape(type.getShape());
  if (type.getRank() && type.isDynamicDim(0))
    shape[0] = op.getLike() ? frame.tensor(op.getLike()).dim(0) : input.dim(0);
  Tensor out(shape, type.getElementType());
  Tensor::Shape strides = broadcastStrides(input.shape(), shape);
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> &x = input.get<T>();
    Odometer position(out.shape());
    for (T &element : out.get<T>()) {
      element = x[offsetOf(position, strides)];
      position.advance();
    }
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateStandardise(StandardiseOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  ArrayRef<double> mean = op.getMean(), deviation = op.getDeviation();
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> out = input.get<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      size_t column = i % mean.size();
      out[i] = (out[i] - static_cast<T>(mean[column])) /
               static_cast<T>(deviation[column]);
    }
    frame.set(op.getResult(), Tensor(input.shape(), std::move(out)));
  });
}

static LogicalResult evaluateConstant(ConstantOp op, Frame &frame) {
  auto values = dyn_cast<DenseFPElementsAttr>(op.getValue());
  if (!values)
    return op.emitOpError("cannot be interpreted: its value is not dense");
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Tensor out(type.getShape(), type.getElementType());
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    for (auto [element, value] :
         llvm::zip_equal(out.get<T>(), values.getValues<T>()))
      element = value;
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

template <typename OpType, typename Formula>
static void addUnary(Registry &registry) {
  registry.add<OpType>(evaluateUnary<OpType, Formula>);
}
template <typename OpType, typename Formula>
static void addBinary(Registry &registry) {
  registry.add<OpType>(evaluateBinary<OpType, Formula>);
}

void interpreter::addElementwiseOps(Registry &registry) {
  addUnary<NegOp, Neg>(registry);
  addUnary<AbsOp, Abs>(registry);
  addUnary<SignOp, Sign>(registry);
  addUnary<ExpOp, Exp>(registry);
  addUnary<LogOp, Log>(registry);
  addUnary<Log1pOp, Log1p>(registry);
  addUnary<SqrtOp, Sqrt>(registry);
  addUnary<TanhOp, Tanh>(registry);
  addUnary<SigmoidOp, Sigmoid>(registry);
  addUnary<ReluOp, Relu>(registry);
  addUnary<SignedLog1pOp, SignedLog1p>(registry);
  addUnary<StopGradientOp, Identity>(registry);
  addBinary<AddOp, Add>(registry);
  addBinary<SubOp, Sub>(registry);
  addBinary<MulOp, Mul>(registry);
  addBinary<DivOp, Div>(registry);
  addBinary<MaxOp, Maximum>(registry);
  addBinary<MinOp, Minimum>(registry);
  addBinary<EqualOp, Equal>(registry);
  addBinary<GreaterOp, Greater>(registry);
  addBinary<ReluGradientOp, ReluGradient>(registry);
  addBinary<SigmoidCrossEntropyOp, SigmoidCrossEntropy>(registry);
  addBinary<SquaredErrorOp, SquaredError>(registry);
  registry.add<BroadcastOp>(evaluateBroadcast);
  registry.add<StandardiseOp>(evaluateStandardise);
  registry.add<ConstantOp>(evaluateConstant);
}
