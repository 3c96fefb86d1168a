//===- ReductionOps.cpp - Reductions and losses ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "Lanes.h"

#include <limits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Returns the maximum of `a` and `b` in the fixed order of reductions. If one
/// of them is NaN, returns NaN. If they are equal, returns `b`.
template <typename T> static T largerOf(T a, T b) {
  return (a > b || a != a) ? a : b;
}

/// Reduces one row of `width` elements in lanes.
template <typename T>
static T reduceRow(Reduction kind, const T *row, int64_t width) {
  if (kind == Reduction::max) {
    if (width == 0)
      return -std::numeric_limits<T>::infinity();
    // Lanes without an element repeat the first element.
    Lanes<T> lanes(row[0]);
    for (int64_t j = 0; j < width; ++j)
      lanes.laneOf(j) =
          j < Lanes<T>::count ? row[j] : largerOf(lanes.laneOf(j), row[j]);
    return lanes.join(largerOf<T>);
  }
  Lanes<T> lanes(T(0));
  for (int64_t j = 0; j < width; ++j)
    lanes.laneOf(j) += row[j];
  T sum = lanes.sum();
  return kind == Reduction::mean ? sum / static_cast<T>(width) : sum;
}

/// Reduces elements that are not contiguous, in ascending order.
template <typename T>
static void reduceAcross(ReduceOp op, const Tensor &input, Tensor &out) {
  SmallVector<bool> reduced(input.rank(), false);
  for (int64_t axis : op.getAxes())
    reduced[axis] = true;
  // Strides of the output for each axis; 0 for reduced axes.
  Tensor::Shape strides(input.rank(), 0);
  int64_t stride = 1, width = 1;
  for (int64_t axis = input.rank(); axis-- > 0;) {
    if (reduced[axis]) {
      width *= input.dim(axis);
      continue;
    }
    strides[axis] = stride;
    stride *= input.dim(axis);
  }

  std::vector<T> &result = out.get<T>();
  bool isMax = op.getKind() == Reduction::max;
  if (isMax)
    std::fill(result.begin(), result.end(),
              -std::numeric_limits<T>::infinity());
  std::vector<bool> seen(result.size(), false);
  Odometer position(input.shape());
  for (T element : input.get<T>()) {
    int64_t offset = 0;
    for (int64_t axis = 0; axis < input.rank(); ++axis)
      offset += position[axis] * strides[axis];
    T &into = result[offset];
    if (!isMax)
      into += element;
    else
      into = seen[offset] ? largerOf(into, element) : element;
    seen[offset] = true;
    position.advance();
  }
  if (op.getKind() == Reduction::mean)
    for (T &element : result)
      element /= static_cast<T>(width);
}

static void evaluateReduce(ReduceOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  Tensor::Shape shape;
  int64_t width = 1;
  for (int64_t axis = 0; axis < input.rank(); ++axis) {
    bool isReduced = llvm::is_contained(op.getAxes(), axis);
    if (isReduced)
      width *= input.dim(axis);
    if (!isReduced)
      shape.push_back(input.dim(axis));
    else if (op.getKeep())
      shape.push_back(1);
  }
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    if (!op.reducesRows())
      return reduceAcross<T>(op, input, out);
    const T *row = input.get<T>().data();
    for (T &element : out.get<T>()) {
      element = reduceRow(op.getKind(), row, width);
      row += width;
    }
  });
  frame.set(op.getResult(), std::move(out));
}

/// Returns two sums over the samples in f64: of losses times weights, and of
/// the weights. If a weight is negative or NaN, the second sum is NaN.
static std::pair<double, double> sumLosses(const Tensor &losses,
                                           const Tensor *weights) {
  double sum = 0, weightSum = 0;
  bool areWeights = true;
  losses.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    for (size_t i = 0; i < elements.size(); ++i) {
      double loss = static_cast<double>(elements[i]);
      double weight = weights ? static_cast<double>(weights->get<T>()[i]) : 1.0;
      sum += weights ? loss * weight : loss;
      weightSum += weight;
      areWeights &= weight >= 0;
    }
  });
  if (!areWeights)
    weightSum = std::numeric_limits<double>::quiet_NaN();
  return {sum, weightSum};
}

