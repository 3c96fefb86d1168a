//===- NNLookupOps.cpp - Ops that read named state ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeadingDimensions.h"
#include "VerifierUtils.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pdlc::nn;

LogicalResult LookupOp::verify() {
  SmallVector<int64_t> shape = idShape(getIds().getType());
  auto result = tensorOf(getResult());
  if (getWeights()) {
    auto expected = RankedTensorType::get({ShapedType::kDynamic, 1},
                                          result.getElementType());
    if (!isa<RaggedType>(getIds().getType()) || !getPooling())
      return emitOpError("has weights, which are for pooled bags; nn.mul takes "
                         "those of single rows (C5)");
    if (getWeights().getType() != expected)
      return emitOpError() << "has weights " << getWeights().getType()
                           << "; expected one number for each id, " << expected
                           << castRemedy(getWeights().getType(), expected)
                           << " (C5)";
  }
  if (!getPooling()) {
    if (!isa<RaggedType>(getIds().getType()))
      return emitOpError() << "pools nothing of " << getIds().getType()
                           << ", which has no bags; pool(sum) gives a row for "
                              "each id (C2)";
    if (result.getRank() != 2 || !result.isDynamicDim(0))
      return emitOpError() << "gives " << result
                           << "; bags without pooling give [ids, width] (C2)";
    return success();
  }
  if (shape.size() != 2 || !ShapedType::isDynamic(shape[0]) ||
      result.getRank() != 3 ||
      result.getShape().take_front(2) != ArrayRef<int64_t>(shape))
    return emitOpError() << "looks up " << getIds().getType() << " and gives "
                         << result
                         << "; ids [b, s], with b the batch, give "
                            "[b, s, width] (C2)";
  return success();
}

/// There is one weight per id.
Value LookupOp::getRowsOfOperand(OpOperand &operand) {
  return operand.get() == getWeights() ? getIds() : Value();
}

bool LookupOp::leadsToOtherRows() {
  return isa<RaggedType>(getIds().getType());
}

Value LookupOp::getRowsOfResult() { return getPooling() ? Value() : getIds(); }

LogicalResult LookupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  RankedTensorType row = rowSymbolType(*this, symbols, getTableAttr());
  if (!row)
    return emitOpError() << "looks up in " << getTableAttr()
                         << ", which is not an nn.table (C1)"
                         << meantSymbol<TableOp>(*this, getTableAttr());
  auto result = tensorOf(getResult());
  if (result.getShape().back() != row.getNumElements() ||
      result.getElementType() != row.getElementType())
    return emitOpError() << "gives " << result << ", but a row of "
                         << getTableAttr() << " is " << row << " (C2)";
  return success();
}

Value pdlc::nn::createActivation(OpBuilder &builder, Location loc,
                                 StringRef activation, Value input) {
  std::string name =
      (NNDialect::getDialectNamespace() + "." + activation).str();
  OperationState state(loc, name, input, input.getType(), {});
  return builder.create(state)->getResult(0);
}

/// Returns true if an op may be used in `act(...)`.
static bool isActivation(RegisteredOperationName name) {
  return name.hasInterface<pdlc::ElementwiseOpInterface>() &&
         name.hasTrait<OpTrait::OneOperand>() &&
         name.getAttributeNames().empty();
}

LogicalResult LinearOp::verify() {
  auto input = tensorOf(getInput()), result = tensorOf(getResult());
  if (input.getRank() < 2 || result.getRank() != input.getRank() ||
      input.getShape().drop_back() != result.getShape().drop_back() ||
      input.isDynamicDim(input.getRank() - 1) ||
      result.isDynamicDim(result.getRank() - 1))
    return emitOpError() << "maps " << input << " to " << result
                         << "; expected [b, ..., in] to [b, ..., out] (C1)";
  std::optional<StringRef> activation = getActivation();
  if (!activation)
    return success();
  SmallVector<StringRef> names;
  for (RegisteredOperationName known :
       getContext()->getRegisteredOperations()) {
    if (known.getDialectNamespace() != NNDialect::getDialectNamespace() ||
        !isActivation(known))
      continue;
    if (known.stripDialect() == *activation)
      return success();
    names.push_back(known.stripDialect());
  }
  llvm::sort(names);
  return emitOpError() << "has activation '" << *activation
                       << "'; expected none, " << llvm::join(names, ", ")
                       << " (C2)";
}

