//===- NNTableOp.cpp - Tables, feature admission and eviction -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateChecks.h"
#include "VerifierUtils.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"

#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static LogicalResult verifyScore(TableOp table) {
  std::optional<APFloat> decay = table.getShrinkDecay(),
                         least = table.getShrinkLeast();
  if (decay && !(decay->convertToDouble() > 0 && decay->convertToDouble() <= 1))
    return table.emitOpError()
           << "multiplies scores by " << decay->convertToDouble()
           << "; expected a number above 0, at most 1 (C7)";
  if (least && !least->isFinite())
    return table.emitOpError()
           << "takes rows whose score is below " << least->convertToDouble()
           << "; expected a finite number (C7)";
  if ((decay || least) && !table.getShrinkEvery())
    return table.emitOpError(
        "has shrink_decay or shrink_least, and no shrink_every (C7)");
  if (static_cast<bool>(table.getScoreAttr()) !=
      (decay || least || table.getAdmitScore() || table.getWidenScore()))
    return table.emitOpError(
        "needs a score exactly if it shrinks with decay or least, or admits or "
        "widens by one; write score(show = 0.1, click = 0.9) next to clauses "
        "such as "
        "shrink(every = 1000, unseen = 7, least = 0.5), admit(score = 1.0) or "
        "widen(from = 1, score = 2.0), or leave all of them out (C8)");
  if (DictionaryAttr score = table.getScoreAttr(); score && score.empty())
    return table.emitOpError("has a score of no slots; name some, such as "
                             "score(show = 0.1, click = 0.9) (C8)");
  DictionaryAttr score = table.getScoreAttr();
  if (!score)
    return success();
  bool isSome = false;
  for (NamedAttribute weight : score) {
    auto number = dyn_cast<FloatAttr>(weight.getValue());
    if (!number || !number.getValue().isFinite())
      return table.emitOpError()
             << "has a score with " << weight.getName().getValue() << " = "
             << weight.getValue() << "; weights are finite numbers (C8)";
    isSome |= number.getValue().isNonZero();
  }
  if (!isSome)
    return table.emitOpError(
        "has a score whose weights are all 0, so that every key scores 0; "
        "give one that counts, such as score(show = 0.1, click = 0.9) (C8)");
  return success();
}

/// Verifies feature admission and eviction of a table.
static LogicalResult verifyLife(TableOp table) {
  // The record of a key without a row has 14 bits for its count.
  constexpr int64_t maxCount = (1 << 14) - 1, maxPeriods = 1 << 14;
  if (table.hasLife() && !table.getGroupAttr())
    return table.emitOpError(
        "admits or shrinks, and is in no group, so that nothing trains it; "
        "give it one, or leave that out (C6)");
  if (table.getAdmitCount().has_value() +
          table.getAdmitProbability().has_value() +
          table.getAdmitScore().has_value() >
      1)
    return table.emitOpError(
        "admits keys by more than one of a count, a probability and a score; "
        "expected one of them (C6)");
  if (std::optional<uint64_t> count = table.getAdmitCount();
      count && (static_cast<int64_t>(*count) < 1 ||
                static_cast<int64_t>(*count) > maxCount))
    return table.emitOpError()
           << "admits keys by a count of " << static_cast<int64_t>(*count)
           << "; expected 1 to " << maxCount << " (C6)";
  if (std::optional<APFloat> probability = table.getAdmitProbability()) {
    const double value = probability->convertToDouble();
    if (!(value > 0 && value <= 1))
      return table.emitOpError()
             << "admits keys by a probability of " << value
             << "; expected a number above 0, at most 1 (C6)";
  }
  if (std::optional<APFloat> score = table.getAdmitScore();
      score && !(score->isFinite() && score->convertToDouble() > 0))
    return table.emitOpError()
           << "admits keys by a score of " << score->convertToDouble()
           << "; expected a finite number above 0 (C6)";
  if (table.getShrinkEvery().has_value() != table.getShrinkUnseen().has_value())
    return table.emitOpError(
        "needs both shrink_every and shrink_unseen, or none (C7)");
  if (failed(verifyScore(table)))
    return failure();
  if (!table.getShrinkEvery())
    return success();
  const auto every = static_cast<int64_t>(*table.getShrinkEvery());
  const auto unseen = static_cast<int64_t>(*table.getShrinkUnseen());
  if (every < 1)
    return table.emitOpError()
           << "shrinks every " << every << " updates; expected at least 1 (C7)";
  if (unseen < 1 || unseen > maxPeriods)
    return table.emitOpError()
           << "takes rows that are unseen for " << unseen
           << " periods; expected 1 to " << maxPeriods << " (C7)";
  return success();
}

/// Verifies the initial values of rows.
static LogicalResult verifyRows(TableOp table, Attribute init,
                                ArrayRef<int64_t> shape) {
  // A row of n elements counts as a matrix [1, n].
  if (failed(verifyInitializer(table, init, shape, 2)))
    return failure();
  std::optional<Storage> stored = table.getStored();
  if (!stored)
    return success();
  const llvm::fltSemantics &format =
      *stored == Storage::bf16 ? APFloat::BFloat() : APFloat::IEEEhalf();
  for (double number : extremesOf(cast<InitializerAttrInterface>(init), shape))
    if (!convertFloat(APFloat(number), format).isFinite())
      return table.emitOpError()
             << "uses " << init << ", which gives numbers beyond "
             << stringifyStorage(*stored)
             << ", in which its rows are stored (C5)";
  return success();
}

