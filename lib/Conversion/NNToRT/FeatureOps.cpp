//===- FeatureOps.cpp - Ids from features ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

static void emitBucketize(StageEmitter &emitter, nn::BucketizeOp op) {
  ArrayRef<double> boundaries = op.getBoundaries();
  auto type = RankedTensorType::get({static_cast<int64_t>(boundaries.size())},
                                    emitter.builder.getF64Type());
  Extent count;
  count.constant = boundaries.size();
  Value numbers =
      emitter.viewAt(emitter.constant(DenseElementsAttr::get(type, boundaries)),
                     emitter.index(0), count, {}, type.getElementType());
  rt::BucketizeOp::create(emitter.builder, emitter.flat(op.getInput()), numbers,
                          emitter.flat(op.getResult()));
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

/// How many ids there are is known only when the bags have been crossed.
struct CrossBagsStage
    : EmittedModel<CrossBagsStage, nn::CrossBagsOp, emitCrossBags> {
  /// The last split says how many ids there are.
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

struct SingleBagsStage
    : EmittedModel<SingleBagsStage, nn::SingleBagsOp, emitSingleBags> {
  Extent getExtent(Operation *op, OpResult, const ProgramSizes &sizes) const {
    return sizes.ofOperands(op).plus(1);
  }
};

} // namespace

void pdlc::attachFeatureStages(MLIRContext &context) {
  attachEmitter<nn::BucketizeOp, emitBucketize>(context);
  attachEmitter<nn::CrossOp, emitCross>(context);
  attachEmitter<nn::CheckBagsOp, emitCheckBags>(context);
  nn::CrossBagsOp::attachInterface<CrossBagsStage>(context);
  nn::SingleBagsOp::attachInterface<SingleBagsStage>(context);
}
