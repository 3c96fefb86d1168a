//===- ScanOps.cpp - Recurrence over the rows of bags ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scan becomes one loop nest: over bags, over the rows of a bag, and inside
// of it the body for one row, emitted like any other ops. Intermediate values
// have memory for one row, which all rows reuse. The nest becomes one kernel,
// whatever the length of the bags.
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace pdlc;

namespace {

class ScanLoop {
public:
  ScanLoop(StageEmitter &emitter, nn::ScanOp op)
      : emitter(emitter), builder(emitter.builder), op(op),
        splits(emitter.flat(op.getBags())) {}

  LogicalResult emit();

private:
  LogicalResult emitRow(Value row);
  void beginBag(Value bag);
  void bindRow(Value value, Value base, Value row);
  void copy(Value source, Value to);
  void copyRow(Value from, Value to);

  Value splitAt(Value bag) {
    return arith::IndexCastOp::create(builder, builder.getIndexType(),
                                      emitter.load(splits, bag));
  }
  /// Creates a loop over [begin, end) and moves the insertion point into it.
  Value enter(Value begin, Value end) {
    auto loop = scf::ForOp::create(builder, begin, end, emitter.index(1));
    builder.setInsertionPointToStart(loop.getBody());
    return loop.getInductionVar();
  }

  StageEmitter &emitter;
  ImplicitLocOpBuilder &builder;
  nn::ScanOp op;
  Value splits;
  SmallVector<Value> inputs, firsts, results; // Start addresses.
};

} // namespace

/// Binds the value to one row of the tensor that starts at `base`.
void ScanLoop::bindRow(Value value, Value base, Value row) {
  const int64_t bytes = innerElements(value) * elementBytes(value);
  emitter.bind(value, base,
               arith::MulIOp::create(builder, row, emitter.index(bytes)));
}

/// Copies elements from memory to a tensor with a single row.
void ScanLoop::copy(Value source, Value to) {
  const int64_t width = innerElements(to);
  Value target = emitter.view(to, Extent().plus(width));
  emitter.parallel(emitter.index(width), [&](ValueRange at) {
    emitter.store(emitter.load(source, at), target, at);
  });
}

void ScanLoop::copyRow(Value from, Value to) {
  copy(emitter.view(from, Extent().plus(innerElements(to))), to);
}

/// Initializes the states from the bag's entry of `init`.
void ScanLoop::beginBag(Value bag) {
  auto states = op.getStateArguments();
  if (firsts.empty())
    for (Value state : states)
      emitter.fill(state,
                   emitter.scalar(nn::tensorOf(state).getElementType(), 0));
  for (auto [state, base] : llvm::zip(states, firsts)) {
    const int64_t width = innerElements(state);
    Value offset = arith::MulIOp::create(
        builder, bag, emitter.index(width * elementBytes(state)));
    copy(emitter.viewAt(base, offset, Extent().plus(width), {},
                        nn::tensorOf(state).getElementType()),
         state);
  }
}

LogicalResult ScanLoop::emitRow(Value row) {
  for (auto [argument, base] : llvm::zip_equal(op.getInputArguments(), inputs))
    bindRow(argument, base, row);
  for (Operation &each : op.getBody().front().without_terminator()) {
    builder.setLoc(each.getLoc());
    if (failed(emitter.emitOp(&each)))
      return failure();
  }
  builder.setLoc(op.getLoc());
  // A body may yield states in another order than it gets them. So copy all
  // yielded values to the results before overwriting the first state.
  for (auto [result, base, yielded] :
       llvm::zip_equal(op.getRows(), results, op.getYielded())) {
    bindRow(result, base, row);
    copyRow(yielded, result);
  }
  for (auto [state, after] : llvm::zip(op.getStateArguments(), op.getRows()))
    copyRow(after, state);
  // In the nest, the result was bound to the memory of one row. After it, later
  // ops read the whole tensor.
  for (Value result : op.getRows())
    emitter.unbind(result);
  return success();
}

LogicalResult ScanLoop::emit() {
  // The nest sees each tensor as separate memory.
  for (Value input : op.getInputs())
    inputs.push_back(emitter.address(input));
  for (Value first : op.getInit())
    firsts.push_back(emitter.address(first));
  for (Value result : op.getRows())
    results.push_back(emitter.address(result));
  for (auto [argument, shared] :
       llvm::zip_equal(op.getSharedArguments(), op.getShared()))
    emitter.bind(argument, emitter.address(shared), emitter.index(0));
  for (Value local : emitter.plan.localsOf(op))
    emitter.bind(local, emitter.address(local), emitter.index(0));

  OpBuilder::InsertionGuard guard(builder);
  // For products of one row, kernels that block matrices do not pay off.
  llvm::SaveAndRestore numerics(emitter.module.numerics, rt::Numerics::strict);
  Value bags = emitter.evaluate(emitter.sizes.first(op.getBags()).plus(-1));
  Value bag = enter(emitter.index(0), bags);
  Value begin = splitAt(bag);
  Value end = splitAt(arith::AddIOp::create(builder, bag, emitter.index(1)));
  beginBag(bag);
  Value row = enter(begin, end);
  if (op.getFromEnd()) {
    Value last = arith::SubIOp::create(
        builder, arith::AddIOp::create(builder, begin, end), emitter.index(1));
    row = arith::SubIOp::create(builder, last, row);
  }
  return emitRow(row);
}

namespace {
struct ScanStage : StageModel<ScanStage, nn::ScanOp> {
  LogicalResult emit(Operation *op, StageEmitter &emitter) const {
    return ScanLoop(emitter, cast<nn::ScanOp>(op)).emit();
  }
};
} // namespace

void pdlc::attachScanStages(MLIRContext &context) {
  nn::ScanOp::attachInterface<ScanStage>(context);
}
