//===- VerifyRoleChannels.cpp - Verify the messages of both roles ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"
#include "llvm/ADT/MapVector.h"

#include <tuple>

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

namespace {
/// Channels of a program, with indexes to find duplicates.
struct ProgramChannels {
  SmallVector<ps::ChannelOp> all;
  llvm::DenseMap<Attribute, ps::ChannelOp> byNumber;
  /// Channels by kind, symbol and clip.
  llvm::DenseMap<std::tuple<unsigned, Attribute, Attribute>, ps::ChannelOp>
      byContent;
};
} // namespace

static LogicalResult verifyNumbers(Role &role) {
  llvm::MapVector<StringAttr, ProgramChannels> byProgram;
  for (auto channel : role.module.getOps<ps::ChannelOp>()) {
    ProgramChannels &channels = byProgram[channel.getProgramAttr()];
    auto [number, isNewNumber] =
        channels.byNumber.try_emplace(channel.getNumberAttr(), channel);
    if (!isNewNumber)
      return failWithNote(channel.emitOpError()
                              << "@" << channel.getSymName()
                              << " has the number " << channel.getNumber()
                              << " of channel @" << number->second.getSymName(),
                          number->second, "that one is here");
    channels.all.push_back(channel);
    // There is one channel of losses per objective.
    if (channel.getKind() == ChannelKind::loss)
      continue;
    auto [content, isNewContent] = channels.byContent.try_emplace(
        {static_cast<unsigned>(channel.getKind()), channel.getSymbolAttr(),
         channel.getClipAttr()},
        channel);
    if (!isNewContent)
      return failWithNote(channel.emitOpError() << "@" << channel.getSymName()
                                                << " carries what channel @"
                                                << content->second.getSymName()
                                                << " carries already",
                          content->second, "that one is here");
  }
  for (auto &[program, ofProgram] : byProgram)
    for (ArrayRef<ps::ChannelOp> channels = ofProgram.all;
         ps::ChannelOp channel : channels)
      if (channel.getNumber() >= channels.size())
        return channel.emitOpError()
               << "@" << channel.getSymName() << " has number "
               << channel.getNumber() << ", but program \""
               << program.getValue() << "\" has " << channels.size()
               << " channels, numbered from 0";
  return success();
}

static LogicalResult verifySameChannels(Role &trainer, Role &pserver) {
  for (auto [from, to, here, there] :
       {std::tuple(&trainer, &pserver, "@trainer", "@pserver"),
        std::tuple(&pserver, &trainer, "@pserver", "@trainer")})
    for (auto channel : from->module.getOps<ps::ChannelOp>()) {
      auto twin = to->symbols.lookup<ps::ChannelOp>(channel.getSymName());
      if (!twin)
        return channel.emitOpError()
               << "@" << channel.getSymName() << " is declared in " << here
               << ", but not in " << there;
      auto differ = [&](StringRef what, auto ours, auto theirs) {
        return failWithNote(channel.emitOpError()
                                << "@" << channel.getSymName() << " has "
                                << what << " " << ours << " in " << here
                                << ", but " << theirs << " in " << there,
                            twin, "the other declaration is here");
      };
      if (channel.getNumber() != twin.getNumber())
        return differ("number", channel.getNumber(), twin.getNumber());
      if (channel.getKind() != twin.getKind())
        return differ("kind", ps::stringifyChannelKind(channel.getKind()),
                      ps::stringifyChannelKind(twin.getKind()));
      if (channel.getType() != twin.getType())
        return differ("type", channel.getType(), twin.getType());
      if (channel->getAttrDictionary() != twin->getAttrDictionary())
        return failWithNote(channel.emitOpError()
                                << "@" << channel.getSymName() << " in " << here
                                << " belongs to something else than in "
                                << there,
                            twin, "the other declaration is here");
    }
  return success();
}

static LogicalResult verifySameMessages(Role &trainer, Role &pserver) {
  for (auto [from, to, here, there] :
       {std::tuple(&trainer, &pserver, "@trainer", "@pserver"),
        std::tuple(&pserver, &trainer, "@pserver", "@trainer")})
    for (auto message : from->module.getOps<ps::MessageOp>()) {
      auto twin = to->symbols.lookup<ps::MessageOp>(message.getSymName());
      if (!twin)
        return message.emitOpError()
               << "@" << message.getSymName() << " is declared in " << here
               << ", but not in " << there;
      for (StringRef list : {"sends", "ahead", "receives"})
        if (message->getAttr(list) != twin->getAttr(list))
          return failWithNote(
              message.emitOpError()
                  << "@" << message.getSymName() << " " << list
                  << " other channels, or in another order, than in " << there,
              twin, "the other declaration is here");
      if (message->getAttrDictionary() != twin->getAttrDictionary())
        return failWithNote(message.emitOpError()
                                << "@" << message.getSymName()
                                << " forms rounds in one role only",
                            twin, "the other declaration is here");
    }
  return success();
}

