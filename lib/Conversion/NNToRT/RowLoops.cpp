//===- RowLoops.cpp - Loops over rows -------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A softmax consists of a maximum per row, differences and their exp, a sum,
// and quotients. A layer norm similarly alternates means and elementwise ops.
// As one loop over rows, all of this is computed for a row while it is in the
// nearest cache. Values without other users never need more than one row of
// memory.
//
//===----------------------------------------------------------------------===//

#include "RowLoops.h"
#include "LoopElements.h"
#include "StageOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace pdlc;

namespace {

class RowLoop {
public:
  RowLoop(Operation *op, StageEmitter &emitter) : emitter(emitter) {
    for (ArrayRef<Operation *> ops : emitter.plan.rowStepsOf(op))
      steps.push_back(prepare(ops));
  }
  void emit();

private:
  struct Step {
    ArrayRef<Operation *> ops;
    // Elements of the ops, or those that one op combines.
    LoopElements elements;
    bool combines;
    // The combined tensor; null if only one row of it exists at a time.
    Value from;
    /// Results of the step that other steps or ops read, each with its memory.
    /// The memory is null if it holds only one row.
    SmallVector<std::pair<Value, Value>> results;
  };
  static bool keepsApart(unsigned, unsigned) { return false; }
  bool isRow(Value value) const { return emitter.plan.isScalar(value); }
  Step prepare(ArrayRef<Operation *> ops);
  void emitStep(Step &step, ValueRange row);

  StageEmitter &emitter;
  SmallVector<Step, 0> steps;
  /// Memory of tensors of which only one row exists.
  DenseMap<Value, Value> rows;
};

} // namespace

RowLoop::Step RowLoop::prepare(ArrayRef<Operation *> ops) {
  const bool combines = cast<StageOpInterface>(ops.back()).combinesRows();
  Step step{ops,
            combines ? LoopElements::of(ops.back()->getOperand(0), emitter)
                     : LoopElements(ops, emitter),
            combines,
            {},
            {}};
  step.elements.findDimensions(keepsApart);
  if (combines) {
    Value operand = ops.back()->getOperand(0);
    Value result = ops.back()->getResult(0);
    if (!isRow(operand))
      step.from = step.elements.viewOf(operand);
    ArrayRef<Extent> extents = step.elements.getExtents().drop_back();
    SmallVector<int64_t> inner;
    for (const Extent &extent : extents.drop_front())
      inner.push_back(extent.constant);
    step.results.emplace_back(
        result,
        isRow(result) ? Value() : emitter.view(result, extents.front(), inner));
    return step;
  }
  step.elements.prepare();
  for (Operation *op : ops) {
    Value result = op->getResult(0);
    if (!isRow(result))
      step.results.emplace_back(result, step.elements.viewOf(result));
    else if (!isInnerTo(ops, result))
      step.results.emplace_back(result, Value());
  }
  return step;
}

void RowLoop::emitStep(Step &step, ValueRange row) {
  if (step.combines) {
    auto op = cast<StageOpInterface>(step.ops.back());
    emitter.builder.setLoc(op.getLoc());
    Value combined = step.from
                         ? op.emitRow(emitter, step.from, row)
                         : op.emitRow(emitter, rows.at(op->getOperand(0)), {});
    auto [result, memory] = step.results.front();
    if (memory)
      emitter.store(combined, memory, row);
    else
      emitter.store(combined, rows.at(result), emitter.index(0));
    return;
  }
  step.elements.bindRows(rows);
  auto compute = [&](ValueRange position, Value column) {
    DenseMap<Value, Value> computed = step.elements.compute(position);
    for (auto [result, memory] : step.results)
      if (memory)
        emitter.store(computed.at(result), memory, position);
      else
        emitter.store(computed.at(result), rows.at(result), column);
  };
  ArrayRef<Extent> extents = step.elements.getExtents();
  if (extents.size() == row.size())
    return compute(row, emitter.index(0));
  emitter.parallel(emitter.evaluate(extents.back()), [&](ValueRange column) {
    SmallVector<Value> position(row);
    llvm::append_range(position, column);
    compute(position, column.front());
  });
}

void RowLoop::emit() {
  SmallVector<Value> bounds;
  const Step *combining =
      llvm::find_if(steps, [](const Step &step) { return step.combines; });
  for (const Extent &extent : combining->elements.getExtents().drop_back())
    bounds.push_back(emitter.evaluate(extent));
  emitter.parallel(bounds, [&](ValueRange row) {
    for (const Step &step : steps)
      for (auto [result, memory] : step.results)
        if (!memory) {
          auto type = cast<RankedTensorType>(result.getType());
          rows[result] = memref::AllocaOp::create(
              emitter.builder,
              MemRefType::get({type.getShape().back()}, type.getElementType()));
        }
    for (Step &step : steps)
      emitStep(step, row);
  });
}

void pdlc::emitRowLoop(Operation *op, StageEmitter &emitter) {
  RowLoop(op, emitter).emit();
}
