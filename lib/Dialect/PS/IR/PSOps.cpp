//===- PSOps.cpp - Verifiers of the distribution dialect ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/PS/IR/PS.h"

#include "mlir/IR/TypeUtilities.h"
#include "pdlabi/hash.h"
#include "pdlabi/norm.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::ps;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static RankedTensorType scalar64(MLIRContext *context) {
  return RankedTensorType::get({}, Float64Type::get(context));
}

static RankedTensorType vectorOf(Type element) {
  return RankedTensorType::get({ShapedType::kDynamic}, element);
}

SmallVector<Type> pdlc::ps::valueTypes(ChannelOp channel) {
  if (channel.getKind() == ChannelKind::loss)
    return SmallVector<Type>(2, scalar64(channel.getContext()));
  return {channel.getType()};
}

LossSums LossSums::of(ValueRange values) {
  assert(values.size() == 2 && "not the values of a channel of kind loss");
  return {values[0], values[1]};
}

/// Pairs the values of an op with the channels of `names`, a list of its
/// message. A channel for which `has` returns false has no value and is left
/// out.
static SmallVector<ChannelValues>
byChannel(const SymbolTable &symbols, ArrayAttr names, ValueRange values,
          llvm::function_ref<bool(ChannelKind)> has) {
  SmallVector<ChannelValues> result;
  for (Attribute name : names) {
    ChannelOp channel = lookupChannel(symbols, name);
    if (!has(channel.getKind()))
      continue;
    size_t count = valueTypes(channel).size();
    result.push_back({channel, values.take_front(count)});
    values = values.drop_front(count);
  }
  return result;
}

static bool isKeys(ChannelKind kind) { return kind == ChannelKind::keys; }
static bool isNotKeys(ChannelKind kind) { return kind != ChannelKind::keys; }
static bool isAny(ChannelKind) { return true; }

SmallVector<ChannelValues> pdlc::ps::sentValues(PostOp post,
                                                const SymbolTable &symbols) {
  auto message = symbols.lookup<MessageOp>(post.getMessage());
  return byChannel(symbols, message.getSends(), post.getValues(), isNotKeys);
}

SmallVector<ChannelValues>
pdlc::ps::receivedValues(WaitOp wait, const SymbolTable &symbols) {
  auto message = symbols.lookup<MessageOp>(wait.getMessage());
  return byChannel(symbols, message.getReceives(), wait.getValues(), isAny);
}

SmallVector<ChannelValues> pdlc::ps::sentKeys(WaitOp wait,
                                              const SymbolTable &symbols) {
  auto message = symbols.lookup<MessageOp>(wait.getMessage());
  return byChannel(symbols, message.getSends(), wait.getKeys(), isKeys);
}

ChannelOp pdlc::ps::lookupChannel(const SymbolTable &symbols, Attribute name) {
  return dyn_cast_or_null<ChannelOp>(
      symbols.lookup(cast<FlatSymbolRefAttr>(name).getAttr()));
}

/// Returns the channel that `op` names. Reports an error and returns null if
/// there is no such channel, or if its kind is not one of `kinds`.
static ChannelOp requireChannel(Operation *op, SymbolTableCollection &tables,
                                FlatSymbolRefAttr name,
                                ArrayRef<ChannelKind> kinds) {
  auto channel = tables.lookupNearestSymbolFrom<ChannelOp>(op, name);
  if (!channel) {
    op->emitOpError() << name << " is not a ps.channel (C1)";
    return {};
  }
  if (llvm::is_contained(kinds, channel.getKind()))
    return channel;
  InFlightDiagnostic diagnostic = op->emitOpError()
                                  << "uses channel " << name << " of kind "
                                  << stringifyChannelKind(channel.getKind())
                                  << ", expected ";
  llvm::interleave(
      kinds,
      [&](ChannelKind kind) { diagnostic << stringifyChannelKind(kind); },
      [&] { diagnostic << " or "; });
  diagnostic << " (C1)";
  return {};
}

