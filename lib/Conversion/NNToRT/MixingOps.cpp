//===- MixingOps.cpp - Ops that mix the samples of a batch ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"

using namespace mlir;
using namespace pdlc;

/// Copies row (i + by) mod b to row i, for b >= 1.
static void emitRotate(StageEmitter &emitter, nn::RotateOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  const int64_t width = innerElements(op.getResult());
  const Extent extent = emitter.sizes.first(op.getResult());
  Value from = emitter.view(op.getInput(), extent, {width});
  Value to = emitter.view(op.getResult(), extent, {width});
  Value rows = emitter.evaluate(extent);
  // A batch may have bags without any row.
  Value divisor = arith::MaxSIOp::create(builder, rows, emitter.index(1));
  Value by = emitter.index(static_cast<int64_t>(op.getBy()));
  Value rest = arith::RemSIOp::create(builder, by, divisor);
  Value isBelow = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                        rest, emitter.index(0));
  Value lifted = arith::AddIOp::create(builder, rest, divisor);
  Value shift = arith::SelectOp::create(builder, isBelow, lifted, rest);
  emitter.parallel({rows, emitter.index(width)}, [&](ValueRange at) {
    Value source = arith::AddIOp::create(builder, at[0], shift);
    Value isBeyond =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::sge, source, rows);
    Value wrapped = arith::SubIOp::create(builder, source, rows);
    source = arith::SelectOp::create(builder, isBeyond, wrapped, source);
    emitter.store(emitter.load(from, {source, at[1]}), to, at);
  });
}

/// Returns the size of the scratch memory for a block of rows. It contains the
/// scores of these rows and, for a device, the maximum and the sum of each lane
/// of each row (pdlabi/device.h).
static Extent scratchElements(const ProgramSizes &sizes, Value users) {
  return sizes.first(users)
      .scaled(PDL_IN_BATCH_ROWS)
      .plus(int64_t(2) * PDL_IN_BATCH_ROWS * PDL_DEVICE_LANES);
}

static Value scratchOf(StageEmitter &emitter, Operation *op, Value users) {
  return emitter.scratchView(emitter.plan.scratch(op),
                             scratchElements(emitter.sizes, users),
                             nn::tensorOf(users).getElementType());
}

static Value flatOrNull(StageEmitter &emitter, Value tensor) {
  return tensor ? emitter.flat(tensor) : Value();
}

static void emitLogSumExp(StageEmitter &emitter, nn::InBatchLogSumExpOp op) {
  rt::InBatchLogSumExpOp::create(
      emitter.builder, emitter.module.numerics,
      emitter.pointer(rt::Place::worker), emitter.view(op.getUsers()),
      emitter.view(op.getItems()), flatOrNull(emitter, op.getCorrection()),
      flatOrNull(emitter, op.getIds()), scratchOf(emitter, op, op.getUsers()),
      emitter.flat(op.getResult()));
}

static void emitGradient(StageEmitter &emitter, nn::InBatchGradientOp op) {
  rt::InBatchGradientOp::create(
      emitter.builder, static_cast<rt::BatchSide>(op.getSide()),
      emitter.module.numerics, emitter.pointer(rt::Place::worker),
      emitter.view(op.getUsers()), emitter.view(op.getItems()),
      flatOrNull(emitter, op.getCorrection()), flatOrNull(emitter, op.getIds()),
      emitter.flat(op.getSums()), emitter.flat(op.getCotangent()),
      scratchOf(emitter, op, op.getUsers()), emitter.view(op.getResult()));
}

namespace {

template <typename OpType, void (*function)(StageEmitter &, OpType)>
struct ScoringStage
    : EmittedModel<ScoringStage<OpType, function>, OpType, function> {
  std::optional<Extent> getScratch(Operation *op,
                                   const ProgramSizes &sizes) const {
    Value users = cast<OpType>(op).getUsers();
    return scratchElements(sizes, users).scaled(elementBytes(users));
  }
};

} // namespace

void pdlc::attachMixingStages(MLIRContext &context) {
  attachEmitter<nn::RotateOp, emitRotate>(context);
  nn::InBatchLogSumExpOp::attachInterface<
      ScoringStage<nn::InBatchLogSumExpOp, emitLogSumExp>>(context);
  nn::InBatchGradientOp::attachInterface<
      ScoringStage<nn::InBatchGradientOp, emitGradient>>(context);
}
