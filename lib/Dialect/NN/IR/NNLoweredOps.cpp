//===- NNLoweredOps.cpp - Ops of the phases after model -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarRegion.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

/// Returns the type of some rows of a table, with `counts` extra columns each.
static RankedTensorType rowsOf(RankedTensorType row, int64_t counts = 0) {
  return RankedTensorType::get(
      {ShapedType::kDynamic, row.getDimSize(0) + counts}, row.getElementType());
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

LogicalResult UniqueOp::verify() {
  if (getIds().empty())
    return emitOpError("needs ids to deduplicate (C1)");
  return success();
}

LogicalResult PullOp::verify() {
  if (!getKeys().getDefiningOp<UniqueOp>())
    return emitOpError("pulls keys that nn.unique did not make (C2)");
  return success();
}

LogicalResult PullOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto table = symbols.lookupNearestSymbolFrom<TableOp>(*this, getTableAttr());
  if (!table)
    return emitOpError() << "pulls from " << getTableAttr()
                         << ", which is not an nn.table (C1)";
  if (getRows().getType() != rowsOf(table.getRowType()))
    return emitOpError() << "pulls " << getRows().getType() << " from "
                         << getTableAttr() << ", whose rows are "
                         << table.getRow() << " (C1)";
  return success();
}

//===----------------------------------------------------------------------===//
// Fingerprints
//===----------------------------------------------------------------------===//

LogicalResult FingerprintOp::verify() {
  auto module = cast<ModuleOp>((*this)->getParentOp());
  if (*module.getOps<FingerprintOp>().begin() != *this)
    return emitOpError("is a second one in this module (C2)");
  for (DictionaryAttr parts : {getState(), getOptimizer(), getTraining()})
    for (NamedAttribute part : parts)
      if (!isa<StringAttr>(part.getValue()))
        return emitOpError()
               << "has part " << part.getName() << " with value "
               << part.getValue() << ", which is not a string (C1)";
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *context,
                                      std::optional<Location> location,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis) ||
      static_cast<int64_t>(adaptor.getLow()) < 0 ||
      static_cast<int64_t>(adaptor.getHigh()) < 0 ||
      static_cast<int64_t>(adaptor.getLow()) > kMaxElements ||
      static_cast<int64_t>(adaptor.getHigh()) > kMaxElements)
    return emitOptionalError(location, "'nn.pad' op cannot pad axis ", axis,
                             " of ", type, " (C1)");
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] += adaptor.getLow() + adaptor.getHigh();
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

LogicalResult LossSumOp::verify() {
  auto type = tensorOf(getLosses());
  if (type.getRank() != 2 || type.getDimSize(1) != 1 ||
      (getWeights() && getWeights().getType() != type))
    return emitOpError("needs losses, and weights of the same type, of shape "
                       "[b, 1] (C1)");
  return success();
}

LogicalResult OnceOp::verifyRegions() {
  Type f64 = Float64Type::get(getContext());
  // Arguments: step, weight and squared norm; optionally the number of workers.
  const size_t arguments =
      !getBody().empty() && getBody().getNumArguments() == 4 ? 4 : 3;
  auto yielded = verifyScalarRegion(*this, getBody(), "body",
                                    SmallVector<Type>(arguments, f64));
  if (failed(yielded))
    return failure();
  if (*yielded != SmallVector<Type>(getScalars().size(), f64) ||
      getNames().size() != getScalars().size())
    return emitOpError() << "yields " << yielded->size() << " values for "
                         << getScalars().size() << " scalars of "
                         << getNames().size() << " names, all f64 (C2)";
  auto count = [&](ScalarRole role) {
    return llvm::count_if(
        getNames().getAsRange<ScalarAttr>(),
        [&](ScalarAttr name) { return name.getRole() == role; });
  };
  if (count(ScalarRole::weight) != 1)
    return emitOpError("needs one scalar `weight` (C4)");
  if (count(ScalarRole::clip_factor) != (getNorm() ? 1 : 0))
    return emitOpError(
        "needs one scalar `clip_factor` exactly if it has a `norm` (C4)");
  auto weight = cast<OpResult>(getWeightScalar()).getResultNumber();
  if (getBody().front().getTerminator()->getOperand(weight) !=
      getWeightArgument())
    return emitOpError(
        "yields something else than the weight as scalar `weight` (C4)");
  return success();
}

LogicalResult OnceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto group = symbols.lookupNearestSymbolFrom<GroupOp>(*this, getGroupAttr());
  if (!group)
    return emitOpError() << "names " << getGroupAttr()
                         << ", which is not an nn.group (C1)";
  if (static_cast<bool>(group.getClipAttr()) != static_cast<bool>(getNorm()))
    return emitOpError() << "needs `norm` exactly if " << getGroupAttr()
                         << " has a clip (C1)";
  if (group.getRateOver().has_value() != (getSendersArgument() != nullptr))
    return emitOpError() << "takes the number of workers exactly if the rate "
                            "of "
                         << getGroupAttr() << " is divided by it (C2)";
  return success();
}