/// Fails unless the values have the types that the channel requires.
static LogicalResult requireTypes(Operation *op, ChannelOp channel,
                                  TypeRange actual) {
  SmallVector<Type> expected = valueTypes(channel);
  if (actual == TypeRange(expected))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "has the types (" << actual << "), but channel @"
                        << channel.getSymName() << " carries ("
                        << TypeRange(expected) << ") (C2)";
  diagnostic.attachNote(channel.getLoc()) << "the channel is declared here";
  return failure();
}

/// Returns the tensor type of a parameter or state; null for anything else.
static RankedTensorType denseType(Operation *symbol) {
  if (auto param = dyn_cast_or_null<nn::ParamOp>(symbol))
    return cast<RankedTensorType>(param.getType());
  if (auto state = dyn_cast_or_null<nn::StateOp>(symbol))
    return cast<RankedTensorType>(state.getType());
  return {};
}

/// Returns the type of some rows of a table.
static RankedTensorType rowsOf(nn::TableOp table) {
  RankedTensorType row = table.getRowType();
  SmallVector<int64_t> shape{ShapedType::kDynamic};
  llvm::append_range(shape, row.getShape());
  return RankedTensorType::get(shape, row.getElementType());
}

/// Returns true if a tensor of `type` can hold gradients of rows of `table`.
/// Each row may be followed by counts.
static bool isGradientOf(nn::TableOp table, Type type) {
  auto rows = rowsOf(table), gradients = dyn_cast<RankedTensorType>(type);
  return gradients && gradients.getRank() == rows.getRank() &&
         gradients.isDynamicDim(0) &&
         gradients.getElementType() == rows.getElementType() &&
         gradients.getShape().back() >= rows.getShape().back();
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

LogicalResult BlocksOp::verifySymbolUses(SymbolTableCollection &tables) {
  RankedTensorType type =
      denseType(tables.lookupNearestSymbolFrom(*this, getSymbolAttr()));
  if (!type)
    return emitOpError() << getSymbolAttr()
                         << " is neither an nn.param nor an nn.state (C1)";
  int64_t rowCount = type.getRank() <= 1 ? 1 : type.getDimSize(0);
  ArrayRef<int64_t> rows = getRows();
  if (rows.size() < 2 || rows.front() != 0 || rows.back() != rowCount)
    return emitOpError() << "covers rows of " << getSymbolAttr()
                         << " other than 0 to " << rowCount << " (C2)";
  for (auto [begin, end] : llvm::zip(rows.drop_back(), rows.drop_front())) {
    if (begin >= end)
      return emitOpError() << "has a block from row " << begin << " to row "
                           << end << ", which holds none (C2)";
    if (begin % pdlabi::rowsInNormUnit != 0)
      return emitOpError() << "has a block that begins at row " << begin
                           << ", which is no multiple of "
                           << pdlabi::rowsInNormUnit << " (C2)";
  }
  if (getCosts().size() != rows.size() - 1 ||
      llvm::any_of(getCosts(), [](int64_t cost) { return cost < 1; }))
    return emitOpError() << "needs " << rows.size() - 1
                         << " costs of at least 1, one for each block (C3)";
  return success();
}

LogicalResult ShardsOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom<nn::TableOp>(*this, getSymbolAttr()))
    return emitOpError() << getSymbolAttr() << " is not an nn.table (C1)";
  if (getCount() != pdlabi::logicalShardCount)
    return emitOpError() << "has " << getCount() << " shards, expected "
                         << pdlabi::logicalShardCount << " (C2)";
  if (getCost() < 1)
    return emitOpError() << "has cost " << getCost()
                         << ", expected at least 1 (C3)";
  return success();
}

//===----------------------------------------------------------------------===//
// Channels and messages
//===----------------------------------------------------------------------===//

bool ChannelOp::goesToServer() {
  switch (getKind()) {
  case ChannelKind::gradient:
  case ChannelKind::keys:
  case ChannelKind::row_gradient:
  case ChannelKind::loss:
  case ChannelKind::norm:
  case ChannelKind::delta:
  case ChannelKind::row_delta:
    return true;
  case ChannelKind::value:
  case ChannelKind::rows:
  case ChannelKind::partial_norm:
  case ChannelKind::changed_keys:
    return false;
  }
  llvm_unreachable("an enumerator without case");
}