Type pdlc::nn::stateSymbolType(Operation *user, SymbolTableCollection &symbols,
                               FlatSymbolRefAttr symbol) {
  if (auto function = user->getParentOfType<FuncOp>())
    for (auto [taken, type] : function.getTakenSymbols())
      if (taken == symbol)
        return type;
  Operation *op = symbols.lookupNearestSymbolFrom(user, symbol);
  if (auto param = dyn_cast_or_null<ParamOp>(op))
    return param.getType();
  if (auto state = dyn_cast_or_null<StateOp>(op))
    return state.getType();
  if (auto table = dyn_cast_or_null<TableOp>(op))
    return FunctionType::get(user->getContext(), table.getKey(),
                             table.getRow());
  return {};
}

RankedTensorType pdlc::nn::denseSymbolType(Operation *user,
                                           SymbolTableCollection &symbols,
                                           FlatSymbolRefAttr symbol) {
  return dyn_cast_or_null<RankedTensorType>(
      stateSymbolType(user, symbols, symbol));
}

RankedTensorType pdlc::nn::rowSymbolType(Operation *user,
                                         SymbolTableCollection &symbols,
                                         FlatSymbolRefAttr symbol) {
  auto type =
      dyn_cast_or_null<FunctionType>(stateSymbolType(user, symbols, symbol));
  return type ? dyn_cast<RankedTensorType>(type.getResult(0))
              : RankedTensorType();
}

LogicalResult LinearOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto input = tensorOf(getInput()), result = tensorOf(getResult());
  RankedTensorType weight = denseSymbolType(*this, symbols, getWeightAttr());
  if (!weight)
    return emitOpError() << "names " << getWeightAttr()
                         << ", which is neither nn.param nor nn.state (C1)";
  auto expected =
      RankedTensorType::get({input.getShape().back(), result.getShape().back()},
                            input.getElementType());
  if (weight != expected || result.getElementType() != input.getElementType())
    return emitOpError() << "maps " << input << " to " << result << " with "
                         << getWeightAttr() << " of type " << weight
                         << "; expected " << expected
                         << castRemedy(weight, expected) << " (C1)";
  if (!getBiasAttr())
    return success();
  RankedTensorType bias = denseSymbolType(*this, symbols, getBiasAttr());
  if (!bias)
    return emitOpError() << "names " << getBiasAttr()
                         << ", which is neither nn.param nor nn.state (C1)";
  auto expectedBias =
      RankedTensorType::get({result.getShape().back()}, input.getElementType());
  if (bias != expectedBias)
    return emitOpError() << "adds bias " << getBiasAttr() << " of type " << bias
                         << "; expected " << expectedBias
                         << castRemedy(bias, expectedBias) << " (C1)";
  return success();
}

Value LinearOp::spellOut(ImplicitLocOpBuilder &builder) {
  auto input = tensorOf(getInput()), result = tensorOf(getResult());
  Type element = input.getElementType();
  const int64_t in = input.getShape().back(), out = result.getShape().back();
  // Add the bias and apply the activation directly after the matrix product, so
  // that `nn-fuse-gemm` can make them post-ops of it.
  Value value = joinLeadingDimensions(builder, getInput(), /*kept=*/1);
  Value weight = ReadOp::create(
      builder, RankedTensorType::get({in, out}, element), getWeightAttr());
  Value bias;
  if (getBiasAttr())
    bias = ReadOp::create(builder, RankedTensorType::get({out}, element),
                          getBiasAttr());
  value = MatmulOp::create(builder, value, weight);
  if (bias)
    value = AddOp::create(builder, value, bias);
  if (std::optional<StringRef> activation = getActivation())
    value = createActivation(builder, getLoc(), *activation, value);
  if (value.getType() != result)
    value = ReshapeOp::create(builder, result, value);
  return value;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  RankedTensorType type = denseSymbolType(*this, symbols, getSymbolAttr());
  if (!type)
    return emitOpError() << "reads " << getSymbolAttr()
                         << ", which is neither nn.param nor nn.state (C1)";
  if (type != getResult().getType())
    return emitOpError() << "reads " << getSymbolAttr() << " of type " << type
                         << " as " << getResult().getType() << " (C1)";
  return success();
}
