//===- ControlOps.cpp - Control flow in stages ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bodies become blocks of the stage between two branches. Their loops
// become kernels and their products become calls, like those of the program.
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace pdlc;

static LogicalResult emitIf(nn::IfOp op, StageEmitter &emitter) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  // Compute addresses and sizes of the inputs before the branch, so that both
  // bodies and all later code can use them.
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    inputs.push_back(emitter.address(input));
    emitter.evaluate(emitter.sizes.first(input));
  }
  Value condition =
      emitter.load(emitter.flat(op.getCondition()), emitter.index(0));
  Value isTrue =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::UNE, condition,
                            emitter.scalar(condition.getType(), 0));
  auto emitBody = [&](Region &region) -> LogicalResult {
    Block &body = region.front();
    for (auto [argument, base] : llvm::zip_equal(body.getArguments(), inputs))
      emitter.bind(argument, base, emitter.index(0));
    for (Operation &each : body.without_terminator()) {
      builder.setLoc(each.getLoc());
      if (failed(emitter.emitOp(&each)))
        return failure();
    }
    builder.setLoc(op.getLoc());
    for (auto [result, yielded] :
         llvm::zip_equal(op.getValues(), body.getTerminator()->getOperands()))
      memref::CopyOp::create(builder, emitter.flat(yielded),
                             emitter.flat(result));
    return success();
  };
  return emitter.branch(
      isTrue, [&] { return emitBody(op.getTaken()); },
      [&] { return emitBody(op.getOtherwise()); });
}

namespace {
struct IfStage : StageModel<IfStage, nn::IfOp> {
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    Operation *yield = cast<nn::IfOp>(op).getTaken().front().getTerminator();
    return sizes.first(yield->getOperand(result.getResultNumber()));
  }
  LogicalResult emit(Operation *op, StageEmitter &emitter) const {
    return emitIf(cast<nn::IfOp>(op), emitter);
  }
};
} // namespace

void pdlc::attachControlStages(MLIRContext &context) {
  nn::IfOp::attachInterface<IfStage>(context);
}