bool ChannelOp::goesToTrainer() {
  return getKind() == ChannelKind::loss || !goesToServer();
}

LogicalResult ChannelOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (static_cast<int64_t>(getNumber()) < 0)
    return emitOpError("has a negative number (C1)");
  ChannelKind kind = getKind();
  StringRef kindName = stringifyChannelKind(kind);
  bool needsSymbol = kind != ChannelKind::loss && kind != ChannelKind::norm;
  bool needsClip =
      kind == ChannelKind::partial_norm || kind == ChannelKind::norm;
  if (getSymbolAttr() ? !needsSymbol : needsSymbol)
    return emitOpError() << "of kind " << kindName
                         << (needsSymbol ? " needs a symbol (C2)"
                                         : " has no symbol (C2)");
  bool mayClip =
      kind == ChannelKind::gradient || kind == ChannelKind::row_gradient;
  if (getClipAttr() ? !needsClip && !mayClip : needsClip)
    return emitOpError() << "of kind " << kindName
                         << (needsClip ? " needs a clip (C3)"
                                       : " has no clip (C3)");
  if (getClipAttr() &&
      !tables.lookupNearestSymbolFrom<nn::ClipOp>(*this, getClipAttr()))
    return emitOpError() << getClipAttr() << " is not an nn.clip (C3)";
  if (getObjective() && (static_cast<int64_t>(getObjective()) < 0 || !mayClip))
    return emitOpError() << "of kind " << kindName << " has objective "
                         << static_cast<int64_t>(getObjective())
                         << "; gradients alone have one, from 0 on (C5)";
  Operation *symbol =
      needsSymbol ? tables.lookupNearestSymbolFrom(*this, getSymbolAttr())
                  : nullptr;
  auto table = dyn_cast_or_null<nn::TableOp>(symbol);
  auto badSymbol = [&](StringRef expected) {
    return emitOpError() << "of kind " << kindName << ": " << getSymbolAttr()
                         << " is not " << expected << " (C2)";
  };
  Builder builder(getContext());
  Type expected;
  switch (kind) {
  case ChannelKind::value:
    expected = denseType(symbol);
    if (!expected)
      return badSymbol("an nn.param or nn.state");
    break;
  case ChannelKind::gradient:
  case ChannelKind::delta:
    if (!isa_and_nonnull<nn::ParamOp>(symbol))
      return badSymbol("an nn.param");
    expected = denseType(symbol);
    break;
  case ChannelKind::keys:
  case ChannelKind::changed_keys:
    if (!table)
      return badSymbol("an nn.table");
    expected = vectorOf(builder.getI64Type());
    break;
  case ChannelKind::rows:
  case ChannelKind::row_gradient:
  case ChannelKind::row_delta:
    if (!table)
      return badSymbol("an nn.table");
    expected = rowsOf(table);
    break;
  case ChannelKind::loss:
    expected = RankedTensorType::get({2}, builder.getF64Type());
    break;
  case ChannelKind::partial_norm:
    if (!table && !isa_and_nonnull<nn::ParamOp>(symbol))
      return badSymbol("an nn.param or nn.table");
    expected = vectorOf(builder.getF64Type());
    break;
  case ChannelKind::norm:
    expected = scalar64(getContext());
    break;
  }
  if (kind == ChannelKind::row_gradient && isGradientOf(table, getType()))
    return success();
  if (getType() != expected)
    return emitOpError() << "of kind " << kindName << " carries " << getType()
                         << ", expected " << expected << " (C4)";
  return success();
}

