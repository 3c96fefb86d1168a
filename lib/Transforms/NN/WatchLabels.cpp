//===- WatchLabels.cpp - Watch for labels outside of [0, 1] ---------------===//
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
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the labels of a cross entropy; null for any other op.
static Value labelsOf(Operation &op) {
  return llvm::TypeSwitch<Operation *, Value>(&op)
      .Case<SigmoidCrossEntropyOp, LogLossOp, SoftmaxCrossEntropyOp, RankLossOp,
            HingeLossOp>([](auto loss) -> Value { return loss.getLabels(); })
      .Default(Value());
}

/// Returns true if a value lies in [0, 1] whatever it is computed from.
static bool isProbability(Value value) {
  return isa_and_present<OneHotOp, EqualOp, NotEqualOp, GreaterOp,
                         GreaterEqualOp, SigmoidOp, SoftmaxOp>(
      value.getDefiningOp());
}

/// Returns true if a value is an argument of its program or computed from one.
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

/// Returns the first `nn.minimize` that depends on the result of `loss`; null
/// if there is none.
static MinimizeOp minimizeOf(Operation &loss) {
  SetVector<Operation *> after;
  getForwardSlice(&loss, &after);
  for (Operation &op : *loss.getBlock())
    if (auto minimize = dyn_cast<MinimizeOp>(op);
        minimize && after.contains(minimize))
      return minimize;
  return {};
}

/// The largest element of each row, [b, 1].
static Value largestOf(ImplicitLocOpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  const int64_t width =
      ShapedType::getNumElements(type.getShape().drop_front());
  if (type.getRank() != 2)
    value = ReshapeOp::create(builder,
                              RankedTensorType::get({type.getDimSize(0), width},
                                                    type.getElementType()),
                              value);
  return width == 1 ? value
                    : ReduceOp::create(builder, Reduction::max, value,
                                       /*axes=*/1, /*keep=*/true);
}

/// Returns one number for each sample, [b, 1], that is in [0, 1] exactly if all
/// labels of the sample are. If the rows of `labels` are ids of bags, `bags` is
/// their ragged value, else null.
static Value extremeOf(ImplicitLocOpBuilder &builder, Value labels,
                       Value bags) {
  auto type = cast<RankedTensorType>(labels.getType());
  if (!bags && type.getRank() == 2 && type.getDimSize(1) == 1)
    return labels;
  auto number = RankedTensorType::get({}, type.getElementType());
  Value one = ConstantOp::create(
      builder, DenseElementsAttr::get(
                   number, builder.getFloatAttr(type.getElementType(), 1.0)));
  Value rest = SubOp::create(builder, one, labels);
  Value larger = largestOf(builder, MaxOp::create(builder, labels, rest));
  if (!bags)
    return larger;
  auto ofBags = RankedTensorType::get(
      {ShapedType::kDynamic, cast<RaggedType>(bags.getType()).getSlots(), 1},
      type.getElementType());
  return largestOf(builder,
                   SegmentMaxOp::create(builder, ofBags, larger, bags));
}

static void declareMetric(ModuleOp module) {
  OpBuilder atProgram(*module.getOps<ProgramOp>().begin());
  MetricOp::create(atProgram, module.getLoc(), pdlabi::labelRangeName,
                   BucketErrorAttr::get(module.getContext(), 2));
}

static bool isWatched(Value labels) {
  auto type = labels ? dyn_cast<RankedTensorType>(labels.getType())
                     : RankedTensorType();
  return type && type.getRank() >= 2 && type.isDynamicDim(0) &&
         !isProbability(labels) && comesFromField(labels);
}

void pdlc::watchLabels(ProgramOp program, const RowsOfBags &rowsOf) {
  if (program.getFrozen())
    return;
  auto module = program->getParentOfType<ModuleOp>();
  auto metric =
      FlatSymbolRefAttr::get(module.getContext(), pdlabi::labelRangeName);
  llvm::SmallSetVector<Value, 4> seen;
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    Value labels = labelsOf(op);
    if (!isWatched(labels))
      continue;
    MinimizeOp minimize = minimizeOf(op);
    if (!minimize || !seen.insert(labels))
      continue;
    ImplicitLocOpBuilder builder(op.getLoc(), minimize);
    Value extreme = extremeOf(builder, labels, rowsOf.lookup(labels));
    if (!module.lookupSymbol(metric))
      declareMetric(module);
    Value weights = minimize.getWeights();
    if (weights &&
        getElementTypeOrSelf(weights) != getElementTypeOrSelf(labels))
      weights = {};
    ObserveOp::create(builder, metric, extreme, extreme, weights,
                      /*group=*/Value());
  }
}
