//===- SegmentOps.cpp - Ops on the rows of bags ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each bag becomes one iteration of a parallel loop. The iteration processes
// the rows of the bag sequentially, and the elements of a row in parallel.
//
//===----------------------------------------------------------------------===//

#include "LoopElements.h"
#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace pdlc;

static Type elementOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

namespace {

/// Emits loops over the rows of bags.
class BagLoops {
public:
  BagLoops(StageEmitter &emitter, Value splits)
      : emitter(emitter), builder(emitter.builder),
        splits(emitter.flat(splits)),
        bags(emitter.sizes.first(splits).plus(-1)) {}

  /// Returns a view of a tensor that has elements of shape `inner` for each
  /// row, bag or position in a bag.
  Value viewOf(Value tensor, ArrayRef<int64_t> inner) {
    Extent rows = emitter.sizes.elements(tensor);
    for (int64_t size : inner)
      rows = rows.scaled(1, size);
    return emitter.view(tensor, rows, inner);
  }

  /// Emits loops that run `body(bag, begin, row, end)` for each row of each
  /// bag. The rows of the bag are `begin` to `end` - 1. Rows are numbered over
  /// all bags of the batch.
  void forRows(
      function_ref<void(Value bag, Value begin, Value row, Value end)> body) {
    emitter.parallel(emitter.evaluate(bags), [&](ValueRange at) {
      Value bag = at.front();
      Value begin = splitAt(bag);
      Value end =
          splitAt(arith::AddIOp::create(builder, bag, emitter.index(1)));
      auto loop = scf::ForOp::create(builder, begin, end, emitter.index(1));
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      body(bag, begin, loop.getInductionVar(), end);
    });
  }

  /// Emits parallel iterations over the elements of a row.
  void forColumns(int64_t width, function_ref<void(Value)> body) {
    if (width == 1)
      return body(emitter.index(0));
    emitter.parallel(emitter.index(width),
                     [&](ValueRange column) { body(column.front()); });
  }

  void copyRow(Value from, Value fromRow, Value to, Value toRow,
               int64_t width) {
    forColumns(width, [&](Value column) {
      emitter.store(emitter.load(from, {fromRow, column}), to, {toRow, column});
    });
  }

  /// Emits the code of `body` such that it runs only if `first <= value <
  /// limit`.
  void where(Value first, Value value, Value limit, function_ref<void()> body) {
    Value reached =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::sle, first, value);
    Value inside =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, value, limit);
    auto branch = scf::IfOp::create(
        builder, arith::AndIOp::create(builder, reached, inside),
        /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  StageEmitter &emitter;
  ImplicitLocOpBuilder &builder;

  Value add(Value a, Value b) { return arith::AddIOp::create(builder, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, a, b); }
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, a, b); }

private:
  Value splitAt(Value bag) {
    return arith::IndexCastOp::create(builder, builder.getIndexType(),
                                      emitter.load(splits, bag));
  }

  Value splits;
  Extent bags;
};

} // namespace

/// Reduces the rows of each bag in order, starting from zero.
template <typename OpType>
static void emitReduction(StageEmitter &emitter, OpType op, bool isMax) {
  BagLoops loops(emitter, op.getBags());
  LoopElements rows = LoopElements::readBy(op, op.getRows(), emitter);
  rows.findDimensions(
      [](unsigned dimension, unsigned) { return dimension > 0; });
  rows.prepare();
  SmallVector<int64_t> inner;
  SmallVector<Value> columns;
  for (const Extent &extent : rows.getExtents().drop_front()) {
    inner.push_back(extent.constant);
    columns.push_back(emitter.index(extent.constant));
  }
  Value to = loops.viewOf(op.getResult(), inner);
  emitter.fill(op.getResult(), emitter.scalar(elementOf(op.getResult()), 0));
  ImplicitLocOpBuilder &builder = emitter.builder;
  loops.forRows([&](Value bag, Value begin, Value row, Value) {
    Value isFirst;
    if (isMax)
      isFirst =
          arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, row, begin);
    emitter.parallel(columns, [&](ValueRange column) {
      SmallVector<Value> from{row}, place{bag};
      llvm::append_range(from, column);
      llvm::append_range(place, column);
      Value before = emitter.load(to, place);
      Value next = rows.computeOne(from);
      Value after;
      if (isMax) {
        // Keep the previous value if it is larger or NaN.
        Value beforeIsNan = arith::CmpFOp::create(
            builder, arith::CmpFPredicate::UNO, before, before);
        Value larger = arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT,
                                             before, next);
        Value keeps = arith::OrIOp::create(builder, larger, beforeIsNan);
        after = arith::SelectOp::create(builder, keeps, before, next);
        after = arith::SelectOp::create(builder, isFirst, next, after);
      } else {
        after = arith::AddFOp::create(builder, before, next);
      }
      emitter.store(after, to, place);
    });
  });
}