LogicalResult MessageOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto check = [&](ArrayAttr list, bool toServer) -> LogicalResult {
    SmallPtrSet<Attribute, 16> seen;
    for (auto name : list.getAsRange<FlatSymbolRefAttr>()) {
      auto channel = tables.lookupNearestSymbolFrom<ChannelOp>(*this, name);
      if (!channel)
        return emitOpError() << name << " is not a ps.channel (C1)";
      if (channel.getProgram() != getProgram())
        return emitOpError()
               << name << " is a channel of program \"" << channel.getProgram()
               << "\", not of \"" << getProgram() << "\" (C1)";
      if (!(toServer ? channel.goesToServer() : channel.goesToTrainer()))
        return emitOpError()
               << (toServer ? "sends " : "receives ") << name << ", which goes "
               << (toServer ? "to trainers" : "to servers") << " (C1)";
      if (!seen.insert(name).second)
        return emitOpError() << "names " << name << " twice (C1)";
    }
    return success();
  };
  if (failed(check(getSends(), true)) || failed(check(getReceives(), false)))
    return failure();
  SmallPtrSet<Attribute, 16> ahead, sent;
  sent.insert_range(getSends());
  for (Attribute name : getAhead()) {
    if (!sent.contains(name))
      return emitOpError() << "sends " << name
                           << " ahead, but does not send it (C2)";
    if (!ahead.insert(name).second)
      return emitOpError() << "names " << name << " twice (C1)";
  }
  llvm::SmallDenseSet<Attribute> asked;
  for (auto name : getSends().getAsRange<FlatSymbolRefAttr>()) {
    auto channel = tables.lookupNearestSymbolFrom<ChannelOp>(*this, name);
    if (channel.getKind() == ChannelKind::keys &&
        !asked.insert(channel.getSymbolAttr()).second)
      return emitOpError() << "sends keys of " << channel.getSymbolAttr()
                           << " twice (C3)";
  }
  for (auto name : getReceives().getAsRange<FlatSymbolRefAttr>()) {
    auto channel = tables.lookupNearestSymbolFrom<ChannelOp>(*this, name);
    if (channel.getKind() == ChannelKind::changed_keys)
      asked.insert(channel.getSymbolAttr());
    if (channel.getKind() == ChannelKind::rows &&
        !asked.contains(channel.getSymbolAttr()))
      return emitOpError() << "receives rows of " << channel.getSymbolAttr()
                           << ", but sends no keys of it (C3)";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops of a trainer's program
//===----------------------------------------------------------------------===//

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp channel = requireChannel(
      *this, tables, getChannelAttr(),
      {ChannelKind::gradient, ChannelKind::loss, ChannelKind::norm});
  if (!channel)
    return failure();
  return requireTypes(*this, channel, getValues().getTypes());
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp channel = requireChannel(
      *this, tables, getChannelAttr(),
      {ChannelKind::value, ChannelKind::loss, ChannelKind::partial_norm});
  if (!channel)
    return failure();
  return requireTypes(*this, channel, getValues().getTypes());
}

LogicalResult PullOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp rows =
      requireChannel(*this, tables, getChannelAttr(), {ChannelKind::rows});
  if (!rows)
    return failure();
  ChannelOp keys =
      requireChannel(*this, tables, getKeysChannelAttr(), {ChannelKind::keys});
  if (!keys)
    return failure();
  if (rows.getSymbolAttr() != keys.getSymbolAttr())
    return emitOpError() << "asks by keys of " << keys.getSymbolAttr()
                         << " for rows of " << rows.getSymbolAttr() << " (C1)";
  if (failed(requireTypes(*this, keys, getKeys().getType())))
    return failure();
  return requireTypes(*this, rows, getRows().getType());
}

LogicalResult PushOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp channel = requireChannel(*this, tables, getChannelAttr(),
                                     {ChannelKind::row_gradient});
  if (!channel)
    return failure();
  Type keys = vectorOf(IntegerType::get(getContext(), 64));
  if (getKeys().getType() != keys)
    return emitOpError() << "has keys of type " << getKeys().getType()
                         << ", expected " << keys << " (C3)";
  return requireTypes(*this, channel, getGradient().getType());
}

LogicalResult BarrierOp::verify() {
  if (getTokens().empty())
    return emitOpError("waits after no post (C1)");
  return success();
}

LogicalResult JoinNormsOp::verify() {
  if (getPartials().empty())
    return emitOpError("joins nothing (C1)");
  Type expected = vectorOf(Float64Type::get(getContext()));
  for (Type type : getPartials().getTypes())
    if (type != expected)
      return emitOpError() << "joins a " << type << ", expected " << expected
                           << " (C1)";
  return success();
}

