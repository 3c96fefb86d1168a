//===- Bundles.cpp - Bundles of operands ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bundle is a struct of values that belong together, such as the ids, splits
// and pooling of an input. MLIR stores the operands of an op in flat lists.
// Values that some entries of a list lack are stored in a shorter list, with a
// flag for each entry that says whether it has the value. Only this file
// handles these lists; all other code reads and writes bundles.
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"

using namespace mlir;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Lists of optional values
//===----------------------------------------------------------------------===//

/// Returns one value per flag: the next one of `values` if the flag is set,
/// else null.
static SmallVector<Value> spread(ValueRange values, ArrayRef<bool> flags) {
  SmallVector<Value> result;
  for (bool flag : flags) {
    result.push_back(flag ? values.front() : Value());
    values = values.drop_front(flag);
  }
  return result;
}

/// Reverses `spread`: returns the values that are not null, and the flags.
static std::pair<SmallVector<Value>, SmallVector<bool>>
gather(ArrayRef<Value> values) {
  SmallVector<Value> given;
  SmallVector<bool> flags;
  for (Value value : values) {
    flags.push_back(value != nullptr);
    if (value)
      given.push_back(value);
  }
  return {given, flags};
}

/// Returns true if there are `entries` flags, and `count` of them are set.
static bool fits(size_t count, ArrayRef<bool> flags, size_t entries) {
  return flags.size() == entries &&
         static_cast<size_t>(llvm::count(flags, true)) == count;
}

template <typename BundleT, typename ValueT>
static SmallVector<Value> column(ArrayRef<BundleT> bundles,
                                 ValueT BundleT::*member) {
  return llvm::map_to_vector(
      bundles, [&](const BundleT &bundle) -> Value { return bundle.*member; });
}

//===----------------------------------------------------------------------===//
// Deduplicated ids
//===----------------------------------------------------------------------===//

Deduplication PoolOp::getDeduplication() {
  return getInverse().getDefiningOp<UniqueOp>().getDeduplication();
}

Deduplication PoolGradientOp::getDeduplication() {
  return getInverse().getDefiningOp<UniqueOp>().getDeduplication();
}

//===----------------------------------------------------------------------===//
// Inputs of pools
//===----------------------------------------------------------------------===//

static ArrayAttr poolingsOf(Builder &builder, ArrayRef<PoolInput> inputs) {
  return builder.getArrayAttr(
      llvm::map_to_vector(inputs, [&](const PoolInput &input) -> Attribute {
        return PoolingAttr::get(builder.getContext(), input.pooling);
      }));
}

static SmallVector<PoolInput> bundleInputs(ValueRange ids, ValueRange splits,
                                           ArrayRef<bool> bagged,
                                           ArrayAttr poolings) {
  SmallVector<PoolInput> inputs;
  for (auto [id, split, pooling] :
       llvm::zip_equal(ids, spread(splits, bagged), poolings))
    inputs.push_back({id, split, cast<PoolingAttr>(pooling).getValue()});
  return inputs;
}

void PoolOp::build(OpBuilder &builder, OperationState &state, Value rows,
                   const Deduplication &deduplication,
                   ArrayRef<PoolInput> inputs) {
  SmallVector<Value> ids = column(inputs, &PoolInput::ids);
  auto [splits, bagged] = gather(column(inputs, &PoolInput::splits));
  state.addOperands({rows, deduplication.inverse, deduplication.keySplits,
                     deduplication.occurrences});
  state.addOperands(ids);
  state.addOperands(splits);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {1,
                                    1,
                                    1,
                                    1,
                                    static_cast<int32_t>(ids.size()),
                                    static_cast<int32_t>(splits.size())};
  properties.poolings = poolingsOf(builder, inputs);
  properties.bagged = builder.getDenseBoolArrayAttr(bagged);
  state.addTypes(SmallVector<Type>(ids.size(), rows.getType()));
}

SmallVector<PoolInput> PoolOp::getInputs() {
  return bundleInputs(getIds(), getSplits(), getBagged(), getPoolings());
}

