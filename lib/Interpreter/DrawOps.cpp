//===- DrawOps.cpp - Random numbers of samples ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include "pdlabi/draws.h"
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

/// Returns the random key of the step's epoch.
static uint64_t keyOf(const Frame &frame) {
  return pdlabi::drawKey(frame.draws().seed, frame.draws().epoch);
}

static LogicalResult evaluateDropout(DropoutOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  if (frame.isFrozen()) {
    frame.set(op.getResult(), input);
    return success();
  }
  const std::vector<int64_t> &samples = frame.draws().samples;
  const auto count = static_cast<int64_t>(samples.size());
  ArrayRef<int32_t> splits;
  if (Value bags = op.getBags())
    splits = frame.isRagged(bags) ? frame.ragged(bags).splits
                                  : frame.tensor(bags).get<int32_t>();
  const int64_t slots =
      splits.empty() ? 0 : (static_cast<int64_t>(splits.size()) - 1) / count;
  const int64_t width = input.count(1, input.rank());
  if (input.dim(0) != (splits.empty() ? count : splits.back()))
    return op->emitOpError()
           << "meets " << input.dim(0) << " rows, which are not those of the "
           << count << " samples of this batch";
  const uint64_t key = keyOf(frame);
  const auto stream = static_cast<uint32_t>(frame.streamOf(op));
  Tensor out = input;
  dispatchFloat(op.getType(), [&](auto zero) {
    using T = decltype(zero);
    const pdlabi::Dropout<T> dropout(op.getRate().convertToDouble());
    const T *from = input.get<T>().data();
    T *to = out.get<T>().data();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t rows =
          splits.empty() ? 1 : splits[(i + 1) * slots] - splits[i * slots];
      pdlabi::dropElements(dropout, key, stream, samples[i], rows * width, from,
                           to);
      from += rows * width;
      to += rows * width;
    }
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static void evaluateSample(SampleOp op, Frame &frame) {
  const std::vector<int64_t> &samples = frame.draws().samples;
  const auto count = static_cast<int64_t>(op.getCount());
  Tensor out({static_cast<int64_t>(samples.size()), count},
             op.getType().getElementType());
  const uint64_t key = keyOf(frame);
  const auto stream = static_cast<uint32_t>(frame.streamOf(op));
  const std::vector<double> table = op.getDrawTable();
  pdlabi::drawIds(static_cast<int32_t>(op.getDistribution()),
                  static_cast<int64_t>(op.getFirst()),
                  static_cast<int64_t>(op.getBehind()), table.data(), key,
                  stream, samples.data(), static_cast<int64_t>(samples.size()),
                  count, out.get<int64_t>().data());
  frame.set(op.getResult(), std::move(out));
}

static LogicalResult evaluateLogProbability(LogProbabilityOp op, Frame &frame) {
  const Tensor &ids = frame.tensor(op.getIds());
  const auto first = static_cast<int64_t>(op.getFirst());
  const auto end = static_cast<int64_t>(op.getBehind());
  Tensor out(ids.shape(), op.getType().getElementType());
  const std::vector<double> logarithms = op.getLogarithms();
  for (int64_t id : ids.get<int64_t>()) {
    if (id < first || id >= end)
      return op->emitOpError()
             << "meets the id " << id << ", which nn.sample never draws from "
             << first << " below " << end;
    if (!logarithms.empty() &&
        std::isinf(logarithms[pdlabi::rangeSize(first, id)]))
      return op->emitOpError()
             << "meets the id " << id
             << ", whose count is 0, so that nn.sample never draws it";
  }
  dispatchFloat(op.getType(), [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < ids.get<int64_t>().size(); ++i)
      out.get<T>()[i] = pdlabi::logProbability<T>(
          static_cast<int32_t>(op.getDistribution()),
          pdlabi::rangeSize(first, end), logarithms.data(),
          pdlabi::rangeSize(first, ids.get<int64_t>()[i]));
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static void evaluateAccidentalHits(AccidentalHitsOp op, Frame &frame) {
  const Tensor &own = frame.tensor(op.getOwn());
  const Tensor &drawn = frame.tensor(op.getDrawn());
  Tensor out(drawn.shape(), op.getType().getElementType());
  const int64_t width = drawn.dim(1), ownWidth = own.dim(1);
  dispatchFloat(op.getType(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < drawn.count(); ++i)
      for (int64_t j = 0; j < ownWidth; ++j)
        if (own.get<int64_t>()[i / width * ownWidth + j] ==
            drawn.get<int64_t>()[i])
          out.get<T>()[i] = 1;
  });
  frame.set(op.getResult(), std::move(out));
}

void interpreter::attachDrawOps(MLIRContext &context) {
  attachEvaluator<DropoutOp, evaluateDropout>(context);
  attachEvaluator<SampleOp, evaluateSample>(context);
  attachEvaluator<LogProbabilityOp, evaluateLogProbability>(context);
  attachEvaluator<AccidentalHitsOp, evaluateAccidentalHits>(context);
}
