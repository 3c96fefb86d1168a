//===- SelectionOps.cpp - Top-k and selection by position -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace pdlc;

namespace {

/// A number and its position.
struct Place {
  Value number, position;
  SmallVector<Value> values() const { return {number, position}; }
};

/// Loops for one row.
class TopKLoop {
public:
  TopKLoop(StageEmitter &emitter, nn::TopKOp op, Value from, Value to,
           Value row)
      : emitter(emitter), builder(emitter.builder), from(from), to(to),
        row(row), element(nn::tensorOf(op.getInput()).getElementType()),
        width(nn::tensorOf(op.getInput()).getShape().back()),
        count(static_cast<int64_t>(op.getCount())) {}

  void emit();

private:
  /// Creates a loop over [0, bound) that carries a number with its position.
  Place carry(int64_t bound, Place initial,
              function_ref<Place(Value, Place)> body) {
    auto loop =
        scf::ForOp::create(builder, emitter.index(0), emitter.index(bound),
                           emitter.index(1), initial.values());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Place next = body(loop.getInductionVar(),
                      {loop.getRegionIterArg(0), loop.getRegionIterArg(1)});
    scf::YieldOp::create(builder, next.values());
    return {loop.getResult(0), loop.getResult(1)};
  }
  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(builder, value, 64);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, predicate, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(builder, predicate, a, b);
  }
  Value either(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(builder, condition, yes, no);
  }
  Place next(Place before);

  StageEmitter &emitter;
  ImplicitLocOpBuilder &builder;
  Value from, to, row;
  Type element;
  int64_t width, count;
};

} // namespace

/// Finds the number that follows `before` in descending order. Of equal
/// numbers, the one at the lower position comes first. If there is none, the
/// returned position is -1.
Place TopKLoop::next(Place before) {
  Place none{emitter.scalar(element, 0), integer(-1)};
  return carry(width, none, [&](Value at, Place best) -> Place {
    Value number = emitter.load(from, {row, at});
    Value position =
        arith::IndexCastOp::create(builder, builder.getI64Type(), at);
    Value isSmaller = compare(arith::CmpFPredicate::OLT, number, before.number);
    Value isEqual = compare(arith::CmpFPredicate::OEQ, number, before.number);
    Value isAfter =
        compare(arith::CmpIPredicate::sgt, position, before.position);
    Value follows = arith::OrIOp::create(
        builder, isSmaller, arith::AndIOp::create(builder, isEqual, isAfter));
    Value isFirst =
        compare(arith::CmpIPredicate::slt, best.position, integer(0));
    Value isLarger = compare(arith::CmpFPredicate::OGT, number, best.number);
    Value isBetter = arith::AndIOp::create(
        builder, follows, arith::OrIOp::create(builder, isFirst, isLarger));
    return {either(isBetter, number, best.number),
            either(isBetter, position, best.position)};
  });
}

void TopKLoop::emit() {
  Value infinity =
      emitter.scalar(element, std::numeric_limits<double>::infinity());
  Value least =
      emitter.scalar(element, -std::numeric_limits<double>::infinity());
  carry(count, {infinity, integer(-1)}, [&](Value at, Place before) -> Place {
    Place found = next(before);
    emitter.store(found.position, to, {row, at});
    // If no entry is left, the limits become those after which no later search
    // finds one.
    Value isNone =
        compare(arith::CmpIPredicate::slt, found.position, integer(0));
    return {either(isNone, least, found.number),
            either(isNone, integer(width), found.position)};
  });
}

static void emitTopK(StageEmitter &emitter, nn::TopKOp op) {
  auto input = nn::tensorOf(op.getInput());
  const int64_t width = input.getShape().back();
  const auto count = static_cast<int64_t>(op.getCount());
  const Extent rows = emitter.sizes.elements(op.getInput()).scaled(1, width);
  Value from = emitter.view(op.getInput(), rows, {width});
  Value to = emitter.view(op.getResult(), rows, {count});
  emitter.parallel(emitter.evaluate(rows), [&](ValueRange at) {
    TopKLoop(emitter, op, from, to, at[0]).emit();
  });
}