static void emitSum(StageEmitter &emitter, nn::SegmentSumOp op) {
  emitReduction(emitter, op, /*isMax=*/false);
}

static void emitMax(StageEmitter &emitter, nn::SegmentMaxOp op) {
  emitReduction(emitter, op, /*isMax=*/true);
}

static void emitRepeat(StageEmitter &emitter, nn::SegmentRepeatOp op) {
  BagLoops loops(emitter, op.getBags());
  const int64_t width = innerElements(op.getResult());
  Value from = loops.viewOf(op.getInput(), width);
  Value to = loops.viewOf(op.getResult(), width);
  loops.forRows([&](Value bag, Value, Value row, Value) {
    loops.copyRow(from, bag, to, row, width);
  });
}

/// Converts a number of rows to the element type of `tensor`.
static Value toElement(StageEmitter &emitter, Value number, Value tensor) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  number = arith::IndexCastOp::create(builder, builder.getI64Type(), number);
  return arith::SIToFPOp::create(builder, elementOf(tensor), number);
}

static void emitPositions(StageEmitter &emitter, nn::SegmentPositionsOp op) {
  BagLoops loops(emitter, op.getBags());
  Value to = emitter.flat(op.getResult());
  loops.forRows([&](Value, Value begin, Value row, Value end) {
    Value position = op.getFromEnd()
                         ? loops.sub(loops.sub(end, emitter.index(1)), row)
                         : loops.sub(row, begin);
    emitter.store(toElement(emitter, position, op.getResult()), to, row);
  });
}

static void emitSizes(StageEmitter &emitter, nn::SegmentSizesOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Value splits = emitter.flat(op.getBags()), to = emitter.flat(op.getResult());
  Value bags = emitter.evaluate(emitter.sizes.elements(op.getResult()));
  emitter.parallel(bags, [&](ValueRange at) {
    Value next = arith::AddIOp::create(builder, at.front(), emitter.index(1));
    Value size = arith::SubIOp::create(builder, emitter.load(splits, next),
                                       emitter.load(splits, at));
    Value number =
        arith::SIToFPOp::create(builder, elementOf(op.getResult()), size);
    emitter.store(number, to, at);
  });
}

static void emitShift(StageEmitter &emitter, nn::SegmentShiftOp op) {
  BagLoops loops(emitter, op.getBags());
  const int64_t width = innerElements(op.getResult());
  Value from = loops.viewOf(op.getRows(), width);
  Value to = loops.viewOf(op.getResult(), width);
  emitter.fill(op.getResult(), emitter.scalar(elementOf(op.getResult()), 0));
  Value by = emitter.index(static_cast<int64_t>(op.getBy()));
  loops.forRows([&](Value, Value begin, Value row, Value end) {
    Value source = loops.sub(row, by);
    loops.where(begin, source, end,
                [&] { loops.copyRow(from, source, to, row, width); });
  });
}

static void emitReverse(StageEmitter &emitter, nn::SegmentReverseOp op) {
  BagLoops loops(emitter, op.getBags());
  const int64_t width = innerElements(op.getResult());
  Value from = loops.viewOf(op.getRows(), width);
  Value to = loops.viewOf(op.getResult(), width);
  loops.forRows([&](Value, Value begin, Value row, Value end) {
    Value last = loops.sub(end, emitter.index(1));
    Value source = loops.add(begin, loops.sub(last, row));
    loops.copyRow(from, source, to, row, width);
  });
}

