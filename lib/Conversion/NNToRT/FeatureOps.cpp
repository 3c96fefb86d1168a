//===- FeatureOps.cpp - Ids computed from features ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace pdlc;

static void emitBucketize(StageEmitter &emitter, nn::BucketizeOp op) {
  Value boundaries = emitter.numbers(op.getBoundaries());
  rt::BucketizeOp::create(emitter.builder, emitter.flat(op.getInput()),
                          boundaries, emitter.flat(op.getResult()));
}

static void emitCross(StageEmitter &emitter, nn::CrossOp op) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs())
    inputs.push_back(emitter.flat(input));
  rt::CrossOp::create(emitter.builder, inputs, op.getSalt(),
                      emitter.flat(op.getResult()));
}

static void emitCrossBags(StageEmitter &emitter, nn::CrossBagsOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  SmallVector<Value> ids, splits;
  for (const nn::Bags &bags : op.getBags())
    ids.push_back(emitter.flat(bags.ids));
  for (const nn::Bags &bags : op.getBags())
    splits.push_back(emitter.flat(bags.splits));
  Value count =
      rt::CrossRaggedCountOp::create(builder, builder.getIndexType(), splits);
  emitter.allocate(op.getResult(), count);
  rt::CrossRaggedOp::create(builder, ids, splits, op.getSalt(),
                            emitter.flat(op.getResult()),
                            emitter.flat(op.getResultSplits()));
}

/// Computes one id.
static Value computeId(ImplicitLocOpBuilder &builder, nn::IdArithmeticOp op,
                       Value id) {
  Value number = arith::ConstantIntOp::create(
      builder, static_cast<int64_t>(op.getNumber()), 64);
  if (op.getKind() == nn::IdOperation::add)
    return arith::AddIOp::create(builder, id, number);
  if (op.getKind() == nn::IdOperation::multiply)
    return arith::MulIOp::create(builder, id, number);
  Value zero = arith::ConstantIntOp::create(builder, 0, 64);
  Value rest = arith::RemSIOp::create(builder, id, number);
  Value isBelow =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, rest, zero);
  const bool wantsRest = op.getKind() == nn::IdOperation::remainder;
  Value value = wantsRest
                    ? rest
                    : arith::DivSIOp::create(builder, id, number).getResult();
  Value step = wantsRest
                   ? number
                   : arith::ConstantIntOp::create(builder, -1, 64).getResult();
  Value moved = arith::AddIOp::create(builder, value, step);
  return arith::SelectOp::create(builder, isBelow, moved, value);
}

/// Returns true if the number of ids is unknown until the stage has created
/// them. Such ids get memory at run time.
static bool isCountedLater(const Extent &extent) {
  return extent.perCount != 0 && !isa<BlockArgument>(extent.counted);
}

static void emitIdArithmetic(StageEmitter &emitter, nn::IdArithmeticOp op) {
  Value count = emitter.evaluate(emitter.sizes.elements(op.getResult()));
  if (isCountedLater(emitter.sizes.first(op.getResult())))
    emitter.allocate(op.getResult(), count);
  Value from = emitter.flat(op.getInput());
  Value to = emitter.flat(op.getResult());
  emitter.parallel(count, [&](ValueRange turn) {
    Value id = emitter.load(from, turn);
    emitter.store(computeId(emitter.builder, op, id), to, turn);
  });
}

/// Emits the conversion of a float to an id. The float is rounded toward zero,
/// and is clamped to the range of 64-bit integers; NaN becomes 0.
/// `arith.fptosi` is undefined for NaN and for numbers out of range, so these
/// are replaced by 0 before it.
static Value idOf(StageEmitter &emitter, Value number) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Type type = number.getType();
  auto chooseWhere = [&](arith::CmpFPredicate condition, double bound,
                         Value yes, Value no) -> Value {
    Value holds = arith::CmpFOp::create(builder, condition, number,
                                        emitter.scalar(type, bound));
    return arith::SelectOp::create(builder, holds, yes, no);
  };
  Value zero = emitter.scalar(type, 0);
  Value known = chooseWhere(arith::CmpFPredicate::OLT, 0x1p63, number, zero);
  known = chooseWhere(arith::CmpFPredicate::OGT, -0x1p63, known, zero);
  Value id = arith::FPToSIOp::create(builder, builder.getI64Type(), known);
  Value most = arith::ConstantIntOp::create(
      builder, std::numeric_limits<int64_t>::max(), 64);
  Value least = arith::ConstantIntOp::create(
      builder, std::numeric_limits<int64_t>::min(), 64);
  id = chooseWhere(arith::CmpFPredicate::OGE, 0x1p63, most, id);
  return chooseWhere(arith::CmpFPredicate::OLE, -0x1p63, least, id);
}

