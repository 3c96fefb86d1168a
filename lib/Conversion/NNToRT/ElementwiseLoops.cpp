//===- ElementwiseLoops.cpp - Loops of elementwise ops --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Fused elementwise ops become one parallel loop over the elements of their
// results, which share one type. A number that is the same for all elements is
// loaded before the loop.
//
//===----------------------------------------------------------------------===//

#include "LoopElements.h"
#include "RowLoops.h"
#include "StageOps.h"

using namespace mlir;
using namespace pdlc;

static void emitLoop(ArrayRef<Operation *> ops, StageEmitter &emitter) {
  LoopElements elements(ops, emitter);
  elements.findDimensions();
  // Emit everything that does not depend on the iteration before the loop.
  elements.prepare();
  SmallVector<Value> bounds;
  for (const Extent &extent : elements.getExtents())
    bounds.push_back(emitter.evaluate(extent));
  // Results that other ops read, and their memory.
  SmallVector<std::pair<Value, Value>> targets;
  for (Operation *op : ops)
    if (Value value = op->getResult(0); !emitter.plan.isScalar(value))
      targets.push_back({value, elements.viewOf(value)});
  emitter.parallel(bounds, [&](ValueRange position) {
    DenseMap<Value, Value> computed = elements.compute(position);
    SmallVector<Value> indices(position);
    if (indices.empty())
      indices.push_back(emitter.index(0));
    for (auto [value, memory] : targets)
      emitter.store(computed.at(value), memory, indices);
  });
}

/// Minimum number of contiguous elements for which a loop handles gaps: enough
/// to fill the widest vectors. For shorter runs, a copy is probably faster (not
/// measured).
static constexpr int64_t kMinRun = 16;

/// Returns true if a loop over the elements of the tensor may find a gap after
/// each `run` of them.
static bool canLeaveGaps(Value tensor, int64_t run) {
  return run >= kMinRun &&
         runDimension(cast<RankedTensorType>(tensor.getType()).getShape(), run);
}

namespace {

struct ElementwiseStage
    : StageDefaults<ElementwiseStage,
                    StageOpInterface::FallbackModel<ElementwiseStage>> {
  LogicalResult emit(Operation *op, StageEmitter &emitter) const {
    if (!emitter.plan.rowStepsOf(op).empty())
      emitRowLoop(op, emitter);
    else
      emitLoop(emitter.plan.loopOf(op), emitter);
    return success();
  }
  bool readsElements(Operation *op, OpOperand &operand) const {
    return operand.getOperandNumber() <
           cast<ElementwiseOpInterface>(op).getNumElementOperands();
  }
  bool readsColumns(Operation *, OpOperand &operand, int64_t run) const {
    return canLeaveGaps(operand.get(), run);
  }
  bool writesColumns(Operation *, OpResult result, int64_t run) const {
    return canLeaveGaps(result, run);
  }
};

/// The op only stops gradients, so its result is a view of its operand.
struct StopGradientStage : WithoutCode<StopGradientStage, nn::StopGradientOp> {
  Value getViewSource(Operation *op) const { return op->getOperand(0); }
};

} // namespace

void pdlc::attachElementwiseStages(MLIRContext &context) {
  nn::StopGradientOp::attachInterface<StopGradientStage>(context);
  attachToOpsWith<ElementwiseOpInterface, ElementwiseStage>(
      context, nn::NNDialect::getDialectNamespace());
}