static void emitGather(StageEmitter &emitter, nn::GatherOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  auto input = nn::tensorOf(op.getInput());
  const int64_t entries = input.getDimSize(1),
                taken = nn::tensorOf(op.getIndex()).getDimSize(1);
  const int64_t width = input.getRank() == 3 ? input.getDimSize(2) : 1;
  const Extent samples = emitter.sizes.first(op.getInput());
  Value from = emitter.view(op.getInput(), samples, {entries, width});
  Value places = emitter.view(op.getIndex(), samples, {taken});
  Value to = emitter.view(op.getResult(), samples, {taken, width});
  Value zero = emitter.scalar(input.getElementType(), 0);
  SmallVector<Value> bounds{emitter.evaluate(samples), emitter.index(taken)};
  emitter.parallel(bounds, [&](ValueRange at) {
    Value place = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                             emitter.load(places, at));
    // As unsigned, a negative position is too large as well.
    Value isEntry = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                          place, emitter.index(entries));
    place = arith::SelectOp::create(builder, isEntry, place, emitter.index(0));
    emitter.parallel(emitter.index(width), [&](ValueRange element) {
      Value entry = emitter.load(from, {at[0], place, element[0]});
      // Converts -0 to +0.
      entry = arith::AddFOp::create(builder, entry, zero);
      emitter.store(arith::SelectOp::create(builder, isEntry, entry, zero), to,
                    {at[0], at[1], element[0]});
    });
  });
}

/// The sums of one row up to each of its elements: one that grows.
static void emitGrowingSum(StageEmitter &emitter, nn::CumulativeSumOp op,
                           Value from, Value to, Value row, Value zero) {
  emitter.ordered(emitter.index(nn::tensorOf(op.getInput()).getShape().back()),
                  zero, [&](Value at, Value sum) -> Value {
                    Value next = arith::AddFOp::create(
                        emitter.builder, sum, emitter.load(from, {row, at}));
                    emitter.store(op.getExclusive() ? sum : next, to,
                                  {row, at});
                    return next;
                  });
}

/// The sum of one row from an element on, which adds in ascending order, too.
static void emitRest(StageEmitter &emitter, nn::CumulativeSumOp op, Value from,
                     Value to, ValueRange point, Value zero) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  const int64_t width = nn::tensorOf(op.getInput()).getShape().back();
  Value begin = point[1];
  if (op.getExclusive())
    begin = arith::AddIOp::create(builder, begin, emitter.index(1));
  Value count = arith::SubIOp::create(builder, emitter.index(width), begin);
  Value sum = emitter.ordered(count, zero, [&](Value turn, Value sum) -> Value {
    Value at = arith::AddIOp::create(builder, begin, turn);
    return arith::AddFOp::create(builder, sum,
                                 emitter.load(from, {point[0], at}));
  });
  emitter.store(sum, to, point);
}

static void emitCumulativeSum(StageEmitter &emitter, nn::CumulativeSumOp op) {
  auto input = nn::tensorOf(op.getInput());
  const int64_t width = input.getShape().back();
  const Extent rows = emitter.sizes.elements(op.getInput()).scaled(1, width);
  Value from = emitter.view(op.getInput(), rows, {width});
  Value to = emitter.view(op.getResult(), rows, {width});
  Value zero = emitter.scalar(input.getElementType(), 0);
  SmallVector<Value> bounds{emitter.evaluate(rows)};
  if (op.getReversed())
    bounds.push_back(emitter.index(width));
  emitter.parallel(bounds, [&](ValueRange point) {
    if (op.getReversed())
      emitRest(emitter, op, from, to, point, zero);
    else
      emitGrowingSum(emitter, op, from, to, point[0], zero);
  });
}

void pdlc::attachSelectionStages(MLIRContext &context) {
  attachEmitter<nn::CumulativeSumOp, emitCumulativeSum>(context);
  attachEmitter<nn::GatherOp, emitGather>(context);
  attachEmitter<nn::TopKOp, emitTopK>(context);
}