/// Verifies that messages send each channel in the direction of its kind, and
/// that only one message sends and one receives it.
static LogicalResult verifyTravel(Role &role) {
  llvm::DenseMap<StringAttr, ps::MessageOp> sent, received;
  for (auto message : role.module.getOps<ps::MessageOp>())
    for (auto [list, seen, verb] :
         {std::tuple(message.getSends(), &sent, "sent"),
          std::tuple(message.getReceives(), &received, "received")})
      for (auto name : list.getAsRange<FlatSymbolRefAttr>()) {
        auto [first, isNew] = seen->try_emplace(name.getAttr(), message);
        if (!isNew)
          return failWithNote(message.emitOpError()
                                  << "@" << message.getSymName() << ": " << name
                                  << " is " << verb << " by message @"
                                  << first->second.getSymName() << " already",
                              first->second, "that one is here");
      }
  for (auto channel : role.module.getOps<ps::ChannelOp>()) {
    StringAttr name = channel.getSymNameAttr();
    if (channel.goesToServer() && !sent.contains(name))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " of kind "
             << ps::stringifyChannelKind(channel.getKind())
             << " goes to servers, but no message sends it";
    if (channel.goesToTrainer() && !received.contains(name))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " of kind "
             << ps::stringifyChannelKind(channel.getKind())
             << " goes to trainers, but no message receives it";
  }
  return success();
}

/// Returns true if trainers send more than keys in a message. Such a message
/// ends a step.
static bool sendsResults(ps::MessageOp message, const SymbolTable &symbols) {
  return llvm::any_of(message.getSends(), [&](Attribute name) {
    return ps::lookupChannel(symbols, name).getKind() != ChannelKind::keys;
  });
}

/// Verifies the attribute `round` of a message. A message forms rounds exactly
/// if it sends results and the mode sums results in rounds (sync, but not
/// async).
static LogicalResult verifyRounds(ps::MessageOp message,
                                  const SymbolTable &symbols,
                                  const ps::ModeProperties &mode) {
  bool expected = mode.stepsAreRounds && sendsResults(message, symbols);
  if (message.getRound() == expected)
    return success();
  if (expected)
    return message.emitOpError() << "@" << message.getSymName()
                                 << " forms no rounds, although in mode sync "
                                    "the sums of all trainers "
                                    "are what servers go on with";
  return message.emitOpError()
         << "@" << message.getSymName()
         << (mode.stepsAreRounds
                 ? std::string(
                       " forms rounds, but sends nothing that could be summed")
                 : std::string(" forms rounds in mode ") + mode.name +
                       ", where each request is applied by itself");
}

/// Verifies a message that ends a step. It sends the keys of the next step,
/// marked as `ahead`; in mode geo, keys belong to changed rows and are not
/// ahead. It receives nothing that the current step still needs.
static LogicalResult verifyAhead(ps::MessageOp message,
                                 const SymbolTable &symbols,
                                 const ps::ModeProperties &mode) {
  bool endsStep = sendsResults(message, symbols);
  SmallPtrSet<Attribute, 16> ahead;
  ahead.insert_range(message.getAhead());
  for (auto name : message.getSends().getAsRange<FlatSymbolRefAttr>()) {
    bool isKeys =
        ps::lookupChannel(symbols, name).getKind() == ChannelKind::keys;
    bool isAhead = ahead.contains(name);
    if (isAhead && !isKeys)
      return message.emitOpError()
             << "@" << message.getSymName() << " sends " << name
             << " ahead, but only keys of the next step are known before it";
    if (isAhead && !endsStep)
      return message.emitOpError()
             << "@" << message.getSymName() << " sends " << name
             << " ahead, but no results that would end the step before";
    // If trainers apply, keys are those of rows that a completed step has
    // changed, so they cannot be sent before it.
    if (isKeys && isAhead && mode.trainersApply)
      return message.emitOpError()
             << "@" << message.getSymName() << " sends " << name
             << " ahead, but they are the keys of rows that were changed";
    if (isKeys && endsStep && !isAhead && !mode.trainersApply)
      return message.emitOpError()
             << "@" << message.getSymName() << " sends " << name
             << " with the results of a step, but not ahead: its rows would be "
                "those of a step that is over";
  }
  FlatSymbolRefAttr partial, state;
  for (auto name : message.getReceives().getAsRange<FlatSymbolRefAttr>()) {
    ChannelKind kind = ps::lookupChannel(symbols, name).getKind();
    if (kind == ChannelKind::partial_norm)
      partial = name;
    else if (kind == ChannelKind::value || kind == ChannelKind::rows)
      state = name;
  }
  if (partial && state)
    return message.emitOpError()
           << "@" << message.getSymName() << " brings " << partial
           << ", which the step still needs, together with " << state
           << ", with which the next one begins";
  return success();
}

LogicalResult pdlc::verifyRoleChannels(RolePair &roles) {
  if (failed(verifySameChannels(roles.trainer, roles.pserver)) ||
      failed(verifyNumbers(roles.trainer)) ||
      failed(verifySameMessages(roles.trainer, roles.pserver)) ||
      failed(verifyTravel(roles.trainer)))
    return failure();
  for (auto message : roles.trainer.module.getOps<ps::MessageOp>())
    if (failed(verifyRounds(message, roles.trainer.symbols, roles.mode)) ||
        failed(verifyAhead(message, roles.trainer.symbols, roles.mode)))
      return failure();
  return success();
}
