//===- NNComputeOps.cpp - Computation in a model ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LeadingDimensions.h"
#include "NumberChecks.h"
#include "pdlabi/metrics.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace pdlc::nn;

/// Emits at `location`, if there is one.
static InFlightDiagnostic emitAt(std::optional<Location> location,
                                 MLIRContext *context, StringRef op) {
  return emitError(location ? *location : UnknownLoc::get(context))
         << "'" << op << "' op ";
}

//===----------------------------------------------------------------------===//
// Lookups and linear layers
//===----------------------------------------------------------------------===//

/// The shape [b, s] of a tensor of ids or of bags.
static SmallVector<int64_t> idShape(Type type) {
  if (auto ragged = dyn_cast<RaggedType>(type))
    return SmallVector<int64_t>(ragged.getShape());
  return SmallVector<int64_t>(cast<RankedTensorType>(type).getShape());
}

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

/// Weights belong to ids.
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
                         << ", which is not an nn.table (C1)";
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

/// Whether an op may stand in `act(...)`.
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
  // Bias and activation follow the product of matrices, so that it takes them
  // up.
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

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<int64_t>>
pdlc::nn::broadcastShapes(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> result(lhs);
  size_t offset = lhs.size() - rhs.size();
  for (size_t i = 0; i < rhs.size(); ++i) {
    int64_t &size = result[offset + i];
    if (size == rhs[i] || rhs[i] == 1)
      continue;
    if (size != 1)
      return failure();
    size = rhs[i];
  }
  return result;
}

static LogicalResult inferBroadcast(MLIRContext *context,
                                    std::optional<Location> location,
                                    ValueRange operands, StringRef name,
                                    SmallVectorImpl<Type> &types) {
  auto result = tensorOf(operands.front());
  for (Value operand : operands.drop_front()) {
    auto type = tensorOf(operand);
    auto shape = broadcastShapes(result.getShape(), type.getShape());
    if (failed(shape))
      return emitAt(location, context, name)
             << "cannot broadcast " << result << " and " << type << " (C1)";
    result = RankedTensorType::get(*shape, result.getElementType());
  }
  types.push_back(result);
  return success();
}

#define PDL_INFER_BROADCAST(OP)                                                \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *context, std::optional<Location> location, Adaptor adaptor, \
      SmallVectorImpl<Type> &types) {                                          \
    return inferBroadcast(context, location, adaptor.getOperands(),            \
                          getOperationName(), types);                          \
  }
PDL_INFER_BROADCAST(AddOp)
PDL_INFER_BROADCAST(SubOp)
PDL_INFER_BROADCAST(MulOp)
PDL_INFER_BROADCAST(DivOp)
PDL_INFER_BROADCAST(MaxOp)
PDL_INFER_BROADCAST(MinOp)
PDL_INFER_BROADCAST(EqualOp)
PDL_INFER_BROADCAST(GreaterOp)
PDL_INFER_BROADCAST(GreaterEqualOp)
PDL_INFER_BROADCAST(LessOp)
PDL_INFER_BROADCAST(LessEqualOp)
PDL_INFER_BROADCAST(NotEqualOp)
PDL_INFER_BROADCAST(SelectOp)
#undef PDL_INFER_BROADCAST

LogicalResult LeakyReluOp::verify() {
  return verifyFinite(*this, getResult(), "a slope", getSlope(), "C2");
}

LogicalResult EluOp::verify() {
  return verifyFinite(*this, getResult(), "an alpha", getAlpha(), "C2");
}

LogicalResult PowOp::verify() {
  return verifyFinite(*this, getResult(), "an exponent", getExponent(), "C2");
}

LogicalResult ClampOp::verify() {
  if (getLower().isNaN() || getUpper().isNaN())
    return emitOpError() << "has a bound that is NaN (C2)";
  if (getLower() > getUpper())
    return emitOpError() << "has a lower bound above its upper bound (C2); "
                            "give the smaller number first";
  Type element = tensorOf(getResult()).getElementType();
  const APFloat lower = roundedTo(getLower(), element),
                upper = roundedTo(getUpper(), element);
  if ((lower.isInfinity() && !lower.isNegative()) ||
      (upper.isInfinity() && upper.isNegative()))
    return emitOpError() << "has bounds that no number of " << element
                         << " is within (C2)";
  return success();
}

