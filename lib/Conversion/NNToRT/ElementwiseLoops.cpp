//===- ElementwiseLoops.cpp - Loops of elementwise ops --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Elementwise ops that are fused with each other become one parallel loop over
// the elements of their results, which have one type. What is one number for
// all elements is loaded before the loop.
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
  // Everything that is not of one turn stands before the loop.
  elements.prepare();
  SmallVector<Value> bounds;
  for (const Extent &extent : elements.getExtents())
    bounds.push_back(emitter.evaluate(extent));
  // What others read, and where it is written.
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

/// The lanes of the widest vectors: over fewer neighbours they are not filled,
/// which we expect, and have not measured, to cost more than a copy.
static constexpr int64_t kLeastRun = 16;

/// Whether a loop over the tensor may step over a gap behind each `run` of its
/// elements.
static bool canLeaveGaps(Value tensor, int64_t run) {
  return run >= kLeastRun &&
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

/// The elements themselves: gradients stop, memory does not.
struct StopGradientStage : WithoutCode<StopGradientStage, nn::StopGradientOp> {
  Value getViewSource(Operation *op) const { return op->getOperand(0); }
};

} // namespace

void pdlc::attachElementwiseStages(MLIRContext &context) {
  nn::StopGradientOp::attachInterface<StopGradientStage>(context);
  attachToOpsWith<ElementwiseOpInterface, ElementwiseStage>(
      context, nn::NNDialect::getDialectNamespace());
}
