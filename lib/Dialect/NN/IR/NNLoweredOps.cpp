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

static RankedTensorType rowsOf(RankedTensorType row) {
  return RankedTensorType::get({ShapedType::kDynamic, row.getDimSize(0)},
                               row.getElementType());
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

//===----------------------------------------------------------------------===//
// Pools and crosses
//===----------------------------------------------------------------------===//

static Value splitsOf(ValueRange splits, ArrayRef<bool> bagged,
                      unsigned index) {
  if (!bagged[index])
    return {};
  return splits[llvm::count(bagged.take_front(index), true)];
}

/// (C1) of nn.pool and nn.pool_gradient.
template <typename OpT> static LogicalResult verifyInputs(OpT op) {
  size_t inputs = op.getIds().size();
  if (inputs == 0 || op.getPoolings().size() != inputs ||
      op.getBagged().size() != inputs)
    return op.emitOpError("needs one pooling and one `bagged` entry for each "
                          "input (C1)");
  if (static_cast<size_t>(llvm::count(op.getBagged(), true)) !=
      op.getSplits().size())
    return op.emitOpError("needs splits exactly for its bagged inputs (C1)");
  return success();
}

/// (C3) of nn.pool and nn.pool_gradient: what names a row belongs to the list
/// of keys that rows are in.
template <typename OpT> static LogicalResult verifyUnique(OpT op) {
  auto unique = op.getInverse().template getDefiningOp<UniqueOp>();
  if (unique && op.getInverse() == unique.getInverse() &&
      op.getKeySplits() == unique.getKeySplits() &&
      op.getOccurrences() == unique.getOccurrences() &&
      llvm::equal(op.getIds(), unique.getIds()))
    return success();
  return op.emitOpError("needs inverse, key splits, occurrences and ids of one "
                        "nn.unique, in this order (C3)");
}

Value PoolOp::getSplitsOf(unsigned index) {
  return splitsOf(getSplits(), getBagged(), index);
}

LogicalResult PoolOp::verify() {
  if (failed(verifyInputs(*this)))
    return failure();
  if (getPooled().size() != getIds().size())
    return emitOpError("needs one result for each input (C1)");
  if (tensorOf(getRows()).getRank() != 2)
    return emitOpError("pools rows of rank 2 (C2)");
  for (Value pooled : getPooled())
    if (pooled.getType() != getRows().getType())
      return emitOpError() << "pools " << getRows().getType() << " to "
                           << pooled.getType() << " (C2)";
  if (failed(verifyUnique(*this)))
    return failure();
  auto pull = getRows().getDefiningOp<PullOp>();
  if (pull && pull.getKeys().getDefiningOp() != getInverse().getDefiningOp()) {
    InFlightDiagnostic diagnostic = emitOpError(
        "pools rows of other keys than those of its nn.unique (C3)");
    diagnostic.attachNote(pull.getLoc()) << "they are pulled here";
    return diagnostic;
  }
  return success();
}

Value PoolGradientOp::getSplitsOf(unsigned index) {
  return splitsOf(getSplits(), getBagged(), index);
}

LogicalResult PoolGradientOp::verify() {
  if (failed(verifyInputs(*this)))
    return failure();
  if (getPresent().size() != getIds().size() ||
      static_cast<size_t>(llvm::count(getPresent(), true)) !=
          getCotangents().size())
    return emitOpError("needs a cotangent for each input that is present (C1)");
  auto rows = cast<RankedTensorType>(getGradient().getType());
  if (rows.getRank() != 2 || !rows.isDynamicDim(0) || rows.isDynamicDim(1))
    return emitOpError() << "gives " << rows
                         << "; expected one row of a known width for each key, "
                            "whose number is not known (C2)";
  for (Value cotangent : getCotangents())
    if (cotangent.getType() != getGradient().getType())
      return emitOpError() << "turns a cotangent " << cotangent.getType()
                           << " into rows " << getGradient().getType()
                           << " (C2)";
  return verifyUnique(*this);
}

LogicalResult CrossBagsOp::verify() {
  if (getIds().empty() || getIds().size() != getSplits().size())
    return emitOpError("needs as many splits as ids, at least one (C1)");
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The type of op(lhs) * op(rhs), null where the operands do not fit.
static RankedTensorType productType(RankedTensorType lhs, bool transposeLhs,
                                    RankedTensorType rhs, bool transposeRhs) {
  if (lhs.getRank() != 2 || rhs.getRank() != 2 ||
      lhs.getElementType() != rhs.getElementType() ||
      lhs.getDimSize(transposeLhs ? 0 : 1) !=
          rhs.getDimSize(transposeRhs ? 1 : 0))
    return {};
  return RankedTensorType::get({lhs.getDimSize(transposeLhs ? 1 : 0),
                                rhs.getDimSize(transposeRhs ? 0 : 1)},
                               lhs.getElementType());
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = tensorOf(adaptor.getLhs()), rhs = tensorOf(adaptor.getRhs());
  RankedTensorType type = productType(lhs, adaptor.getTransposeLhs(), rhs,
                                      adaptor.getTransposeRhs());
  if (!type)
    return emitOptionalError(location, "'nn.matmul' op cannot multiply ", lhs,
                             " by ", rhs, " (C1)");
  types.push_back(type);
  return success();
}

LogicalResult GemmOp::verify() {
  RankedTensorType type = productType(tensorOf(getLhs()), getTransposeLhs(),
                                      tensorOf(getRhs()), getTransposeRhs());
  if (type != getResult().getType())
    return emitOpError() << "cannot multiply " << getLhs().getType() << " by "
                         << getRhs().getType() << " to "
                         << getResult().getType() << " (C1)";
  unsigned bias = 0, relu = 0, mask = 0;
  for (auto post : getPosts().getAsRange<PostOpAttr>()) {
    bias += post.getValue() == PostOp::bias;
    relu += post.getValue() == PostOp::relu;
    mask += post.getValue() == PostOp::relu_gradient;
  }
  if (bias > 1 || relu > 1 || mask > 1)
    return emitOpError("lists a post-op twice (C2)");
  if (bias != (getBias() ? 1 : 0) || mask != (getMask() ? 1 : 0))
    return emitOpError("needs `bias` and `mask` exactly if bias and "
                       "relu_gradient are listed (C2)");
  if (getBias() &&
      getBias().getType() !=
          RankedTensorType::get({type.getDimSize(1)}, type.getElementType()))
    return emitOpError() << "adds a bias " << getBias().getType() << " to "
                         << type << " (C2)";
  if (getMask() && getMask().getType() != type)
    return emitOpError() << "masks " << type << " with " << getMask().getType()
                         << " (C2)";
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

LogicalResult ApplyGradientsOp::verify() {
  if (getSymbols().size() != getGradients().size() ||
      getKeys().size() > getGradients().size())
    return emitOpError("needs as many symbols as gradients (C1)");
  return success();
}

LogicalResult
ApplyGradientsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto group : getGroups().getAsRange<FlatSymbolRefAttr>())
    if (!symbols.lookupNearestSymbolFrom<GroupOp>(*this, group))
      return emitOpError() << "trains " << group
                           << ", which is not an nn.group (C2)";
  size_t tables = 0;
  for (auto name : getSymbols().getAsRange<FlatSymbolRefAttr>()) {
    Operation *symbol = symbols.lookupNearestSymbolFrom(*this, name);
    if (!llvm::is_contained(getGroups(), groupOf(symbol)))
      return emitOpError() << "updates " << name
                           << ", which is in none of its groups (C2)";
    tables += isa<TableOp>(symbol);
  }
  if (tables != getKeys().size())
    return emitOpError("needs keys exactly for its tables (C1)");
  return success();
}

LogicalResult LossSumOp::verify() {
  auto type = tensorOf(getLosses());
  if (type.getRank() != 2 || type.getDimSize(1) != 1 ||
      (getWeights() && getWeights().getType() != type))
    return emitOpError("needs losses, and weights of the same type, of shape "
                       "[b, 1] (C1)");
  return success();
}

LogicalResult SquaredNormOp::verify() {
  if (getSymbols().size() != getGradients().size() ||
      getKeys().size() > getGradients().size())
    return emitOpError("needs as many symbols as gradients (C1)");
  return success();
}

LogicalResult SquaredNormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  size_t tables = 0;
  for (auto name : getSymbols().getAsRange<FlatSymbolRefAttr>()) {
    Operation *symbol = symbols.lookupNearestSymbolFrom(*this, name);
    if (!isa_and_nonnull<ParamOp, TableOp>(symbol))
      return emitOpError() << "names " << name
                           << ", which is neither nn.param nor nn.table (C1)";
    tables += isa<TableOp>(symbol);
  }
  if (tables != getKeys().size())
    return emitOpError("needs keys exactly for its tables (C1)");
  return success();
}