LogicalResult StandardiseOp::verify() {
  auto type = tensorOf(getInput());
  if (type.getRank() == 0)
    return emitOpError() << "standardises " << type
                         << ", which has no columns (C1)";
  int64_t width = type.getShape().back();
  if (ShapedType::isDynamic(width))
    return emitOpError() << "standardises " << type
                         << ", whose columns are not a static dimension (C1)";
  if (static_cast<int64_t>(getMean().size()) != width ||
      static_cast<int64_t>(getDeviation().size()) != width)
    return emitOpError() << "has " << getMean().size() << " means and "
                         << getDeviation().size() << " deviations for " << width
                         << " columns (C1)";
  for (double deviation : getDeviation())
    if (failed(verifyPositive(*this, getInput(), "a deviation",
                              APFloat(deviation), "C1")))
      return failure();
  for (double mean : getMean())
    if (failed(verifyFinite(*this, getInput(), "a mean", APFloat(mean), "C1")))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  if (adaptor.getInputs().empty())
    return emitAt(location, context, name) << "needs an operand (C1)";
  auto first = tensorOf(adaptor.getInputs().front());
  int64_t axis = adaptor.getAxis();
  if (axis <= 0 || axis >= first.getRank())
    return emitAt(location, context, name)
           << "joins along axis " << axis << " of " << first
           << "; expected 0 < axis < rank (C1)";
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs().drop_front()) {
    auto type = tensorOf(input);
    bool fits = type.getRank() == first.getRank() &&
                type.getElementType() == first.getElementType();
    for (int64_t i = 0; fits && i < first.getRank(); ++i)
      fits = i == axis || type.getDimSize(i) == first.getDimSize(i);
    if (!fits)
      return emitAt(location, context, name)
             << "cannot join " << type << " to " << first << " along axis "
             << axis << " (C2)";
    shape[axis] += type.getDimSize(axis);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType()));
  return success();
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  auto type = tensorOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis(), offset = adaptor.getOffset(),
          size = adaptor.getSize();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return emitAt(location, context, name)
           << "cuts axis " << axis << " of " << type
           << "; expected a static dimension (C1)";
  if (offset < 0 || size < 1 || offset > type.getDimSize(axis) - size)
    return emitAt(location, context, name)
           << "cuts [" << offset << ", " << offset << " + " << size
           << ") out of " << type.getDimSize(axis) << " (C2)";
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

/// Whether the elements of one type fit the other, with what is known of the
/// first dimension.
static bool canReshape(RankedTensorType from, RankedTensorType to) {
  auto staticProduct = [](RankedTensorType type) {
    int64_t product = 1;
    for (int64_t size : type.getShape())
      product *= ShapedType::isDynamic(size) ? 1 : size;
    return product;
  };
  bool dynamicFrom = from.getRank() && from.isDynamicDim(0),
       dynamicTo = to.getRank() && to.isDynamicDim(0);
  // A flat tensor of bags times anything: the first dimension may absorb or
  // release the static ones, [b, s, w] <-> [b * s, w].
  // Neither is 0 nor too large: trait BatchFirst looked.
  int64_t fromProduct = staticProduct(from), toProduct = staticProduct(to);
  return dynamicFrom == dynamicTo &&
         (dynamicFrom
              ? fromProduct % toProduct == 0 || toProduct % fromProduct == 0
              : fromProduct == toProduct);
}

LogicalResult ReshapeOp::verify() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  if (from.getElementType() != to.getElementType())
    return emitOpError("changes the element type (C1)");
  if (!canReshape(from, to))
    return emitOpError() << "cannot reshape " << from << " to " << to
                         << " (C2)";
  return success();
}

bool ReshapeOp::canTake(Value input) {
  return canReshape(tensorOf(input), tensorOf(getResult()));
}

LogicalResult FlattenOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  int64_t from = adaptor.getFrom();
  if (from <= 0 || from >= type.getRank())
    return emitAt(location, context, getOperationName())
           << "joins the dimensions of " << type << " from " << from
           << " on; expected 0 < from < rank (C1)";
  SmallVector<int64_t> shape(type.getShape().take_front(from));
  int64_t product = 1;
  for (int64_t size : type.getShape().drop_front(from))
    product *= size;
  shape.push_back(product);
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