void PoolGradientOp::build(OpBuilder &builder, OperationState &state,
                           Type gradient, const Deduplication &deduplication,
                           ArrayRef<PoolInput> inputs) {
  SmallVector<Value> ids = column(inputs, &PoolInput::ids);
  auto [splits, bagged] = gather(column(inputs, &PoolInput::splits));
  auto [cotangents, present] = gather(column(inputs, &PoolInput::cotangent));
  state.addOperands(cotangents);
  state.addOperands({deduplication.inverse, deduplication.keySplits,
                     deduplication.occurrences});
  state.addOperands(ids);
  state.addOperands(splits);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {static_cast<int32_t>(cotangents.size()),
                                    1,
                                    1,
                                    1,
                                    static_cast<int32_t>(ids.size()),
                                    static_cast<int32_t>(splits.size())};
  properties.poolings = poolingsOf(builder, inputs);
  properties.bagged = builder.getDenseBoolArrayAttr(bagged);
  properties.present = builder.getDenseBoolArrayAttr(present);
  state.addTypes(gradient);
}

SmallVector<PoolInput> PoolGradientOp::getInputs() {
  SmallVector<PoolInput> inputs =
      bundleInputs(getIds(), getSplits(), getBagged(), getPoolings());
  for (auto [input, cotangent] :
       llvm::zip_equal(inputs, spread(getCotangents(), getPresent())))
    input.cotangent = cotangent;
  return inputs;
}

/// Verifies C1 of nn.pool and nn.pool_gradient.
template <typename OpT> static LogicalResult verifyPoolInputs(OpT op) {
  size_t inputs = op.getIds().size();
  if (inputs == 0 || op.getPoolings().size() != inputs)
    return op.emitOpError("needs inputs, and a pooling for each (C1)");
  if (!fits(op.getSplits().size(), op.getBagged(), inputs))
    return op.emitOpError("needs splits exactly for its inputs with bags (C1)");
  return success();
}

/// Verifies a part of C3 of nn.pool and nn.pool_gradient: inverse, key splits,
/// occurrences and ids must belong to one `nn.unique`.
template <typename OpT> static LogicalResult verifyUnique(OpT op) {
  auto unique = op.getInverse().template getDefiningOp<UniqueOp>();
  if (unique && llvm::equal(op.getIds(), unique.getIds()) &&
      unique.getDeduplication() ==
          Deduplication{unique.getKeys(), op.getInverse(), op.getKeySplits(),
                        op.getOccurrences()})
    return success();
  return op.emitOpError("needs inverse, key splits, occurrences and ids of one "
                        "nn.unique, in this order (C3)");
}

LogicalResult PoolOp::verify() {
  if (failed(verifyPoolInputs(*this)))
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
  if (pull && pull.getKeys() != getDeduplication().keys) {
    InFlightDiagnostic diagnostic = emitOpError(
        "pools rows of other keys than those of its nn.unique (C3)");
    diagnostic.attachNote(pull.getLoc()) << "they are pulled here";
    return diagnostic;
  }
  return success();
}

LogicalResult PoolGradientOp::verify() {
  if (failed(verifyPoolInputs(*this)))
    return failure();
  if (!fits(getCotangents().size(), getPresent(), getIds().size()))
    return emitOpError(
        "needs cotangents exactly for its inputs that have one (C1)");
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

/// Syntax: `%a bags(%sa) mean`.
static ParseResult parsePoolInput(OpAsmParser &parser, UnresolvedOperands &ids,
                                  UnresolvedOperands &splits,
                                  SmallVectorImpl<Attribute> &poolings,
                                  SmallVectorImpl<bool> &bagged) {
  if (parser.parseOperand(ids.emplace_back()))
    return failure();
  bagged.push_back(succeeded(parser.parseOptionalKeyword("bags")));
  if (bagged.back() &&
      (parser.parseLParen() || parser.parseOperand(splits.emplace_back()) ||
       parser.parseRParen()))
    return failure();
  StringRef keyword;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Pooling> pooling = symbolizePooling(keyword);
  if (!pooling)
    return parser.emitError(location, "unknown '")
           << keyword << "'; expected sum, mean or sqrtn";
  poolings.push_back(PoolingAttr::get(parser.getContext(), *pooling));
  return success();
}

static void printPoolInput(OpAsmPrinter &printer, const PoolInput &input) {
  printer << input.ids;
  if (input.splits)
    printer << " bags(" << input.splits << ")";
  printer << " " << stringifyPooling(input.pooling);
  if (input.cotangent)
    printer << " from " << input.cotangent;
}

ParseResult pdlc::nn::parsePoolInputs(OpAsmParser &parser,
                                      UnresolvedOperands &ids,
                                      UnresolvedOperands &splits,
                                      ArrayAttr &poolings,
                                      DenseBoolArrayAttr &bagged) {
  SmallVector<Attribute> poolingList;
  SmallVector<bool> flags;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, [&] {
        return parsePoolInput(parser, ids, splits, poolingList, flags);
      }))
    return failure();
  poolings = parser.getBuilder().getArrayAttr(poolingList);
  bagged = parser.getBuilder().getDenseBoolArrayAttr(flags);
  return success();
}