/// Converts a number to the element type of a cast.
static Value castTo(StageEmitter &emitter, Type type, Value number) {
  if (type.isInteger())
    return idOf(emitter, number);
  ImplicitLocOpBuilder &builder = emitter.builder;
  if (number.getType().isInteger())
    return arith::SIToFPOp::create(builder, type, number);
  // Rounds to nearest, ties to even.
  if (type.getIntOrFloatBitWidth() < number.getType().getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, type, number);
  return arith::ExtFOp::create(builder, type, number);
}

static void emitCast(StageEmitter &emitter, nn::CastOp op) {
  Value from = emitter.flat(op.getInput());
  Value to = emitter.flat(op.getResult());
  Type type = op.getType().getElementType();
  Value count = emitter.evaluate(emitter.sizes.elements(op.getResult()));
  emitter.parallel(count, [&](ValueRange turn) {
    Value number = emitter.load(from, turn);
    emitter.store(castTo(emitter, type, number), to, turn);
  });
}

static void emitSingleBags(StageEmitter &emitter, nn::SingleBagsOp op) {
  Value splits = emitter.flat(op.getSplits());
  Value count = emitter.evaluate(emitter.sizes.elements(op.getSplits()));
  emitter.parallel(count, [&](ValueRange bag) {
    Value number = arith::IndexCastOp::create(
        emitter.builder, emitter.builder.getI32Type(), bag.front());
    emitter.store(number, splits, bag);
  });
}

static void emitCheckBags(StageEmitter &emitter, nn::CheckBagsOp op) {
  emitter.returnUnlessZero(rt::CheckBagsOp::create(
      emitter.builder, emitter.builder.getI32Type(),
      emitter.flat(op.getSplits()), emitter.flat(op.getExpected())));
}

namespace {

/// The number of ids is known only after the bags have been crossed.
struct CrossBagsStage
    : EmittedModel<CrossBagsStage, nn::CrossBagsOp, emitCrossBags> {
  /// The last split is the number of ids.
  Value emitCount(Operation *op, OpResult, StageEmitter &emitter) const {
    Value splits = cast<nn::CrossBagsOp>(op).getResultSplits();
    Value last = emitter.evaluate(emitter.sizes.first(splits).plus(-1));
    Value number = emitter.load(emitter.view(splits), last);
    return arith::IndexCastOp::create(emitter.builder,
                                      emitter.builder.getIndexType(), number);
  }
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    auto cross = cast<nn::CrossBagsOp>(op);
    return result == cross.getResult()
               ? Extent::counting(result)
               : sizes.first(cross.getBags().front().splits);
  }
  std::optional<Home> getHome(Operation *op, OpResult result,
                              const HomeNumbers &) const {
    if (result == cast<nn::CrossBagsOp>(op).getResult())
      return Home::ofKind(Home::Allocated);
    return std::nullopt;
  }
};

struct IdArithmeticStage
    : EmittedModel<IdArithmeticStage, nn::IdArithmeticOp, emitIdArithmetic> {
  std::optional<Home> getHome(Operation *, OpResult result,
                              const HomeNumbers &numbers) const {
    if (isCountedLater(numbers.sizes.first(result)))
      return Home::ofKind(Home::Allocated);
    return std::nullopt;
  }
};

struct SingleBagsStage
    : EmittedModel<SingleBagsStage, nn::SingleBagsOp, emitSingleBags> {
  Extent getExtent(Operation *op, OpResult, const ProgramSizes &sizes) const {
    return sizes.ofOperands(op).plus(1);
  }
};

} // namespace

void pdlc::attachFeatureStages(MLIRContext &context) {
  attachEmitter<nn::BucketizeOp, emitBucketize>(context);
  attachEmitter<nn::CastOp, emitCast>(context);
  attachEmitter<nn::CrossOp, emitCross>(context);
  attachEmitter<nn::CheckBagsOp, emitCheckBags>(context);
  nn::CrossBagsOp::attachInterface<CrossBagsStage>(context);
  nn::IdArithmeticOp::attachInterface<IdArithmeticStage>(context);
  nn::SingleBagsOp::attachInterface<SingleBagsStage>(context);
}
