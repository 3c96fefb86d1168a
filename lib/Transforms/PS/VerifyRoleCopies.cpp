//===- VerifyRoleCopies.cpp - Verify roles with copies of the state -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

static bool isDelta(ChannelKind kind) {
  return kind == ChannelKind::delta || kind == ChannelKind::row_delta;
}

//===----------------------------------------------------------------------===//
// Trainers
//===----------------------------------------------------------------------===//

/// Verifies that an exchange sends the changes of exactly the symbols that the
/// program updates, and receives the values of all of them.
static LogicalResult verifyCarried(nn::ProgramOp program,
                                   const SymbolTable &symbols,
                                   ps::MessageOp message) {
  // Sent and received channels by symbol.
  llvm::SmallMapVector<Attribute, ps::ChannelOp, 16> sent, received;
  for (Attribute name : message.getSends())
    if (ps::ChannelOp channel = ps::lookupChannel(symbols, name);
        isDelta(channel.getKind()))
      sent[channel.getSymbolAttr()] = channel;
  for (Attribute name : message.getReceives())
    if (ps::ChannelOp channel = ps::lookupChannel(symbols, name);
        channel.getKind() != ChannelKind::changed_keys)
      received[channel.getSymbolAttr()] = channel;
  SmallPtrSet<Attribute, 16> updated;
  for (auto update : program.getBody().getOps<nn::UpdateOp>()) {
    FlatSymbolRefAttr symbol = update.getSymbolAttr();
    for (auto [list, why] :
         {std::pair(&sent, "does not send the changes of "),
          std::pair(&received, "does not receive what others change of ")})
      if (!list->count(symbol))
        return failWithNote(message.emitOpError() << "@" << message.getSymName()
                                                  << " " << why << symbol,
                            update, "it is updated here");
    updated.insert(symbol);
  }
  for (auto &[symbol, channel] : sent) {
    if (updated.contains(symbol))
      continue;
    return channel.emitOpError()
           << "@" << channel.getSymName() << " sends changes of "
           << cast<FlatSymbolRefAttr>(symbol) << ", which program @"
           << program.getSymName() << " does not update";
  }
  return success();
}

static LogicalResult verifyCopy(nn::ProgramOp program, Role &trainer) {
  ps::ExchangeOp exchange;
  Operation *first = nullptr;
  for (Operation &op : program.getBody().front()) {
    if (isa<nn::ReadOp, nn::UpdateOp>(op) && !first)
      first = &op;
    if (isa<ps::ShareOp>(op))
      return op.emitOpError(
          "is not part of a message: run ps-fuse-messages first");
    if (!isa_and_nonnull<ps::PSDialect>(op.getDialect()))
      continue;
    auto found = dyn_cast<ps::ExchangeOp>(op);
    if (!found)
      return op.emitOpError(
          "takes state for that of servers; trainers of this "
          "mode have a copy, whose changes ps.exchange sends");
    if (program.getFrozen())
      return found.emitOpError("sends from a frozen program, which only reads");
    if (exchange)
      return failWithNote(found.emitOpError("is a second one in a step"),
                          exchange, "the first one is here");
    if (first)
      return failWithNote(
          found.emitOpError("stands within a step: what it sends, and what it "
                            "changes, is the state between two steps"),
          first, "the step has begun here");
    exchange = found;
  }
  ps::MessageOp message;
  for (auto each : trainer.module.getOps<ps::MessageOp>()) {
    if (each.getProgram() != program.getSymName())
      continue;
    if (!exchange ||
        exchange.getMessageAttr().getAttr() != each.getSymNameAttr())
      return each.emitOpError()
             << "@" << each.getSymName() << " is not exchanged by program @"
             << program.getSymName();
    message = each;
  }
  if (exchange && !message)
    return exchange.emitOpError() << "exchanges " << exchange.getMessageAttr()
                                  << ", which is of another program";
  if (exchange)
    return verifyCarried(program, trainer.symbols, message);
  for (auto update : program.getBody().getOps<nn::UpdateOp>())
    return update.emitOpError()
           << "changes " << update.getSymbolAttr()
           << " in a program that exchanges nothing with servers";
  return success();
}

static LogicalResult verifyCopies(RolePair &roles) {
  return verifyTrainerOps(roles, [&](nn::ProgramOp program) {
    return verifyCopy(program, roles.trainer);
  });
}

//===----------------------------------------------------------------------===//
// Servers
//===----------------------------------------------------------------------===//