void pdlc::nn::printPoolInputs(OpAsmPrinter &printer, Operation *op,
                               OperandRange, OperandRange, ArrayAttr,
                               DenseBoolArrayAttr) {
  printer << "(";
  llvm::interleaveComma(
      cast<PoolOp>(op).getInputs(), printer,
      [&](const PoolInput &input) { printPoolInput(printer, input); });
  printer << ")";
}

ParseResult pdlc::nn::parsePoolGradientInputs(
    OpAsmParser &parser, UnresolvedOperands &ids, UnresolvedOperands &splits,
    UnresolvedOperands &cotangents, ArrayAttr &poolings,
    DenseBoolArrayAttr &bagged, DenseBoolArrayAttr &present) {
  SmallVector<Attribute> poolingList;
  SmallVector<bool> baggedFlags, presentFlags;
  auto parseOne = [&]() -> ParseResult {
    if (parsePoolInput(parser, ids, splits, poolingList, baggedFlags))
      return failure();
    presentFlags.push_back(succeeded(parser.parseOptionalKeyword("from")));
    if (presentFlags.back())
      return parser.parseOperand(cotangents.emplace_back());
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
    return failure();
  poolings = parser.getBuilder().getArrayAttr(poolingList);
  bagged = parser.getBuilder().getDenseBoolArrayAttr(baggedFlags);
  present = parser.getBuilder().getDenseBoolArrayAttr(presentFlags);
  return success();
}

void pdlc::nn::printPoolGradientInputs(OpAsmPrinter &printer, Operation *op,
                                       OperandRange, OperandRange, OperandRange,
                                       ArrayAttr, DenseBoolArrayAttr,
                                       DenseBoolArrayAttr) {
  printer << "(";
  llvm::interleaveComma(
      cast<PoolGradientOp>(op).getInputs(), printer,
      [&](const PoolInput &input) { printPoolInput(printer, input); });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Bags
//===----------------------------------------------------------------------===//

void CrossBagsOp::build(OpBuilder &builder, OperationState &state,
                        ArrayRef<Bags> bags, int64_t salt) {
  state.addOperands(column(bags, &Bags::ids));
  state.addOperands(column(bags, &Bags::splits));
  state.getOrAddProperties<Properties>().salt = builder.getI64IntegerAttr(salt);
  state.addTypes(
      {RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type()),
       RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type())});
}

SmallVector<Bags> CrossBagsOp::getBags() {
  SmallVector<Bags> bags;
  for (auto [ids, splits] : llvm::zip_equal(getIds(), getSplits()))
    bags.push_back({ids, splits});
  return bags;
}

LogicalResult CrossBagsOp::verify() {
  if (getIds().empty() || getNumOperands() % 2 != 0)
    return emitOpError("needs bags to cross, each of ids and splits (C1)");
  return success();
}

ParseResult pdlc::nn::parseBagList(OpAsmParser &parser, UnresolvedOperands &ids,
                                   UnresolvedOperands &splits) {
  return parser.parseCommaSeparatedList(
      OpAsmParser::Delimiter::Paren, [&]() -> ParseResult {
        return failure(parser.parseOperand(ids.emplace_back()) ||
                       parser.parseKeyword("bags") || parser.parseLParen() ||
                       parser.parseOperand(splits.emplace_back()) ||
                       parser.parseRParen());
      });
}