/// Verifies the regions `sum` and `row` of an update, as far as this is
/// possible without `each`. Returns the number of values that `row` passes to
/// `each`.
static FailureOr<int64_t> verifyRowRegions(UpdateOp update, Type element) {
  if (update.getSum().empty() != update.getRow().empty())
    return update.emitOpError("needs both regions 'sum' and 'row', or none "
                              "(C5)");
  if (update.getWhole() && update.getKeys())
    return update.emitOpError("reduces over a whole parameter, and has keys of "
                              "a table (C5)");
  if (!update.hasRow()) {
    if (update.getCounts())
      return update.emitOpError("has counts, which no region 'row' takes (C5)");
    return 0;
  }
  Type f64 = Float64Type::get(update.getContext());
  auto sums = verifyScalarRegion(
      update, update.getSum(), "sum",
      SmallVector<Type>(update.getSum().getNumArguments(), element));
  if (failed(sums))
    return failure();
  if (*sums != SmallVector<Type>(sums->size(), f64))
    return update.emitOpError("yields from 'sum' a value that is not f64 (C5)");
  const auto arguments =
      static_cast<int64_t>(update.getRow().getNumArguments());
  const auto own = static_cast<int64_t>(1 + sums->size());
  const int64_t rowSlots = arguments - own -
                           static_cast<int64_t>(update.getCounts()) -
                           static_cast<int64_t>(update.getScalars().size());
  SmallVector<Type> types(own, f64);
  types.append(std::max<int64_t>(arguments - own, 0), element);
  auto yielded = verifyScalarRegion(update, update.getRow(), "row", types);
  if (failed(yielded))
    return failure();
  const auto results = static_cast<int64_t>(yielded->size());
  if (rowSlots < 0 || results < rowSlots ||
      *yielded != SmallVector<Type>(results, element))
    return update.emitOpError()
           << "yields " << results << " values from 'row'; expected "
           << std::max<int64_t>(rowSlots, 0)
           << " row slots and what 'each' gets, all " << element << " (C5)";
  if (update.getWhole() && (rowSlots || update.getCounts()))
    return update.emitOpError(
        "has row slots or counts, and a region 'param' (C5)");
  return results - rowSlots;
}

LogicalResult CountPooledOp::verify() {
  auto values = tensorOf(getValues()), pooled = tensorOf(getPooled());
  if (values.getRank() == 2 && values.isDynamicDim(0) &&
      values.getElementType() == pooled.getElementType())
    return success();
  return emitOpError() << "adds " << values << " to rows of bags "
                       << "that are pooled as " << pooled
                       << "; expected [bags, counts] of one type (C2)";
}

LogicalResult CountPooledOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto table = symbols.lookupNearestSymbolFrom<TableOp>(*this, getTableAttr());
  if (!table)
    return emitOpError() << "counts rows of " << getTableAttr()
                         << ", which is not an nn.table (C1)";
  if (getPooled().getType() != rowsOf(table.getRowType()))
    return emitOpError() << "counts rows of bags that are pooled as "
                         << getPooled().getType() << "; those of "
                         << getTableAttr() << " are "
                         << rowsOf(table.getRowType()) << " (C2)";
  return success();
}

LogicalResult UpdateOp::verifyRegions() {
  if (getEach().empty() || getEach().front().getNumArguments() == 0)
    return emitOpError("needs a region with arguments (C3)");
  Type element = tensorOf(getGradient()).getElementType();
  auto yielded = verifyScalarRegion(
      *this, getEach(), "each",
      SmallVector<Type>(getEach().front().getNumArguments(), element));
  if (failed(yielded))
    return failure();
  const auto scalars = static_cast<int64_t>(getScalars().size());
  FailureOr<int64_t> handedOn = verifyRowRegions(*this, element);
  if (failed(handedOn))
    return failure();
  // Arguments of `each`: the value, the gradient, optionally the seen value,
  // the slots, the scalars of the group, the scalars of the row. It yields the
  // value and the slots.
  const auto inputs = static_cast<int64_t>(getNumInputs());
  int64_t slots = static_cast<int64_t>(getEach().front().getNumArguments()) -
                  inputs - scalars - *handedOn;
  if (slots < 0 || *yielded != SmallVector<Type>(1 + slots, element))
    return emitOpError() << "yields " << yielded->size()
                         << " values; expected the new value and "
                         << std::max<int64_t>(slots, 0) << " slots, all "
                         << element << " (C3)";
  if (hasRow() && getSum().getNumArguments() != inputs + slots + scalars)
    return emitOpError() << "has " << getSum().getNumArguments()
                         << " arguments in region 'sum'; expected value, "
                            "gradient, "
                         << (getSeen() ? "what was seen, " : "") << slots
                         << " slots and " << scalars << " scalars (C5)";
  return success();
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *symbol = symbols.lookupNearestSymbolFrom(*this, getSymbolAttr());
  auto param = dyn_cast_or_null<ParamOp>(symbol);
  auto table = dyn_cast_or_null<TableOp>(symbol);
  if (!param && !table)
    return emitOpError() << "updates " << getSymbolAttr()
                         << ", which is neither nn.param nor nn.table (C1)";
  if (!groupOf(symbol))
    return emitOpError() << "updates " << getSymbolAttr()
                         << ", which is in no group (C1)";
  if (static_cast<bool>(table) != static_cast<bool>(getKeys()))
    return emitOpError("needs keys exactly for a table (C1)");
  if (getAdmitting() != (table && table.getAdmitCount()))
    return emitOpError() << "updates " << getSymbolAttr() << " "
                         << (getAdmitting() ? "with" : "without")
                         << " how often its keys occurred; a table that admits "
                            "keys by count, and nothing else, is told (C2)";
  Type expected =
      param ? param.getType()
            : rowsOf(table.getRowType(),
                     static_cast<int64_t>(getCounts()) + getAdmitting());
  if (param && getCounts())
    return emitOpError("has counts, which only rows of tables have (C2)");
  if (getGradient().getType() != expected)
    return emitOpError() << "updates " << getSymbolAttr() << " with "
                         << getGradient().getType() << "; expected " << expected
                         << " (C2)";
  return success();
}