Value FlattenOp::spellOut(ImplicitLocOpBuilder &builder) {
  return ReshapeOp::create(builder, getType(), getInput());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (sorted.empty() ||
      !llvm::equal(sorted, llvm::seq<int64_t>(type.getRank())))
    return emitAt(location, context, getOperationName())
           << "permutes " << type << " by [" << permutation
           << "]; name each of its dimensions once (C1)";
  if (type.isDynamicDim(0) && permutation.front() != 0)
    return emitAt(location, context, getOperationName())
           << "moves the batch of " << type
           << "; the first dimension stays where it is (C2)";
  SmallVector<int64_t> shape;
  for (int64_t from : permutation)
    shape.push_back(type.getDimSize(from));
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult TakeOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  auto type = tensorOf(adaptor.getInput());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return emitAt(location, context, name)
           << "takes from axis " << axis << " of " << type
           << "; expected a static dimension (C1)";
  if (adaptor.getPositions().empty())
    return emitAt(location, context, name) << "takes nothing (C2)";
  for (int64_t position : adaptor.getPositions())
    if (position < -1 || position >= type.getDimSize(axis))
      return emitAt(location, context, name)
             << "takes index " << position << " of " << type.getDimSize(axis)
             << "; -1 gives zero (C2)";
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = static_cast<int64_t>(adaptor.getPositions().size());
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  auto shape = broadcastShapes(from.getShape(), to.getShape());
  if (from.getElementType() != to.getElementType() || failed(shape) ||
      ArrayRef<int64_t>(*shape) != to.getShape())
    return emitOpError() << "cannot broadcast " << from << " to " << to
                         << " (C1)";
  if (to.getRank() && to.isDynamicDim(0)) {
    bool known = from.getRank() == to.getRank() && from.isDynamicDim(0);
    if (Value like = getLike())
      known |= tensorOf(like).getRank() && tensorOf(like).isDynamicDim(0);
    if (!known)
      return emitOpError("needs `like` to know its first dimension (C2)");
  }
  return success();
}

bool ReduceOp::reducesRows() {
  int64_t rank = tensorOf(getInput()).getRank();
  ArrayRef<int64_t> axes = getAxes();
  return !axes.empty() && axes.back() == rank - 1 &&
         axes.front() == rank - static_cast<int64_t>(axes.size());
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getInput());
  ArrayRef<int64_t> axes = adaptor.getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < 0 || axes[i] >= type.getRank() ||
        (i && axes[i] <= axes[i - 1]))
      return emitAt(location, context, getOperationName())
             << "reduces axes [" << axes << "] of " << type
             << "; expected distinct, ascending axes within the rank (C1)";
  if (axes.empty())
    return emitAt(location, context, getOperationName())
           << "needs at least one axis (C1)";
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!llvm::is_contained(axes, i))
      shape.push_back(type.getDimSize(i));
    else if (adaptor.getKeep())
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

LogicalResult BucketizeOp::inferReturnTypes(MLIRContext *context,
                                            std::optional<Location> location,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto input = tensorOf(adaptor.getInput());
  // As they are compared: rounded. What is no float the verifier refuses.
  SmallVector<APFloat> boundaries;
  if (isa<FloatType>(input.getElementType()))
    for (double boundary : adaptor.getBoundaries())
      boundaries.push_back(
          roundedTo(APFloat(boundary), input.getElementType()));
  for (size_t i = 0; i < boundaries.size(); ++i)
    if (!boundaries[i].isFinite() ||
        (i && !(boundaries[i - 1] < boundaries[i])))
      return emitAt(location, context, getOperationName())
             << "needs boundaries that are finite and strictly ascending in "
             << input.getElementType() << " (C1)";
  types.push_back(
      RankedTensorType::get(input.getShape(), IntegerType::get(context, 64)));
  return success();
}

LogicalResult CrossOp::inferReturnTypes(MLIRContext *context,
                                        std::optional<Location> location,
                                        Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty())
    return emitAt(location, context, getOperationName())
           << "needs an operand (C1)";
  SmallVector<int64_t> shape = idShape(adaptor.getInputs().front().getType());
  bool ragged = false;
  for (Value input : adaptor.getInputs()) {
    if (shape.size() != 2 || idShape(input.getType()) != shape)
      return emitAt(location, context, getOperationName())
             << "crosses operands of different shapes; expected [b, s] alike "
                "(C1)";
    ragged |= isa<RaggedType>(input.getType());
  }
  Type i64 = IntegerType::get(context, 64);
  types.push_back(ragged ? Type(RaggedType::get(context, shape, i64))
                         : Type(RankedTensorType::get(shape, i64)));
  return success();
}