void pdlc::nn::printBagList(OpAsmPrinter &printer, Operation *op, OperandRange,
                            OperandRange) {
  printer << "(";
  llvm::interleaveComma(cast<CrossBagsOp>(op).getBags(), printer,
                        [&](const Bags &bags) {
                          printer << bags.ids << " bags(" << bags.splits << ")";
                        });
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Symbols and their gradients
//===----------------------------------------------------------------------===//

namespace {
/// A list of `SymbolGradient` in the flat form of an op.
struct GradientLists {
  GradientLists(Builder &builder, ArrayRef<SymbolGradient> bundles)
      : gradients(column(bundles, &SymbolGradient::gradient)) {
    symbols = builder.getArrayAttr(llvm::map_to_vector(
        bundles, [](const SymbolGradient &bundle) -> Attribute {
          return bundle.symbol;
        }));
    auto [given, flags] = gather(column(bundles, &SymbolGradient::keys));
    keys = given;
    keyed = builder.getDenseBoolArrayAttr(flags);
  }

  ArrayAttr symbols;
  SmallVector<Value> gradients, keys;
  DenseBoolArrayAttr keyed;
};
} // namespace

static SmallVector<SymbolGradient> bundleGradients(ArrayAttr symbols,
                                                   ValueRange gradients,
                                                   ValueRange keys,
                                                   ArrayRef<bool> keyed) {
  SmallVector<SymbolGradient> bundles;
  for (auto [symbol, gradient, key] :
       llvm::zip_equal(symbols.getAsRange<FlatSymbolRefAttr>(), gradients,
                       spread(keys, keyed)))
    bundles.push_back({symbol, gradient, key});
  return bundles;
}

void ApplyGradientsOp::build(OpBuilder &builder, OperationState &state,
                             Value losses, Value weights,
                             ArrayRef<SymbolGradient> gradients,
                             ArrayAttr groups) {
  GradientLists lists(builder, gradients);
  state.addOperands(losses);
  if (weights)
    state.addOperands(weights);
  state.addOperands(lists.gradients);
  state.addOperands(lists.keys);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {
      1, weights ? 1 : 0, static_cast<int32_t>(lists.gradients.size()),
      static_cast<int32_t>(lists.keys.size())};
  properties.symbols = lists.symbols;
  properties.keyed = lists.keyed;
  properties.groups = groups;
}

SmallVector<SymbolGradient> ApplyGradientsOp::getSymbolGradients() {
  return bundleGradients(getSymbols(), getGradients(), getKeys(), getKeyed());
}

void SquaredNormOp::build(OpBuilder &builder, OperationState &state,
                          ArrayRef<SymbolGradient> gradients, Value weight) {
  GradientLists lists(builder, gradients);
  state.addOperands(lists.gradients);
  state.addOperands(lists.keys);
  state.addOperands(weight);
  auto &properties = state.getOrAddProperties<Properties>();
  properties.operandSegmentSizes = {
      static_cast<int32_t>(lists.gradients.size()),
      static_cast<int32_t>(lists.keys.size()), 1};
  properties.symbols = lists.symbols;
  properties.keyed = lists.keyed;
  state.addTypes(RankedTensorType::get({}, builder.getF64Type()));
}

SmallVector<SymbolGradient> SquaredNormOp::getSymbolGradients() {
  return bundleGradients(getSymbols(), getGradients(), getKeys(), getKeyed());
}

/// Verifies the part of C1 that needs no symbols.
template <typename OpT> static LogicalResult verifyLists(OpT op) {
  size_t symbols = op.getSymbols().size();
  if (op.getGradients().size() != symbols)
    return op.emitOpError("needs as many symbols as gradients (C1)");
  if (!fits(op.getKeys().size(), op.getKeyed(), symbols))
    return op.emitOpError("needs keys exactly for its symbols that have some "
                          "(C1)");
  return success();
}

/// Verifies C1: a gradient has keys exactly if its symbol is a table.
static LogicalResult verifyKeys(Operation *op, const SymbolGradient &bundle,
                                Operation *symbol) {
  bool isTable = isa<TableOp>(symbol);
  if (isTable == (bundle.keys != nullptr))
    return success();
  return op->emitOpError() << (isTable ? "needs the keys of the rows of "
                                       : "has keys of rows of ")
                           << bundle.symbol
                           << (isTable ? " that its gradient is of (C1)"
                                       : ", which is not an nn.table (C1)");
}

LogicalResult ApplyGradientsOp::verify() { return verifyLists(*this); }

LogicalResult
ApplyGradientsOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto group : getGroups().getAsRange<FlatSymbolRefAttr>())
    if (!symbols.lookupNearestSymbolFrom<GroupOp>(*this, group))
      return emitOpError() << "trains " << group
                           << ", which is not an nn.group (C2)";
  for (const SymbolGradient &bundle : getSymbolGradients()) {
    Operation *symbol = symbols.lookupNearestSymbolFrom(*this, bundle.symbol);
    if (!llvm::is_contained(getGroups(), groupOf(symbol)))
      return emitOpError() << "updates " << bundle.symbol
                           << ", which is in none of its groups (C2)";
    if (failed(verifyKeys(*this, bundle, symbol)))
      return failure();
  }
  return success();
}