/// Emits `copy(row, place)` for each row that has a position in bags padded to
/// `length`. `row` is numbered over all bags, and `place` over all padded bags.
static void forPlaces(BagLoops &loops, int64_t length, bool fromEnd,
                      function_ref<void(Value row, Value place)> copy) {
  StageEmitter &emitter = loops.emitter;
  loops.forRows([&](Value bag, Value begin, Value row, Value end) {
    Value inBag = fromEnd
                      ? loops.add(loops.sub(row, end), emitter.index(length))
                      : loops.sub(row, begin);
    loops.where(emitter.index(0), inBag, emitter.index(length), [&] {
      Value first = loops.mul(bag, emitter.index(length));
      copy(row, loops.add(first, inBag));
    });
  });
}

static void emitPad(StageEmitter &emitter, nn::SegmentPadOp op) {
  BagLoops loops(emitter, op.getBags());
  const int64_t width = innerElements(op.getRows());
  Value from = loops.viewOf(op.getRows(), width);
  Value to = loops.viewOf(op.getResult(), width);
  emitter.fill(op.getResult(), emitter.scalar(elementOf(op.getResult()), 0));
  forPlaces(loops, nn::tensorOf(op.getResult()).getDimSize(2), op.getFromEnd(),
            [&](Value row, Value place) {
              loops.copyRow(from, row, to, place, width);
            });
}

static void emitUnpad(StageEmitter &emitter, nn::SegmentUnpadOp op) {
  BagLoops loops(emitter, op.getBags());
  const int64_t width = innerElements(op.getResult());
  Value from = loops.viewOf(op.getInput(), width);
  Value to = loops.viewOf(op.getResult(), width);
  emitter.fill(op.getResult(), emitter.scalar(elementOf(op.getResult()), 0));
  forPlaces(loops, nn::tensorOf(op.getInput()).getDimSize(2), op.getFromEnd(),
            [&](Value row, Value place) {
              loops.copyRow(from, place, to, row, width);
            });
}

namespace {

/// Stage of an op from rows to samples: the result has one entry for each
/// sample, and the splits give the number of samples. If `combines`, the op
/// reads each row once, so its own loop can compute the rows.
template <typename OpType, void (*function)(StageEmitter &, OpType),
          bool combines = false>
struct ToSamples
    : EmittedModel<ToSamples<OpType, function, combines>, OpType, function> {
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    int64_t slots = cast<RankedTensorType>(result.getType()).getDimSize(1);
    return sizes.first(cast<OpType>(op).getBags()).plus(-1).scaled(1, slots);
  }
  bool computesElements(Operation *, OpOperand &operand) const {
    return combines && operand.getOperandNumber() == 0;
  }
};

/// The result has one row per row of `like`.
template <typename OpType, void (*function)(StageEmitter &, OpType)>
struct ToRows : EmittedModel<ToRows<OpType, function>, OpType, function> {
  Extent getExtent(Operation *op, OpResult, const ProgramSizes &sizes) const {
    return sizes.first(cast<OpType>(op).getLike());
  }
  bool readsElements(Operation *op, OpOperand &operand) const {
    return operand.get() != cast<OpType>(op).getLike();
  }
};

} // namespace

void pdlc::attachSegmentStages(MLIRContext &context) {
  nn::SegmentSumOp::attachInterface<ToSamples<nn::SegmentSumOp, emitSum, true>>(
      context);
  nn::SegmentMaxOp::attachInterface<ToSamples<nn::SegmentMaxOp, emitMax, true>>(
      context);
  nn::SegmentSizesOp::attachInterface<ToSamples<nn::SegmentSizesOp, emitSizes>>(
      context);
  nn::SegmentPadOp::attachInterface<ToSamples<nn::SegmentPadOp, emitPad>>(
      context);
  nn::SegmentRepeatOp::attachInterface<ToRows<nn::SegmentRepeatOp, emitRepeat>>(
      context);
  nn::SegmentUnpadOp::attachInterface<ToRows<nn::SegmentUnpadOp, emitUnpad>>(
      context);
  nn::SegmentPositionsOp::attachInterface<
      ToRows<nn::SegmentPositionsOp, emitPositions>>(context);
  attachEmitter<nn::SegmentShiftOp, emitShift>(context);
  attachEmitter<nn::SegmentReverseOp, emitReverse>(context);
}
