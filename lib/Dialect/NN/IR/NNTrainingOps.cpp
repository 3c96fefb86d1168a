//===- NNTrainingOps.cpp - Losses, metrics, training ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifierUtils.h"
#include "pdlabi/metrics.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pdlc::nn;

/// Returns true if `type` is [b, 1], where b is the batch.
static bool isColumn(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
         tensor.getDimSize(1) == 1;
}

LogicalResult ObserveOp::verify() {
  Type element = getElementTypeOrSelf(getPredictions());
  if (getWeights() && (!isColumn(getWeights().getType()) ||
                       getElementTypeOrSelf(getWeights()) != element))
    return emitOpError() << "has weights of type " << getWeights().getType()
                         << "; expected one of " << element
                         << " a sample, [b, 1] with b the batch (C4)";
  if (getGroup() && (!isColumn(getGroup().getType()) ||
                     !getElementTypeOrSelf(getGroup()).isInteger(64)))
    return emitOpError() << "has groups of type " << getGroup().getType()
                         << "; expected one id of i64 a sample, [b, 1] with b "
                            "the batch (C5)";
  return success();
}

/// Returns true if `type` is [b, n] with n > 1, where b is the batch.
static bool isListOfEachSample(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
         tensor.getDimSize(1) > 1;
}

LogicalResult ObserveOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto metric =
      symbols.lookupNearestSymbolFrom<MetricOp>(*this, getMetricAttr());
  if (!metric)
    return emitOpError() << "feeds " << getMetricAttr()
                         << ", which is not an nn.metric (C1)"
                         << meantSymbol<MetricOp>(*this, getMetricAttr());
  const pdlabi::MetricInput input = pdlabi::metricInput(
      cast<MetricAttrInterface>(metric.getKind()).getAbiKind());
  const bool ranksLists = input == pdlabi::MetricInput::List;
  Type predictions = getPredictions().getType();
  if (ranksLists && !isListOfEachSample(predictions))
    return emitOpError() << "observes " << predictions << "; expected the "
                         << "scores of a list of items for each sample, [b, n] "
                            "with b the batch and n > 1 (C2)";
  if (!ranksLists && !isColumn(predictions))
    return emitOpError() << "observes " << predictions
                         << "; expected one prediction a sample, [b, 1] with b "
                            "the batch (C2)";
  const bool wantsGroup = input == pdlabi::MetricInput::GroupedPair;
  if (wantsGroup && !getGroup())
    return emitOpError() << "feeds " << getMetricAttr()
                         << " no groups; it takes one id a sample, such as "
                            "that of a user: write `group %user` (C5)";
  if (!wantsGroup && getGroup())
    return emitOpError() << "feeds " << getMetricAttr()
                         << " groups, and it takes none; leave `group` out, or "
                            "make it an #nn.grouped_auc (C5)";
  const bool wantsLabels = input != pdlabi::MetricInput::Value;
  if (wantsLabels && !getLabels())
    return emitOpError() << "feeds " << getMetricAttr()
                         << " no labels; write (%predictions, %labels) (C3)";
  if (!wantsLabels && getLabels())
    return emitOpError() << "feeds " << getMetricAttr()
                         << " labels; it takes one value a sample (C3)";
  if (!getLabels() || getLabels().getType() == predictions)
    return success();
  if (!ranksLists)
    return emitOpError() << "has labels of type " << getLabels().getType()
                         << "; expected that of the predictions, "
                         << predictions << " (C3)";
  if (!isColumn(getLabels().getType()) ||
      getElementTypeOrSelf(getLabels()) != getElementTypeOrSelf(predictions))
    return emitOpError() << "has labels of type " << getLabels().getType()
                         << "; expected the relevance of each item, "
                         << predictions << ", or the position of the relevant "
                         << "one, [b, 1] of the same element type (C3)";
  return success();
}

LogicalResult MinimizeOp::verify() {
  if (!isColumn(getLosses().getType()) ||
      (getWeights() && getWeights().getType() != getLosses().getType()))
    return emitOpError("needs per-sample losses, and weights of the same type, "
                       "of shape [b, 1] with b the batch; a loss over many "
                       "samples cannot be split among replicas (C1)");
  llvm::StringSet<> seen;
  for (auto group : getGroups().getAsRange<FlatSymbolRefAttr>())
    if (!seen.insert(group.getValue()).second)
      return emitOpError() << "names group " << group << " twice (C2)";
  if (getGroups().empty())
    return emitOpError("needs a group to train (C2)");
  return success();
}

LogicalResult AccumulateOp::verify() {
  auto values = tensorOf(getValues());
  if (values.getRank() < 2 || !values.isDynamicDim(0))
    return emitOpError() << "adds " << values
                         << " to a state; expected values of samples, [b, d, "
                            "...] with b the batch (C1)";
  if (getWeights() &&
      (!isColumn(getWeights().getType()) ||
       getElementTypeOrSelf(getWeights()) != values.getElementType()))
    return emitOpError() << "has weights of type " << getWeights().getType()
                         << "; expected [b, 1] of " << values.getElementType()
                         << ", with b the batch (C2)";
  return success();
}