LogicalResult SquaredNormOp::verify() { return verifyLists(*this); }

LogicalResult SquaredNormOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (const SymbolGradient &bundle : getSymbolGradients()) {
    Operation *symbol = symbols.lookupNearestSymbolFrom(*this, bundle.symbol);
    if (!isa_and_nonnull<ParamOp, TableOp>(symbol))
      return emitOpError() << "names " << bundle.symbol
                           << ", which is neither nn.param nor nn.table (C1)";
    if (failed(verifyKeys(*this, bundle, symbol)))
      return failure();
  }
  return success();
}

ParseResult pdlc::nn::parseSymbolGradients(OpAsmParser &parser,
                                           ArrayAttr &symbols,
                                           UnresolvedOperands &gradients,
                                           SmallVectorImpl<Type> &types,
                                           UnresolvedOperands &keys,
                                           DenseBoolArrayAttr &keyed) {
  SmallVector<Attribute> names;
  SmallVector<bool> flags;
  auto parseOne = [&]() -> ParseResult {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return failure();
    names.push_back(FlatSymbolRefAttr::get(name));
    flags.push_back(succeeded(parser.parseOptionalLSquare()));
    if (flags.back() &&
        (parser.parseOperand(keys.emplace_back()) || parser.parseRSquare()))
      return failure();
    return failure(parser.parseEqual() ||
                   parser.parseOperand(gradients.emplace_back()) ||
                   parser.parseColonType(types.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Braces, parseOne))
    return failure();
  symbols = parser.getBuilder().getArrayAttr(names);
  keyed = parser.getBuilder().getDenseBoolArrayAttr(flags);
  return success();
}

void pdlc::nn::printSymbolGradients(OpAsmPrinter &printer, Operation *,
                                    ArrayAttr symbols, OperandRange gradients,
                                    TypeRange, OperandRange keys,
                                    DenseBoolArrayAttr keyed) {
  printer << "{";
  llvm::interleaveComma(
      bundleGradients(symbols, gradients, keys, keyed.asArrayRef()), printer,
      [&](const SymbolGradient &bundle) {
        printer << bundle.symbol;
        if (bundle.keys)
          printer << "[" << bundle.keys << "]";
        printer << " = " << bundle.gradient << " : "
                << bundle.gradient.getType();
      });
  printer << "}";
}

//===----------------------------------------------------------------------===//
// Scalars of a group
//===----------------------------------------------------------------------===//

LogicalResult ScalarAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ScalarRole role, StringAttr name) {
  if ((role == ScalarRole::rule) == (name != nullptr))
    return success();
  return emitError() << "a scalar of the rule, and no other, has a name";
}

ScalarAttr OnceOp::getNameOf(Value scalar) {
  return cast<ScalarAttr>(getNames()[cast<OpResult>(scalar).getResultNumber()]);
}

/// Returns the scalars of a role, in order.
static SmallVector<Value> scalarsOf(OnceOp op, ScalarRole role) {
  return llvm::filter_to_vector(
      SmallVector<Value>(op.getScalars()),
      [&](Value scalar) { return op.getNameOf(scalar).getRole() == role; });
}

