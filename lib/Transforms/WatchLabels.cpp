//===- WatchLabels.cpp - Labels that are no probabilities -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WatchLabels.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pdlabi/names.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// The labels of a cross entropy; null of any other op.
static Value labelsOf(Operation &op) {
  if (auto loss = dyn_cast<SigmoidCrossEntropyOp>(op))
    return loss.getLabels();
  if (auto loss = dyn_cast<LogLossOp>(op))
    return loss.getLabels();
  return {};
}

/// Whether a value is an argument of its program, or computed from one.
static bool comesFromField(Value value) {
  if (isa<BlockArgument>(value))
    return true;
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.inclusive = true;
  if (failed(getBackwardSlice(value, &before, options)))
    return true;
  return llvm::any_of(before, [](Operation *op) {
    return llvm::any_of(op->getOperands(), llvm::IsaPred<BlockArgument>);
  });
}

/// The first `nn.minimize` that a value leads to; null if there is none.
static MinimizeOp minimizeOf(Operation &loss) {
  SetVector<Operation *> behind;
  getForwardSlice(&loss, &behind);
  for (Operation &op : *loss.getBlock())
    if (auto minimize = dyn_cast<MinimizeOp>(op);
        minimize && behind.contains(minimize))
      return minimize;
  return {};
}

/// One number a sample, [b, 1], that is outside of [0, 1] exactly if one of the
/// sample's labels is.
static Value extremeOf(ImplicitLocOpBuilder &builder, Value labels) {
  auto type = cast<RankedTensorType>(labels.getType());
  if (type.getDimSize(1) == 1)
    return labels;
  auto number = RankedTensorType::get({}, type.getElementType());
  Value one = ConstantOp::create(
      builder, DenseElementsAttr::get(
                   number, builder.getFloatAttr(type.getElementType(), 1.0)));
  Value rest = SubOp::create(builder, one, labels);
  Value larger = MaxOp::create(builder, labels, rest);
  return ReduceOp::create(builder, Reduction::max, larger, /*axes=*/1,
                          /*keep=*/true);
}

static void declareMetric(ModuleOp module) {
  OpBuilder atProgram(*module.getOps<ProgramOp>().begin());
  MetricOp::create(atProgram, module.getLoc(), pdlabi::labelRangeName,
                   BucketErrorAttr::get(module.getContext(), 2));
}

void pdlc::watchLabels(ModuleOp module) {
  auto metric =
      FlatSymbolRefAttr::get(module.getContext(), pdlabi::labelRangeName);
  bool isDeclared = module.lookupSymbol(metric) != nullptr;
  for (ProgramOp program : module.getOps<ProgramOp>()) {
    if (program.getFrozen())
      continue;
    llvm::SmallSetVector<Value, 4> seen;
    for (Operation &op :
         llvm::make_early_inc_range(program.getBody().front())) {
      Value labels = labelsOf(op);
      auto type = labels ? dyn_cast<RankedTensorType>(labels.getType())
                         : RankedTensorType();
      if (!type || type.getRank() != 2 || type.isDynamicDim(1) ||
          !comesFromField(labels))
        continue;
      MinimizeOp minimize = minimizeOf(op);
      if (!minimize || !seen.insert(labels))
        continue;
      ImplicitLocOpBuilder builder(op.getLoc(), minimize);
      Value extreme = extremeOf(builder, labels);
      if (!isDeclared)
        declareMetric(module);
      isDeclared = true;
      Value weights = minimize.getWeights();
      if (weights && getElementTypeOrSelf(weights) != type.getElementType())
        weights = {};
      ObserveOp::create(builder, metric, extreme, extreme, weights,
                        /*group=*/Value());
    }
  }
}
