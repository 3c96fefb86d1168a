//===- SegmentOps.cpp - Ops on the rows of bags ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

namespace {

/// Bags of rows, given as a ragged value or as splits.
class Segments {
public:
  Segments(Value bags, Frame &frame)
      : splits(frame.isRagged(bags) ? frame.ragged(bags).splits
                                    : frame.tensor(bags).get<int32_t>()) {}

  int64_t count() const { return static_cast<int64_t>(splits.size()) - 1; }
  int64_t begin(int64_t bag) const { return splits[bag]; }
  int64_t size(int64_t bag) const { return splits[bag + 1] - splits[bag]; }
  int64_t rowCount() const { return splits.back(); }

private:
  ArrayRef<int32_t> splits;
};

} // namespace

static Type elementOf(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType());
}

/// Returns the shape of the op's result, with `first` in place of the dynamic
/// first dimension.
static Tensor::Shape shapeWith(Operation *op, int64_t first) {
  Tensor::Shape shape(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  shape[0] = first;
  return shape;
}

/// Returns the shape of a result with one entry per bag.
static Tensor::Shape shapeOfBags(Operation *op, const Segments &segments) {
  Tensor::Shape shape = shapeWith(op, 0);
  shape[0] = segments.count() / shape[1];
  return shape;
}

/// Reports an error if the numbers of rows `found` and `expected` differ. The
/// types of the op cannot guarantee that they are equal.
static LogicalResult verifyRows(Operation *op, int64_t found,
                                int64_t expected) {
  if (found == expected)
    return success();
  return op->emitOpError() << "meets " << found << " rows with bags of "
                           << expected << " in this batch";
}

template <bool isMax, typename OpType>
static LogicalResult evaluateReduction(OpType op, Frame &frame) {
  const Tensor &rows = frame.tensor(op.getRows());
  Segments segments(op.getBags(), frame);
  if (failed(verifyRows(op, rows.dim(0), segments.rowCount())))
    return failure();
  const int64_t width = rows.count(1, rows.rank());
  Tensor out(shapeOfBags(op, segments), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    const T *from = rows.get<T>().data();
    T *to = out.get<T>().data();
    for (int64_t bag = 0; bag < segments.count(); ++bag, to += width)
      for (int64_t i = 0; i < segments.size(bag); ++i, from += width)
        for (int64_t j = 0; j < width; ++j) {
          if (!isMax)
            to[j] += from[j];
          else if (i == 0 || !(to[j] > from[j] || to[j] != to[j]))
            to[j] = from[j];
        }
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluateRepeat(SegmentRepeatOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  Segments segments(op.getBags(), frame);
  const int64_t width = input.count(2, input.rank());
  if (failed(verifyRows(op, input.count(0, 2), segments.count())))
    return failure();
  Tensor out(shapeWith(op, segments.rowCount()), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    auto to = out.get<T>().begin();
    for (int64_t bag = 0; bag < segments.count(); ++bag)
      for (int64_t i = 0; i < segments.size(bag); ++i)
        to = std::copy_n(input.get<T>().begin() + bag * width, width, to);
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static void evaluatePositions(SegmentPositionsOp op, Frame &frame) {
  Segments segments(op.getBags(), frame);
  Tensor out(shapeWith(op, segments.rowCount()), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    auto to = out.get<T>().begin();
    for (int64_t bag = 0; bag < segments.count(); ++bag)
      for (int64_t i = 0, size = segments.size(bag); i < size; ++i)
        *to++ = static_cast<T>(op.getFromEnd() ? size - 1 - i : i);
  });
  frame.set(op.getResult(), std::move(out));
}

static void evaluateSizes(SegmentSizesOp op, Frame &frame) {
  Segments segments(op.getBags(), frame);
  Tensor out(shapeOfBags(op, segments), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t bag = 0; bag < segments.count(); ++bag)
      out.get<T>()[bag] = static_cast<T>(segments.size(bag));
  });
  frame.set(op.getResult(), std::move(out));
}

/// Moves rows within each bag. Row i of the result is row `sourceOf(i, size)`
/// of the same bag, where `size` is the number of rows of the bag. If there is
/// no such row, the result is zeros.
template <typename OpType, typename SourceOf>
static LogicalResult moveRows(OpType op, Frame &frame, SourceOf sourceOf) {
  const Tensor &rows = frame.tensor(op.getRows());
  Segments segments(op.getBags(), frame);
  if (failed(verifyRows(op, rows.dim(0), segments.rowCount())))
    return failure();
  const int64_t width = rows.count(1, rows.rank());
  Tensor out(rows.shape(), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    auto to = out.get<T>().begin();
    for (int64_t bag = 0; bag < segments.count(); ++bag) {
      const int64_t size = segments.size(bag);
      auto from = rows.get<T>().begin() + segments.begin(bag) * width;
      for (int64_t i = 0; i < size; ++i, to += width)
        if (int64_t source = sourceOf(i, size); source >= 0 && source < size)
          std::copy_n(from + source * width, width, to);
    }
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluateShift(SegmentShiftOp op, Frame &frame) {
  return moveRows(op, frame, [&](int64_t i, int64_t) {
    return i - static_cast<int64_t>(op.getBy());
  });
}

static LogicalResult evaluateReverse(SegmentReverseOp op, Frame &frame) {
  return moveRows(op, frame,
                  [](int64_t i, int64_t size) { return size - 1 - i; });
}

/// Calls `copy(row, place)` for each row that has a position in bags padded to
/// `length`. `row` is numbered over all bags, and `place` over all padded bags.
template <typename Copy>
static void forPlaces(const Segments &segments, int64_t length, bool fromEnd,
                      Copy copy) {
  for (int64_t bag = 0; bag < segments.count(); ++bag)
    for (int64_t i = 0, size = segments.size(bag); i < size; ++i) {
      int64_t place = fromEnd ? length - size + i : i;
      if (place >= 0 && place < length)
        copy(segments.begin(bag) + i, bag * length + place);
    }
}

static LogicalResult evaluatePad(SegmentPadOp op, Frame &frame) {
  const Tensor &rows = frame.tensor(op.getRows());
  Segments segments(op.getBags(), frame);
  if (failed(verifyRows(op, rows.dim(0), segments.rowCount())))
    return failure();
  const int64_t width = rows.count(1, rows.rank());
  Tensor out(shapeOfBags(op, segments), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    forPlaces(segments, out.dim(2), op.getFromEnd(),
              [&](int64_t row, int64_t place) {
                std::copy_n(rows.get<T>().begin() + row * width, width,
                            out.get<T>().begin() + place * width);
              });
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

static LogicalResult evaluateUnpad(SegmentUnpadOp op, Frame &frame) {
  const Tensor &input = frame.tensor(op.getInput());
  Segments segments(op.getBags(), frame);
  if (failed(verifyRows(op, input.count(0, 2), segments.count())))
    return failure();
  const int64_t width = input.count(3, input.rank());
  Tensor out(shapeWith(op, segments.rowCount()), elementOf(op));
  dispatchFloat(elementOf(op), [&](auto zero) {
    using T = decltype(zero);
    forPlaces(segments, input.dim(2), op.getFromEnd(),
              [&](int64_t row, int64_t place) {
                std::copy_n(input.get<T>().begin() + place * width, width,
                            out.get<T>().begin() + row * width);
              });
  });
  frame.set(op.getResult(), std::move(out));
  return success();
}

/// Returns row `row` of `rows` as a tensor of type `type`. The first `counting`
/// dimensions of `rows` count the rows.
static Tensor rowOf(const Tensor &rows, int64_t row, Type type,
                    unsigned counting = 1) {
  Tensor::Shape shape(rows.shape().drop_front(counting));
  const int64_t width = rows.count(counting, rows.rank());
  shape.insert(shape.begin(), 1);
  Tensor out(shape, getElementTypeOrSelf(type));
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(rows.get<T>().begin() + row * width, width,
                out.get<T>().begin());
  });
  return out;
}

static void setRow(Tensor &rows, int64_t row, const Tensor &value, Type type) {
  dispatchFloat(type, [&](auto zero) {
    using T = decltype(zero);
    std::copy(value.get<T>().begin(), value.get<T>().end(),
              rows.get<T>().begin() + row * value.count());
  });
}

/// Returns a tensor of zeros with `rowCount` rows.
static Tensor zerosOf(Type type, int64_t rowCount) {
  Tensor::Shape shape(cast<RankedTensorType>(type).getShape());
  shape[0] = rowCount;
  return Tensor(shape, getElementTypeOrSelf(type));
}

static LogicalResult evaluateScan(ScanOp op, Frame &frame) {
  Segments segments(op.getBags(), frame);
  for (Value input : op.getInputs())
    if (failed(verifyRows(op, frame.tensor(input).dim(0), segments.rowCount())))
      return failure();
  for (Value init : op.getInit())
    if (failed(
            verifyRows(op, frame.tensor(init).count(0, 2), segments.count())))
      return failure();
  Frame inner(frame.step());
  inner.setSymbols(frame.takenSymbols());
  for (auto [argument, shared] :
       llvm::zip_equal(op.getSharedArguments(), op.getShared()))
    inner.set(argument, frame.value(shared));
  std::vector<Tensor> results;
  for (Type type : op.getResultTypes())
    results.push_back(zerosOf(type, segments.rowCount()));
  for (int64_t bag = 0; bag < segments.count(); ++bag) {
    for (auto [number, state] : llvm::enumerate(op.getStateArguments()))
      inner.set(state, op.getInit().empty()
                           ? zerosOf(state.getType(), 1)
                           : rowOf(frame.tensor(op.getInit()[number]), bag,
                                   state.getType(), /*counting=*/2));
    for (int64_t i = 0, size = segments.size(bag); i < size; ++i) {
      const int64_t row =
          segments.begin(bag) + (op.getFromEnd() ? size - 1 - i : i);
      for (auto [argument, input] :
           llvm::zip_equal(op.getInputArguments(), op.getInputs()))
        inner.set(argument, rowOf(frame.tensor(input), row, input.getType()));
      for (Operation &each : op.getBody().front().without_terminator())
        if (failed(evaluate(&each, inner)))
          return failure();
      std::vector<Tensor> yielded;
      for (Value value : op.getYielded())
        yielded.push_back(inner.tensor(value));
      for (auto [number, value] : llvm::enumerate(yielded))
        setRow(results[number], row, value, op.getResult(number).getType());
      for (auto [number, state] : llvm::enumerate(op.getStateArguments()))
        inner.set(state, std::move(yielded[number]));
    }
  }
  for (auto [result, rows] : llvm::zip_equal(op.getRows(), results))
    frame.set(result, std::move(rows));
  return success();
}

static LogicalResult verifyBags(Operation *op, ArrayRef<int32_t> splits,
                                ArrayRef<int32_t> expected) {
  if (splits == expected)
    return success();
  return op->emitOpError("joins bags that differ in length in this batch");
}

static LogicalResult evaluateSameBags(SameBagsOp op, Frame &frame) {
  const Ragged &input = frame.ragged(op.getInput());
  if (failed(verifyBags(op, input.splits, frame.ragged(op.getLike()).splits)))
    return failure();
  frame.set(op.getResult(), input);
  return success();
}

static LogicalResult evaluateCheckBags(CheckBagsOp op, Frame &frame) {
  return verifyBags(op, frame.tensor(op.getSplits()).get<int32_t>(),
                    frame.tensor(op.getExpected()).get<int32_t>());
}

void interpreter::attachSegmentOps(MLIRContext &context) {
  attachEvaluator<SegmentSumOp, evaluateReduction<false, SegmentSumOp>>(
      context);
  attachEvaluator<SegmentMaxOp, evaluateReduction<true, SegmentMaxOp>>(context);
  attachEvaluator<SegmentRepeatOp, evaluateRepeat>(context);
  attachEvaluator<SegmentPositionsOp, evaluatePositions>(context);
  attachEvaluator<SegmentSizesOp, evaluateSizes>(context);
  attachEvaluator<SegmentShiftOp, evaluateShift>(context);
  attachEvaluator<SegmentReverseOp, evaluateReverse>(context);
  attachEvaluator<ScanOp, evaluateScan>(context);
  attachEvaluator<SegmentPadOp, evaluatePad>(context);
  attachEvaluator<SegmentUnpadOp, evaluateUnpad>(context);
  attachEvaluator<SameBagsOp, evaluateSameBags>(context);
  attachEvaluator<CheckBagsOp, evaluateCheckBags>(context);
}