/// Verifies when rows get their deferred columns.
static LogicalResult verifyWidening(TableOp table) {
  if (table.getWidenFrom().has_value() != table.getWidenScore().has_value() ||
      (table.getWidenInitAttr() && !table.widens()))
    return table.emitOpError(
        "needs both widen_from and widen_score, or none, and widen_init only "
        "with them (C9)");
  if (!table.widens())
    return success();
  const auto from = static_cast<int64_t>(*table.getWidenFrom());
  if (from < 1 || from >= table.getWidth())
    return table.emitOpError()
           << "widens from column " << from << " of " << table.getWidth()
           << "; expected 1 to " << table.getWidth() - 1
           << ", so that weight and vector have columns (C9)";
  const double score = table.getWidenScore()->convertToDouble();
  if (!(std::isfinite(score) && score > 0))
    return table.emitOpError() << "widens by a score of " << score
                               << "; expected a finite number above 0 (C9)";
  if (!table.getGroupAttr())
    return table.emitOpError(
        "widens, and is in no group, so that nothing trains it; give it one, "
        "or leave `widen` out (C9)");
  if (table.getAdmitProbability())
    return table.emitOpError(
        "widens, and admits keys by probability: most vectors would stand "
        "without a weight; admit by count or score, or leave one of the two "
        "out (C9)");
  if (std::optional<APFloat> admitted = table.getAdmitScore();
      admitted && admitted->convertToDouble() > score)
    return table.emitOpError()
           << "admits keys by a score of " << admitted->convertToDouble()
           << " and widens by " << score
           << ": vectors would come before weights; let it widen by at least "
              "what admits (C9)";
  if (table.getShrinkLeast())
    for (NamedAttribute weight : table.getScoreAttr())
      if (cast<FloatAttr>(weight.getValue()).getValueAsDouble() < 0)
        return table.emitOpError()
               << "widens, and takes rows by a score with "
               << weight.getName().getValue() << " = " << weight.getValue()
               << ": vectors could stay when their weights go; take weights of "
                  "at least 0, or leave `least` out (C9)";
  return verifyRows(table, table.getVectorInit(),
                    table.getVectorType().getShape());
}

LogicalResult TableOp::verify() {
  if (!getKey().isInteger(64))
    return emitOpError() << "has keys of type " << getKey()
                         << "; the key type is i64 (C1)";
  auto row = dyn_cast<RankedTensorType>(getRow());
  if (!row || row.getRank() != 1)
    return emitOpError() << "has rows of type " << getRow()
                         << "; a row is a static float tensor of rank 1 (C1)";
  if (failed(verifyDenseType(*this, row)) ||
      failed(verifyStateName(*this, getSymName())))
    return failure();
  if (row.getDimSize(0) > kMaxWidth)
    return emitOpError() << "has rows of " << row.getDimSize(0)
                         << " elements; a row has at most " << kMaxWidth
                         << " (C1)";
  if (failed(verifyLife(*this)) || failed(verifyWidening(*this)))
    return failure();
  if (getStored() && !row.getElementType().isF32())
    return emitOpError() << "stores rows of " << row.getElementType() << " in "
                         << stringifyStorage(*getStored())
                         << "; rows that are stored in 16 bits are of f32 (C5)";
  return verifyRows(*this, getInit(),
                    (widens() ? getWeightType() : row).getShape());
}

RankedTensorType TableOp::getWeightType() {
  return RankedTensorType::get({static_cast<int64_t>(*getWidenFrom())},
                               getRowType().getElementType());
}

RankedTensorType TableOp::getVectorType() {
  return RankedTensorType::get(
      {getWidth() - static_cast<int64_t>(*getWidenFrom())},
      getRowType().getElementType());
}

ArrayRef<StringLiteral> TableOp::getNamesOfGroup() {
  static constexpr StringLiteral names[] = {
      "group",        "admit_count",  "admit_probability",
      "admit_score",  "shrink_every", "shrink_unseen",
      "shrink_decay", "shrink_least", "score"};
  return names;
}

void TableOp::forgetGroup() {
  for (StringLiteral name : getNamesOfGroup())
    (*this)->removeAttr(name);
}

LogicalResult TableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (widens())
    if (Operation *other = symbols.lookupNearestSymbolFrom(
            *this, StringAttr::get(getContext(), getVectorName()))) {
      InFlightDiagnostic diagnostic =
          emitOpError() << "widens to a vector that is called @"
                        << getVectorName()
                        << ", as another symbol is; rename that (C10)";
      diagnostic.attachNote(other->getLoc()) << "the other one is here";
      return diagnostic;
    }
  FlatSymbolRefAttr group = getGroupAttr();
  if (!group || symbols.lookupNearestSymbolFrom<GroupOp>(*this, group))
    return success();
  return emitOpError() << "names " << group << ", which is not an nn.group (C2)"
                       << meantSymbol<GroupOp>(*this, group);
}