namespace {
/// A program and a symbol.
using ProgramSymbol = std::pair<StringAttr, StringAttr>;
/// Changes of each symbol, by program.
using Added = llvm::DenseMap<ProgramSymbol, ps::AddDeltaOp>;
/// Channels of keys, one per table of a program.
using KeyChannels = llvm::DenseMap<ProgramSymbol, ps::ChannelOp>;
} // namespace

static LogicalResult verifyAdd(ps::HandlerOp handler, ps::AddDeltaOp add,
                               Role &pserver, const KeyChannels &keyChannels,
                               Added &added) {
  FlatSymbolRefAttr symbol = add.getSymbolAttr();
  auto [first, isNew] =
      added.try_emplace({handler.getProgramAttr(), symbol.getAttr()}, add);
  if (!isNew)
    return failWithNote(add.emitOpError()
                            << "adds to " << symbol << " a second time",
                        first->second, "the first time is here");
  auto merged = add.getDelta().getDefiningOp<ps::MergedOp>();
  if (!merged)
    return add.emitOpError("adds what no channel brings");
  ps::ChannelOp channel =
      ps::lookupChannel(pserver.symbols, merged.getChannelAttr());
  if (channel.getProgram() != handler.getProgram())
    return merged.emitOpError()
           << "uses a channel of program \"" << channel.getProgram()
           << "\" in a handler of \"" << handler.getProgram() << "\"";
  if (!isDelta(channel.getKind()) || channel.getSymbolAttr() != symbol)
    return failWithNote(add.emitOpError() << "adds to " << symbol
                                          << " what is no change of " << symbol,
                        merged, "it is received here");
  if (add.getKeys() && add.getKeys() != merged.getKeys())
    return failWithNote(add.emitOpError()
                            << "adds to rows of " << symbol
                            << " of other keys than the changes came with",
                        merged, "the changes are received here");
  ps::MessageOp sender = pserver.senders.lookup(channel.getSymNameAttr());
  if (sender.getSymNameAttr() != handler.getMessageAttr().getAttr())
    return failWithNote(merged.emitOpError()
                            << "uses " << merged.getChannelAttr()
                            << ", which does not come with "
                            << handler.getMessageAttr(),
                        sender, "this one brings it");
  // Servers find the rows by the keys of the same request.
  if (!add.getKeys())
    return success();
  ps::ChannelOp keys =
      keyChannels.lookup({handler.getProgramAttr(), symbol.getAttr()});
  if (!keys || pserver.senders.lookup(keys.getSymNameAttr()) != sender)
    return sender.emitOpError()
           << "@" << sender.getSymName() << " sends changes of rows of "
           << symbol << " without their keys";
  return success();
}

static LogicalResult verifyAdded(Role &pserver) {
  Added added;
  KeyChannels keyChannels;
  for (auto channel : pserver.module.getOps<ps::ChannelOp>())
    if (channel.getKind() == ChannelKind::keys)
      keyChannels[{channel.getProgramAttr(),
                   channel.getSymbolAttr().getAttr()}] = channel;
  for (Operation &op : *pserver.module.getBody()) {
    if (isa<nn::ProgramOp, nn::RecordOp, nn::MetricOp, nn::GroupOp, nn::RuleOp,
            nn::ScheduleOp>(op))
      return op.emitOpError("belongs to trainers, but stands in @pserver");
    auto handler = dyn_cast<ps::HandlerOp>(op);
    if (!handler)
      continue;
    if (failed(verifyHasMessage(handler)))
      return failure();
    for (Operation &inner : handler.getBody().front()) {
      if (auto add = dyn_cast<ps::AddDeltaOp>(inner)) {
        if (failed(verifyAdd(handler, add, pserver, keyChannels, added)))
          return failure();
      } else if (!isa<ps::MergedOp>(inner)) {
        return inner.emitOpError(
            "applies a rule on a server, which trainers of "
            "this mode do");
      }
    }
  }
  for (auto channel : pserver.module.getOps<ps::ChannelOp>())
    if (isDelta(channel.getKind()) &&
        !added.contains(
            {channel.getProgramAttr(), channel.getSymbolAttr().getAttr()}))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " brings changes of "
             << channel.getSymbolAttr() << ", which no handler adds";
  return success();
}

LogicalResult pdlc::verifyRoleCopies(RolePair &roles) {
  return success(succeeded(verifyCopies(roles)) &&
                 succeeded(verifyAdded(roles.pserver)));
}