LogicalResult IdArithmeticOp::verify() {
  const bool divides =
      getKind() == IdOperation::quotient || getKind() == IdOperation::remainder;
  auto number = static_cast<int64_t>(getNumber());
  if (divides && number <= 0)
    return emitOpError() << "divides by " << number
                         << "; expected a number above 0 (C2)";
  return success();
}

Value IdArithmeticOp::getRowsOfOperand(OpOperand &) { return {}; }
Value IdArithmeticOp::getRowsOfResult() { return getInput(); }
bool IdArithmeticOp::leadsToOtherRows() { return isa<RaggedType>(getType()); }

LogicalResult CastOp::verify() {
  auto result = tensorOf(getResult());
  auto ragged = dyn_cast<RaggedType>(getInput().getType());
  Type from =
      ragged ? ragged.getElementType() : tensorOf(getInput()).getElementType();
  Type to = result.getElementType();
  if (ragged && to.isInteger())
    return emitOpError() << "makes bags of " << from << " to rows of " << to
                         << "; rows are floats (C1)";
  if (!ragged && from == to)
    return emitOpError() << "makes " << from << " to " << to
                         << ", which it is; leave the cast out (C1)";
  SmallVector<int64_t> shape{ShapedType::kDynamic, 1};
  if (!ragged)
    shape.assign(tensorOf(getInput()).getShape().begin(),
                 tensorOf(getInput()).getShape().end());
  if (result.getShape() != ArrayRef<int64_t>(shape))
    return emitOpError() << "makes " << getInput().getType() << " to " << result
                         << "; expected "
                         << RankedTensorType::get(shape,
                                                  result.getElementType())
                         << " (C2)";
  return success();
}

Value CastOp::getRowsOfOperand(OpOperand &) { return {}; }
Value CastOp::getRowsOfResult() { return getInput(); }
bool CastOp::leadsToOtherRows() {
  return isa<RaggedType>(getInput().getType());
}

//===----------------------------------------------------------------------===//
// Losses, metrics, training
//===----------------------------------------------------------------------===//

/// Whether `type` is [b, 1], with b the batch.
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

/// Whether `type` is [b, n], with b the batch and n > 1.
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
                         << ", which is not an nn.metric (C1)";
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

/// The rule of the group that `name` is in; null if either is not found.
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

/// That `name` is a parameter of a group of states, of a type, that ops may
/// accumulate into.
static LogicalResult verifyState(Operation *op, SymbolTableCollection &symbols,
                                 FlatSymbolRefAttr name, Type type,
                                 StringRef constraint) {
  // Which group a symbol is in that a function takes, its calls say.
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
                         << ", which is not an nn.table (C1)";
  if (getElementTypeOrSelf(getValues().front()) != row.getElementType())
    return emitOpError() << "adds " << getValues().front().getType()
                         << " to rows of " << row.getElementType()
                         << "; nn.cast makes one of the other (C2)";
  return success();
}

/// The type of a state with an element for each feature of `input`.
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
                           << ", which is not an nn.group (C2)";
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

//===----------------------------------------------------------------------===//
// Samples that mix
//===----------------------------------------------------------------------===//

std::optional<std::string> ReduceOp::mixesSamples() {
  if (getMixing())
    return "mixes samples; say nn.batch_sum (C3)";
  for (int64_t axis : getAxes())
    if (tensorOf(getInput()).isDynamicDim(axis))
      return "reduces over the samples of a batch, which replicas could not do "
             "alike (C3); nn.batch_sum sums over the batch of one replica, if "
             "that is meant";
  return std::nullopt;
}

/// Only lookups, which phase `merged` spells out, join bags with samples.
std::optional<std::string> ReshapeOp::mixesSamples() {
  auto from = tensorOf(getInput()), to = tensorOf(getResult());
  if (from.hasStaticShape() ||
      ShapedType::getNumElements(from.getShape().drop_front()) ==
          ShapedType::getNumElements(to.getShape().drop_front()))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream(text)
      << "moves elements between samples: '" << from
      << "' has not as many in one as '" << to << "' (C2)";
  return text;
}