/// Verifies the values that an op has for the channels of a list, in order.
static LogicalResult requireListTypes(Operation *op,
                                      SymbolTableCollection &tables,
                                      ArrayAttr channels,
                                      llvm::function_ref<bool(ChannelKind)> has,
                                      TypeRange actual, StringRef what) {
  SmallVector<Type> expected;
  for (auto name : channels.getAsRange<FlatSymbolRefAttr>())
    if (auto channel = tables.lookupNearestSymbolFrom<ChannelOp>(op, name);
        channel && has(channel.getKind()))
      llvm::append_range(expected, valueTypes(channel));
  if (actual == TypeRange(expected))
    return success();
  return op->emitOpError() << "has " << what << " of types (" << actual
                           << "), but the message carries ("
                           << TypeRange(expected) << ") (C1)";
}

LogicalResult WaitOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto message =
      tables.lookupNearestSymbolFrom<MessageOp>(*this, getMessageAttr());
  if (!message)
    return emitOpError() << getMessageAttr() << " is not a ps.message (C1)";
  if (failed(requireListTypes(*this, tables, message.getSends(), isKeys,
                              getKeys().getTypes(), "keys")))
    return failure();
  return requireListTypes(*this, tables, message.getReceives(), isAny,
                          getValues().getTypes(), "results");
}

LogicalResult PostOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto message =
      tables.lookupNearestSymbolFrom<MessageOp>(*this, getMessageAttr());
  if (!message)
    return emitOpError() << getMessageAttr() << " is not a ps.message (C1)";
  return requireListTypes(*this, tables, message.getSends(), isNotKeys,
                          getValues().getTypes(), "operands");
}

/// Returns the kinds of channels that share a symbol.
static SmallVector<ChannelKind> sharedKinds(bool isTable, bool toServer) {
  if (!isTable)
    return {toServer ? ChannelKind::delta : ChannelKind::value};
  return toServer ? SmallVector<ChannelKind>{ChannelKind::keys,
                                             ChannelKind::row_delta}
                  : SmallVector<ChannelKind>{ChannelKind::changed_keys,
                                             ChannelKind::rows};
}

LogicalResult ShareOp::verifySymbolUses(SymbolTableCollection &tables) {
  bool isTable = tables.lookupNearestSymbolFrom<nn::TableOp>(
                     *this, getSymbolAttr()) != nullptr;
  for (bool toServer : {true, false}) {
    ArrayAttr names = toServer ? getSends() : getReceives();
    SmallVector<ChannelKind> kinds = sharedKinds(isTable, toServer);
    // A program sends nothing for a symbol that it does not change. It still
    // receives the symbol, because servers may have loaded other values for it.
    if (toServer && names.empty())
      continue;
    if (names.size() != kinds.size())
      return emitOpError() << (toServer ? "sends " : "receives ")
                           << names.size() << " channels of " << getSymbolAttr()
                           << ", expected " << kinds.size() << " (C1)";
    for (auto [name, kind] :
         llvm::zip_equal(names.getAsRange<FlatSymbolRefAttr>(), kinds)) {
      ChannelOp channel = requireChannel(*this, tables, name, kind);
      if (!channel)
        return failure();
      if (channel.getSymbolAttr() != getSymbolAttr())
        return emitOpError()
               << "shares " << getSymbolAttr() << " through " << name
               << ", a channel of " << channel.getSymbolAttr() << " (C1)";
    }
  }
  return success();
}

LogicalResult ExchangeOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto message =
      tables.lookupNearestSymbolFrom<MessageOp>(*this, getMessageAttr());
  if (!message)
    return emitOpError() << getMessageAttr() << " is not a ps.message (C1)";
  for (ArrayAttr names : {message.getSends(), message.getReceives()})
    for (auto name : names.getAsRange<FlatSymbolRefAttr>())
      if (!requireChannel(*this, tables, name,
                          {ChannelKind::delta, ChannelKind::value,
                           ChannelKind::keys, ChannelKind::row_delta,
                           ChannelKind::changed_keys, ChannelKind::rows}))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Ops of a server
