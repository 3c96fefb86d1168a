//===- MixingOps.cpp - Ops that mix the samples of a batch ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"
#include "Lanes.h"
#include "MatrixProduct.h"

#include "pdlabi/math.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

static void evaluateRotate(RotateOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  const int64_t rows = input.dim(0), width = input.count(1, input.rank());
  const int64_t by =
      rows ? (static_cast<int64_t>(op.getBy()) % rows + rows) % rows : 0;
  Tensor out = input;
  input.visit([&](const auto &from) {
    using Element = typename std::decay_t<decltype(from)>::value_type;
    auto to = out.get<Element>().begin();
    for (int64_t i = 0; i < rows; ++i)
      to = std::copy_n(from.begin() + (i + by) % rows * width, width, to);
  });
  frame.set(op.getResult(), std::move(out));
}

static float exponential(float x) { return pdlabi::exp(x); }
static double exponential(double x) { return std::exp(x); }
static float logarithm(float x) { return pdlabi::log(x); }
static double logarithm(double x) { return std::log(x); }

/// Returns the scores of all users and items of a batch. Row i has the scores
/// of user i. A score is minus infinity if the item is not a negative of the
/// user.
template <typename T, typename OpType>
static std::vector<T> scoresOf(OpType op, Frame &frame) {
  const Tensor &users = frame.tensor(op.getUsers());
  const Tensor &items = frame.tensor(op.getItems());
  const int64_t count = users.dim(0);
  std::vector<T> scores(static_cast<size_t>(count * count));
  multiply({count, count, users.dim(1), false, true}, users.get<T>().data(),
           items.get<T>().data(), scores.data());
  const Tensor *ids = op.getIds() ? &frame.tensor(op.getIds()) : nullptr;
  const Tensor *correction =
      op.getCorrection() ? &frame.tensor(op.getCorrection()) : nullptr;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < count; ++j) {
      T &score = scores[i * count + j];
      if (correction)
        score -= correction->get<T>()[j];
      if (ids && i != j && ids->get<int64_t>()[i] == ids->get<int64_t>()[j])
        score = -std::numeric_limits<T>::infinity();
    }
  return scores;
}

/// Returns the maximum of two numbers, as in reductions.
template <typename T> static T larger(T a, T b) {
  return (a > b || std::isnan(a)) ? a : b;
}

template <typename T>
static T logSumExp(const std::vector<T> &scores, int64_t row, int64_t count) {
  const T *values = scores.data() + row * count;
  Lanes<T> maxima(values[0]);
  for (int64_t j = 0; j < count; ++j)
    maxima.laneOf(j) =
        j < Lanes<T>::count ? values[j] : larger(maxima.laneOf(j), values[j]);
  const T largest = maxima.join(larger<T>);
  Lanes<T> sums(0);
  for (int64_t j = 0; j < count; ++j)
    sums.laneOf(j) += exponential(values[j] - largest);
  return largest + logarithm(sums.sum());
}

static void evaluateLogSumExp(InBatchLogSumExpOp op, Frame &frame) {
  const int64_t count = frame.tensor(op.getUsers()).dim(0);
  Type element = op.getType().getElementType();
  Tensor out({count, 1}, element);
  dispatchFloat(element, [&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> scores = scoresOf<T>(op, frame);
    for (int64_t i = 0; i < count; ++i)
      out.get<T>()[i] = logSumExp(scores, i, count);
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateGradient(InBatchGradientOp op, Frame &frame) {
  const Tensor &users = frame.tensor(op.getUsers());
  const int64_t count = users.dim(0), width = users.dim(1);
  const bool ofUsers = op.getSide() == BatchSide::users;
  const Tensor &others = frame.tensor(ofUsers ? op.getItems() : op.getUsers());
  Type element = op.getType().getElementType();
  Tensor out({count, width}, element);
  dispatchFloat(element, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> weights = scoresOf<T>(op, frame);
    const std::vector<T> &sums = frame.tensor(op.getSums()).get<T>();
    const std::vector<T> &factors = frame.tensor(op.getCotangent()).get<T>();
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < count; ++j) {
        T &weight = weights[i * count + j];
        weight = factors[i] * exponential(weight - sums[i]);
      }
    multiply({count, width, count, !ofUsers, false}, weights.data(),
             others.get<T>().data(), out.get<T>().data());
  });
  frame.set(op.getResult(), std::move(out));
}

void interpreter::attachMixingOps(MLIRContext &context) {
  attachEvaluator<RotateOp, evaluateRotate>(context);
  attachEvaluator<InBatchLogSumExpOp, evaluateLogSumExp>(context);
  attachEvaluator<InBatchGradientOp, evaluateGradient>(context);
}
