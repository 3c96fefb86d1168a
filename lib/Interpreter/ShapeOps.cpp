//===- ShapeOps.cpp - Ops that move elements ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that work along an axis view a tensor as `outer` blocks of `extent *
// inner` elements. `extent` is the size of the axis, and `inner` is the number
// of elements for each index of the axis.
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

#include <algorithm>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

static void evaluateConcat(ConcatOp op, Frame &frame) {
  int64_t axis = op.getAxis();
  SmallVector<const Tensor *> inputs;
  Tensor::Shape shape(frame.tensor(op.getInputs().front()).shape());
  shape[axis] = 0;
  for (Value input : op.getInputs()) {
    inputs.push_back(&frame.tensor(input));
    shape[axis] += inputs.back()->dim(axis);
  }
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  int64_t outer = out.count(0, axis);
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    auto to = elements.begin();
    for (int64_t block = 0; block < outer; ++block)
      for (const Tensor *input : inputs) {
        int64_t size = input->count(axis, input->rank());
        to = std::copy_n(input->get<T>().begin() + block * size, size, to);
      }
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateSlice(SliceOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t axis = op.getAxis(), inner = input.count(axis + 1, input.rank());
  Tensor::Shape shape(input.shape());
  shape[axis] = op.getSize();
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  int64_t outer = out.count(0, axis), size = op.getSize() * inner;
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    auto from = input.get<T>().begin() + op.getOffset() * inner;
    for (int64_t block = 0; block < outer; ++block)
      std::copy_n(from + block * input.dim(axis) * inner, size,
                  elements.begin() + block * size);
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluatePad(PadOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t axis = op.getAxis(), inner = input.count(axis + 1, input.rank());
  Tensor::Shape shape(input.shape());
  shape[axis] += op.getLow() + op.getHigh();
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  int64_t outer = out.count(0, axis), size = input.dim(axis) * inner;
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    auto to = elements.begin() + op.getLow() * inner;
    for (int64_t block = 0; block < outer; ++block)
      std::copy_n(input.get<T>().begin() + block * size, size,
                  to + block * shape[axis] * inner);
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateTranspose(TransposeOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  ArrayRef<int64_t> permutation = op.getPermutation();
  // Strides of the input for each axis of the result.
  Tensor::Shape shape, strides;
  for (int64_t from : permutation) {
    shape.push_back(input.dim(from));
    strides.push_back(input.count(from + 1, input.rank()));
  }
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    Odometer position(shape);
    for (T &element : elements) {
      int64_t offset = 0;
      for (size_t axis = 0; axis < strides.size(); ++axis)
        offset += position[static_cast<int64_t>(axis)] * strides[axis];
      element = input.get<T>()[offset];
      position.advance();
    }
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateGather(GatherOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  const Tensor &index = frame.tensor(op.getIndex());
  const int64_t samples = input.dim(0), entries = input.dim(1),
                width = input.count(2, input.rank()), taken = index.dim(1);
  Tensor::Shape shape(input.shape());
  shape[1] = taken;
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  ArrayRef<int64_t> places = index.get<int64_t>();
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    auto to = elements.begin();
    for (int64_t i = 0; i < samples * taken; ++i, to += width) {
      if (places[i] < 0 || places[i] >= entries)
        continue;
      auto from =
          input.get<T>().begin() + (i / taken * entries + places[i]) * width;
      // Converts -0 to +0.
      std::transform(from, from + width, to,
                     [](T each) { return each + T(0); });
    }
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateTake(TakeOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  int64_t axis = op.getAxis(), inner = input.count(axis + 1, input.rank());
  ArrayRef<int64_t> positions = op.getPositions();
  Tensor::Shape shape(input.shape());
  shape[axis] = static_cast<int64_t>(positions.size());
  Tensor out(shape, getElementTypeOrSelf(op.getResult().getType()));
  int64_t outer = out.count(0, axis);
  out.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    auto from = input.get<T>().begin();
    auto to = elements.begin();
    for (int64_t block = 0; block < outer; ++block)
      for (int64_t position : positions) {
        // Elements are initialized to zero.
        if (position >= 0)
          std::copy_n(from + (block * input.dim(axis) + position) * inner,
                      inner, to);
        to += inner;
      }
  });
  frame.set(op.getResult(), std::move(out));
}

/// Gives the elements of the operand the shape of the result. If the first
/// dimension of the result is dynamic, it is computed from the number of
/// elements.
static LogicalResult evaluateReshape(ReshapeOp op, Frame &frame) {
  Tensor out = frame.tensor(op.getInput());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Tensor::Shape shape(type.getShape());
  if (type.getRank() && type.isDynamicDim(0)) {
    int64_t rest = 1;
    for (int64_t extent : type.getShape().drop_front())
      rest *= extent;
    if (out.count() % rest != 0)
      return op.emitOpError()
             << "has " << out.count() << " elements, which do not fill rows of "
             << rest << " (C2)";
    shape[0] = out.count() / rest;
  }
  frame.set(op.getResult(), Tensor(std::move(out), shape));
  return success();
}

void interpreter::attachShapeOps(MLIRContext &context) {
  attachEvaluator<ConcatOp, evaluateConcat>(context);
  attachEvaluator<SliceOp, evaluateSlice>(context);
  attachEvaluator<PadOp, evaluatePad>(context);
  attachEvaluator<GatherOp, evaluateGather>(context);
  attachEvaluator<ReshapeOp, evaluateReshape>(context);
  attachEvaluator<TransposeOp, evaluateTranspose>(context);
  attachEvaluator<TakeOp, evaluateTake>(context);
}