/// Returns the rule of the group of `name`; null if either is not found.
static RuleOp ruleOf(Operation *from, SymbolTableCollection &symbols,
                     FlatSymbolRefAttr name) {
  FlatSymbolRefAttr groupName =
      groupOf(symbols.lookupNearestSymbolFrom(from, name));
  auto group = groupName
                   ? symbols.lookupNearestSymbolFrom<GroupOp>(from, groupName)
                   : GroupOp();
  return group ? symbols.lookupNearestSymbolFrom<RuleOp>(group,
                                                         group.getRuleAttr())
               : RuleOp();
}

/// Verifies that `name` is a parameter of type `type`, in a group whose rule is
/// for states. Only into such parameters may ops accumulate.
static LogicalResult verifyState(Operation *op, SymbolTableCollection &symbols,
                                 FlatSymbolRefAttr name, Type type,
                                 StringRef constraint) {
  // The group of a symbol parameter of a function depends on its calls.
  auto function = op->getParentOfType<FuncOp>();
  const bool isTaken = function && llvm::any_of(function.getTakenSymbols(),
                                                [&](const auto &each) {
                                                  return each.first == name;
                                                });
  RankedTensorType state = denseSymbolType(op, symbols, name);
  if (!state ||
      (!isTaken && !groupOf(symbols.lookupNearestSymbolFrom(op, name))))
    return op->emitOpError()
           << "accumulates into " << name
           << ", which is not an nn.param of a group; the group's rule says "
              "what becomes of the sums, such as rule(@moving_average) ("
           << constraint << ")";
  if (RuleOp rule = isTaken ? RuleOp() : ruleOf(op, symbols, name);
      rule && rule.getPurpose() != RulePurpose::states)
    return op->emitOpError()
           << "accumulates into " << name << ", whose group's rule "
           << FlatSymbolRefAttr::get(rule)
           << " is not `of states` and would take the mean for a gradient; "
              "give it a group with a rule of states, such as "
              "rule(@moving_average) ("
           << constraint << ")";
  if (state == type)
    return success();
  return op->emitOpError() << "accumulates into " << name << " of type "
                           << state << "; expected " << type
                           << castRemedy(state, type) << " (" << constraint
                           << ")";
}

LogicalResult AccumulateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto values = tensorOf(getValues());
  return verifyState(*this, symbols, getStateAttr(),
                     RankedTensorType::get(values.getShape().drop_front(),
                                           values.getElementType()),
                     "C1");
}

LogicalResult CountOp::verify() {
  if (getValues().empty() || getValues().size() != getNames().size())
    return emitOpError("counts nothing; give each count of the rule a value, "
                       "such as show(%one) (C4)");
  SmallVector<int64_t> shape = idShape(getIds().getType());
  if (shape.size() != 2 || !ShapedType::isDynamic(shape[0]))
    return emitOpError() << "counts ids " << getIds().getType()
                         << "; expected bags, or [b, s] with b the batch (C2)";
  for (Value value : getValues())
    if (value.getType() != getValues().front().getType() ||
        !isColumn(value.getType()))
      return emitOpError() << "adds " << value.getType()
                           << "; expected [b, 1], with b the batch (C2)";
  return success();
}

LogicalResult CountOp::verifySymbolUses(SymbolTableCollection &symbols) {
  RankedTensorType row = rowSymbolType(*this, symbols, getTableAttr());
  if (!row)
    return emitOpError() << "counts rows of " << getTableAttr()
                         << ", which is not an nn.table (C1)"
                         << meantSymbol<TableOp>(*this, getTableAttr());
  if (getElementTypeOrSelf(getValues().front()) != row.getElementType())
    return emitOpError() << "adds " << getValues().front().getType()
                         << " to rows of " << row.getElementType()
                         << "; nn.cast makes one of the other (C2)";
  return success();
}

/// Returns the type of a state with one element per feature of `input`.
static RankedTensorType featureType(Value input) {
  auto type = tensorOf(input);
  return RankedTensorType::get({type.getShape().back()}, type.getElementType());
}

LogicalResult BatchNormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr state : {getMeanAttr(), getVarianceAttr()})
    if (failed(
            verifyState(*this, symbols, state, featureType(getInput()), "C2")))
      return failure();
  return success();
}

LogicalResult DataNormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr state :
       {getSizeAttr(), getSumAttr(), getSquareSumAttr()})
    if (failed(
            verifyState(*this, symbols, state, featureType(getInput()), "C2")))
      return failure();
  return success();
}

LogicalResult MinimizeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getGroups().getAsRange<FlatSymbolRefAttr>()) {
    auto group = symbols.lookupNearestSymbolFrom<GroupOp>(*this, name);
    if (!group)
      return emitOpError() << "trains " << name
                           << ", which is not an nn.group (C2)"
                           << meantSymbol<GroupOp>(*this, name);
    auto rule = dyn_cast_or_null<RuleOp>(
        symbols.lookupNearestSymbolFrom(group, group.getRuleAttr()));
    if (rule && rule.getPurpose() == RulePurpose::states)
      return emitOpError()
             << "trains " << name << ", whose rule " << group.getRuleAttr()
             << " is `of states`, which nn.accumulate writes; give what is "
                "trained a group with a rule of gradients, such as @adam (C2)";
  }
  return success();
}