//===----------------------------------------------------------------------===//

LogicalResult HandlerOp::verifyRegions() {
  for (Operation &op : getBody().front())
    if (!isa<MergedOp, PartialNormOp, AddDeltaOp, nn::OnceOp, nn::UpdateOp>(op))
      return op.emitOpError("does not belong on a server: a ps.handler holds "
                            "ps.merged, ps.partial_norm, ps.add_delta, nn.once "
                            "and nn.update only (ps.handler, C2)");
  return success();
}

LogicalResult HandlerOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!getMessageAttr())
    return success();
  auto message =
      tables.lookupNearestSymbolFrom<MessageOp>(*this, getMessageAttr());
  if (!message || message.getProgram() != getProgram())
    return emitOpError() << getMessageAttr() << " is not a message of program "
                         << getProgramAttr() << " (C1)";
  return success();
}

/// Returns true if the channel carries rows, which come with keys.
static bool bringsRows(ChannelOp channel) {
  return channel.getKind() == ChannelKind::row_gradient ||
         channel.getKind() == ChannelKind::row_delta;
}

LogicalResult MergedOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp channel = requireChannel(
      *this, tables, getChannelAttr(),
      {ChannelKind::gradient, ChannelKind::row_gradient, ChannelKind::loss,
       ChannelKind::norm, ChannelKind::delta, ChannelKind::row_delta});
  if (!channel)
    return failure();
  if (!bringsRows(channel))
    return requireTypes(*this, channel, getValues().getTypes());
  auto keys = vectorOf(IntegerType::get(getContext(), 64));
  if (getNumResults() != 2 || getResult(0).getType() != keys)
    return emitOpError() << "gives the keys, " << keys
                         << ", and the rows of a row_gradient (C2)";
  return requireTypes(*this, channel, getResult(1).getType());
}

LossSums MergedOp::getLossSums() { return LossSums::of(getValues()); }

Value MergedOp::getKeys() {
  // Only rows come with integers (C2).
  const bool isOfRows =
      getElementTypeOrSelf(getResult(0).getType()).isInteger(64);
  return isOfRows ? getResult(0) : Value();
}

Value MergedOp::getGradient() { return getValues().back(); }

Value MergedOp::getDelta() { return getValues().back(); }

Value MergedOp::getNorm() { return getResult(0); }

LogicalResult AddDeltaOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *symbol = tables.lookupNearestSymbolFrom(*this, getSymbolAttr());
  auto table = dyn_cast_or_null<nn::TableOp>(symbol);
  if (!table && !isa_and_nonnull<nn::ParamOp>(symbol))
    return emitOpError() << getSymbolAttr()
                         << " is neither an nn.param nor an nn.table (C1)";
  if (bool(table) != bool(getKeys()))
    return emitOpError() << (table ? "adds to rows of " : "adds to parameter ")
                         << getSymbolAttr()
                         << (table ? " without keys (C1)" : " by keys (C1)");
  RankedTensorType expected = table ? rowsOf(table) : denseType(symbol);
  if (getDelta().getType() != expected)
    return emitOpError() << "adds a " << getDelta().getType() << " to "
                         << getSymbolAttr() << ", expected " << expected
                         << " (C2)";
  return success();
}

LogicalResult PartialNormOp::verifySymbolUses(SymbolTableCollection &tables) {
  ChannelOp channel = requireChannel(*this, tables, getChannelAttr(),
                                     {ChannelKind::partial_norm});
  if (!channel)
    return failure();
  FlatSymbolRefAttr name = channel.getSymbolAttr();
  Operation *symbol = tables.lookupNearestSymbolFrom(*this, name);
  auto table = dyn_cast_or_null<nn::TableOp>(symbol);
  RankedTensorType expected = table ? rowsOf(table) : denseType(symbol);
  if (table && isGradientOf(table, getGradient().getType()))
    return success();
  if (getGradient().getType() != expected)
    return emitOpError() << "answers for " << name << " with a "
                         << getGradient().getType() << ", expected " << expected
                         << " (C2)";
  return success();
}