Value OnceOp::getWeightScalar() {
  return scalarsOf(*this, ScalarRole::weight).front();
}

Value OnceOp::getClipFactorScalar() {
  SmallVector<Value> factors = scalarsOf(*this, ScalarRole::clip_factor);
  return factors.empty() ? Value() : factors.front();
}

SmallVector<Value> OnceOp::getRuleScalars() {
  return scalarsOf(*this, ScalarRole::rule);
}

ArrayRef<BlockArgument> UpdateOp::getSlotArguments() {
  ArrayRef<BlockArgument> arguments = getEach().getArguments();
  return arguments.drop_front(getNumInputs())
      .drop_back(getScalars().size() + getRowScalarArguments().size());
}

ArrayRef<BlockArgument> UpdateOp::getScalarArguments() {
  ArrayRef<BlockArgument> arguments = getEach().getArguments();
  return arguments.drop_back(getRowScalarArguments().size())
      .take_back(getScalars().size());
}

/// Returns the values that a region of scalars yields.
static OperandRange yieldedBy(Region &region) {
  return region.front().getTerminator()->getOperands();
}

ArrayRef<BlockArgument> UpdateOp::getRowScalarArguments() {
  ArrayRef<BlockArgument> arguments = getEach().getArguments();
  return arguments.take_back(
      hasRow() ? yieldedBy(getRow()).size() - getNumRowSlots() : 0);
}

unsigned UpdateOp::getNumSums() {
  return hasRow() ? yieldedBy(getSum()).size() : 0;
}

unsigned UpdateOp::getNumRowSlots() {
  return hasRow() ? getRow().getNumArguments() - 1 - getNumSums() -
                        getCounts() - getScalars().size()
                  : 0;
}

ArrayRef<BlockArgument> UpdateOp::getRowSums() {
  ArrayRef<BlockArgument> arguments = getRow().getArguments();
  return arguments.slice(1, getNumSums());
}

ArrayRef<BlockArgument> UpdateOp::getRowSlotArguments() {
  ArrayRef<BlockArgument> arguments = getRow().getArguments();
  return arguments.slice(1 + getNumSums(), getNumRowSlots());
}

ArrayRef<BlockArgument> UpdateOp::getCountArguments() {
  ArrayRef<BlockArgument> arguments = getRow().getArguments();
  return arguments.slice(1 + getNumSums() + getNumRowSlots(), getCounts());
}

SmallVector<BlockArgument> UpdateOp::getArgumentsOf(OpOperand &operand) {
  unsigned first = getScalars().getBeginOperandIndex();
  if (operand.getOwner() != *this || operand.getOperandNumber() < first)
    return {};
  const unsigned number = operand.getOperandNumber() - first;
  SmallVector<BlockArgument> arguments{getScalarArguments()[number]};
  // Scalars are the last arguments of the other regions.
  const unsigned fromEnd = getScalars().size() - number;
  if (hasRow())
    for (Region *region : {&getSum(), &getRow()})
      arguments.push_back(
          region->getArgument(region->getNumArguments() - fromEnd));
  return arguments;
}

ParseResult pdlc::nn::parseScalarNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  MLIRContext *context = parser.getContext();
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    if (succeeded(parser.parseOptionalString(&name))) {
      list.push_back(ScalarAttr::get(context, ScalarRole::rule,
                                     StringAttr::get(context, name)));
      return success();
    }
    StringRef keyword;
    llvm::SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<ScalarRole> role = symbolizeScalarRole(keyword);
    if (!role || *role == ScalarRole::rule)
      return parser.emitError(location, "unknown '")
             << keyword
             << "'; expected weight, clip_factor, or a name in quotes";
    list.push_back(ScalarAttr::get(context, *role, StringAttr()));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

void pdlc::nn::printScalarNames(OpAsmPrinter &printer, Operation *,
                                ArrayAttr names) {
  printer << "(";
  llvm::interleaveComma(names.getAsRange<ScalarAttr>(), printer,
                        [&](ScalarAttr scalar) {
                          if (scalar.getName())
                            printer.printString(scalar.getName().getValue());
                          else
                            printer << stringifyScalarRole(scalar.getRole());
                        });
  printer << ")";
}