/// Returns the sums of losses and weights of an op. If it is the first such op
/// of the step, also records them as the loss of the program.
template <typename Op>
static FailureOr<std::pair<double, double>> evaluateLosses(Op op,
                                                           Frame &frame) {
  std::pair<double, double> sums =
      sumLosses(frame.tensor(op.getLosses()),
                op.getWeights() ? &frame.tensor(op.getWeights()) : nullptr);
  if (!std::isfinite(sums.second))
    return op.emitOpError("has a weight that is negative or not finite; "
                          "weights are finite and at least 0");
  if (!frame.result().lossSum) {
    frame.result().lossSum = sums.first;
    frame.result().weightSum = sums.second;
  }
  return sums;
}

static LogicalResult evaluateLossSum(LossSumOp op, Frame &frame) {
  FailureOr<std::pair<double, double>> sums = evaluateLosses(op, frame);
  if (failed(sums))
    return failure();
  frame.set(op.getSum(), Tensor({}, std::vector<double>{sums->first}));
  frame.set(op.getWeight(), Tensor({}, std::vector<double>{sums->second}));
  return success();
}

static void evaluateCumulativeSum(CumulativeSumOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  const int64_t width = input.dim(input.rank() - 1);
  const int64_t own = op.getExclusive() ? 0 : 1;
  Tensor out(input.shape(), getElementTypeOrSelf(op.getResult().getType()));
  dispatchFloat(op.getResult().getType(), [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> &from = input.get<T>();
    std::vector<T> &to = out.get<T>();
    for (size_t row = 0; row < from.size(); row += width)
      for (int64_t i = 0; i < width; ++i) {
        const int64_t begin = op.getReversed() ? i + 1 - own : 0;
        const int64_t end = op.getReversed() ? width : i + own;
        for (int64_t at = begin; at < end; ++at)
          to[row + i] += from[row + at];
      }
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateTopK(TopKOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  const int64_t width = input.dim(input.rank() - 1);
  const auto count = static_cast<int64_t>(op.getCount());
  std::vector<int64_t> positions;
  input.visit([&](auto &elements) {
    for (size_t row = 0; row < elements.size(); row += width) {
      std::vector<int64_t> order;
      for (int64_t i = 0; i < width; ++i)
        if (elements[row + i] == elements[row + i]) // Not NaN.
          order.push_back(i);
      llvm::sort(order, [&](int64_t a, int64_t b) {
        const auto left = elements[row + a], right = elements[row + b];
        return left > right || (left == right && a < b);
      });
      order.resize(count, -1);
      llvm::append_range(positions, order);
    }
  });
  Tensor::Shape shape(input.shape());
  shape.back() = count;
  frame.set(op.getResult(), Tensor(shape, std::move(positions)));
}

// Before phase `gradient`, a program does not contain the updates that minimize
// the loss. So this op only sums the losses.
static LogicalResult evaluateMinimize(MinimizeOp op, Frame &frame) {
  return evaluateLosses(op, frame);
}

// Likewise, accumulated values and counts are ignored.
static void evaluateAccumulate(AccumulateOp, Frame &) {}
static void evaluateCount(CountOp, Frame &) {}
static void evaluateCountPooled(CountPooledOp, Frame &) {}

void interpreter::attachReductionOps(MLIRContext &context) {
  attachEvaluator<ReduceOp, evaluateReduce>(context);
  attachEvaluator<CumulativeSumOp, evaluateCumulativeSum>(context);
  attachEvaluator<AccumulateOp, evaluateAccumulate>(context);
  attachEvaluator<CountOp, evaluateCount>(context);
  attachEvaluator<CountPooledOp, evaluateCountPooled>(context);
  attachEvaluator<LossSumOp, evaluateLossSum>(context);
  attachEvaluator<MinimizeOp, evaluateMinimize>(context);
  attachEvaluator<TopKOp, evaluateTopK>(context);
}
