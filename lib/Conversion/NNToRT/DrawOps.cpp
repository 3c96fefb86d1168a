//===- DrawOps.cpp - Random numbers of samples ----------------------------===//
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

/// Returns the random stream that `nn-lower-model` has assigned to the op.
static int64_t streamOf(DrawingOpInterface op) {
  return static_cast<int64_t>(op.getDrawStream().value_or(0));
}

static void emitDropout(StageEmitter &emitter, nn::DropoutOp op) {
  const int64_t width = innerElements(op.getResult());
  const Extent extent = emitter.sizes.first(op.getResult());
  rt::DropoutOp::create(
      emitter.builder, emitter.view(op.getInput(), extent, {width}),
      op.getBags() ? emitter.flat(op.getBags()) : Value(), op.getRate(),
      emitter.pointer(rt::Place::draws), streamOf(op),
      emitter.view(op.getResult(), extent, {width}));
}

static void emitSample(StageEmitter &emitter, nn::SampleOp op) {
  Value table = op.getCounts() ? emitter.numbers(op.getDrawTable()) : Value();
  rt::SampleOp::create(
      emitter.builder, static_cast<rt::Distribution>(op.getDistribution()),
      table, emitter.pointer(rt::Place::draws), streamOf(op), op.getCount(),
      op.getFirst(), op.getBehind(), emitter.flat(op.getResult()));
}

static void emitLogProbability(StageEmitter &emitter, nn::LogProbabilityOp op) {
  Value logarithms =
      op.getCounts() ? emitter.numbers(op.getLogarithms()) : Value();
  emitter.returnUnlessZero(rt::LogProbabilityOp::create(
      emitter.builder, emitter.builder.getI32Type(),
      static_cast<rt::Distribution>(op.getDistribution()), logarithms,
      emitter.flat(op.getIds()), op.getFirst(), op.getBehind(),
      emitter.flat(op.getResult())));
}

static void emitAccidentalHits(StageEmitter &emitter, nn::AccidentalHitsOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  Value own = emitter.view(op.getOwn()), drawn = emitter.view(op.getDrawn());
  Type element = nn::tensorOf(op.getResult()).getElementType();
  Value count = emitter.index(nn::tensorOf(op.getOwn()).getDimSize(1));
  Value out = emitter.view(op.getResult());
  SmallVector<Value> bounds{
      emitter.evaluate(emitter.sizes.first(op.getResult())),
      emitter.index(nn::tensorOf(op.getResult()).getDimSize(1))};
  emitter.parallel(bounds, [&](ValueRange at) {
    Value id = emitter.load(drawn, at);
    Value hit = emitter.ordered(
        count, emitter.scalar(element, 0), [&](Value i, Value before) -> Value {
          Value equal =
              arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                    emitter.load(own, {at[0], i}), id);
          return arith::SelectOp::create(builder, equal,
                                         emitter.scalar(element, 1), before);
        });
    emitter.store(hit, out, at);
  });
}

namespace {

/// Stage of `nn.sample`, which draws the same number of ids for each sample.
/// The op has no operands, so its result has as many rows as the batch.
struct SampleStage : EmittedModel<SampleStage, nn::SampleOp, emitSample> {
  Extent getExtent(Operation *, OpResult, const ProgramSizes &) const {
    Extent extent;
    extent.perBatch = 1;
    return extent;
  }
};

} // namespace

void pdlc::attachDrawStages(MLIRContext &context) {
  attachEmitter<nn::DropoutOp, emitDropout>(context);
  nn::SampleOp::attachInterface<SampleStage>(context);
  attachEmitter<nn::LogProbabilityOp, emitLogProbability>(context);
  attachEmitter<nn::AccidentalHitsOp, emitAccidentalHits>(context);
}