LogicalResult OnceOp::verifyRegions() {
  Type f64 = Float64Type::get(getContext());
  auto yielded =
      verifyScalarRegion(*this, getBody(), "body", SmallVector<Type>(3, f64));
  if (failed(yielded))
    return failure();
  if (*yielded != SmallVector<Type>(getScalars().size(), f64))
    return emitOpError() << "yields " << yielded->size() << " values for "
                         << getScalars().size() << " scalars, all f64 (C2)";
  if (yielded->empty() || getBody().front().getTerminator()->getOperand(0) !=
                              getBody().getArgument(1))
    return emitOpError("yields something else than the weight first (C2)");
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
  // value, gradient, slots, scalars -> value, slots
  int64_t slots = static_cast<int64_t>(getEach().front().getNumArguments()) -
                  2 - static_cast<int64_t>(getScalars().size());
  if (slots < 0 || *yielded != SmallVector<Type>(1 + slots, element))
    return emitOpError() << "yields " << yielded->size()
                         << " values; expected the new value and "
                         << std::max<int64_t>(slots, 0) << " slots, all "
                         << element << " (C3)";
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
  Type expected = param ? param.getType() : rowsOf(table.getRowType());
  if (getGradient().getType() != expected)
    return emitOpError() << "updates " << getSymbolAttr() << " with "
                         << getGradient().getType() << "; expected " << expected
                         << " (C2)";
  return success();
}
