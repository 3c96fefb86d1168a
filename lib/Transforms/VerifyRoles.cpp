//===- VerifyRoles.cpp - The roles fit together ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_PSVERIFYROLES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

/// Fails with a note at the other op.
static LogicalResult failWithNote(InFlightDiagnostic diagnostic,
                                  Operation *other, const Twine &note) {
  diagnostic.attachNote(other->getLoc()) << note;
  return failure();
}

namespace {

/// One role's declarations, by name.
struct Role {
  explicit Role(ModuleOp module) : module(module), symbols(module) {}

  ModuleOp module;
  SymbolTable symbols;
};

struct VerifyRoles : pdlc::impl::PSVerifyRolesBase<VerifyRoles> {
  void runOnOperation() override {
    if (failed(verify()))
      signalPassFailure();
  }

private:
  LogicalResult verify();
  /// The module of a role; says why there is none, and returns null.
  ModuleOp findRole(StringRef name);
  LogicalResult verifySameLayout(Role &trainer, Role &pserver);
  LogicalResult verifyUnits(Role &role);
  LogicalResult verifySameUnits(Role &trainer, Role &pserver);
  LogicalResult verifyNumbers(Role &role);
  LogicalResult verifySameChannels(Role &trainer, Role &pserver);
  LogicalResult verifySameMessages(Role &trainer, Role &pserver);
  LogicalResult verifyTravel(Role &role);
  LogicalResult verifyTrainer(Role &trainer);
  LogicalResult verifyProgram(nn::ProgramOp program, Role &trainer);
  LogicalResult verifyOrder(nn::ProgramOp program, ps::MessageOp message,
                            ps::WaitOp wait, ps::PostOp post);
  LogicalResult verifyHandlers(Role &pserver);
  LogicalResult verifyScalars(nn::OnceOp once, Role &pserver);
  LogicalResult verifyUpdates(ps::HandlerOp handler, Role &pserver);
  /// That a gradient's channel says the clip which a worker takes it into.
  LogicalResult verifyClip(ps::ChannelOp gradient, Role &pserver);
};

} // namespace

//===----------------------------------------------------------------------===//
// Layouts and units
//===----------------------------------------------------------------------===//

ModuleOp VerifyRoles::findRole(StringRef name) {
  ModuleOp found;
  for (auto module : getOperation().getOps<ModuleOp>()) {
    auto role = module->getAttrOfType<StringAttr>(ps::PSDialect::kRoleAttrName);
    if (!role) {
      module.emitOpError(
          "says no role: expected ps.role = \"trainer\" or \"pserver\"");
      return {};
    }
    if (role.getValue() != name)
      continue;
    if (found) {
      (void)failWithNote(module.emitOpError()
                             << "is a second module of role " << name,
                         found, "the first one is here");
      return {};
    }
    found = module;
  }
  if (!found)
    getOperation().emitError()
        << "holds no module of role " << name << ": run ps-outline-roles first";
  return found;
}

LogicalResult VerifyRoles::verifySameLayout(Role &trainer, Role &pserver) {
  auto check = [](Operation *op, Role &other, StringRef attribute,
                  StringRef where) -> LogicalResult {
    StringAttr name = SymbolTable::getSymbolName(op);
    Operation *twin = other.symbols.lookup(name);
    if (!twin || twin->getName() != op->getName())
      return op->emitOpError()
             << "@" << name.getValue() << " is not declared in " << where;
    if (!attribute.empty() &&
        op->getAttr(attribute) != twin->getAttr(attribute))
      return failWithNote(op->emitOpError()
                              << "@" << name.getValue() << " has " << attribute
                              << " " << op->getAttr(attribute) << ", but "
                              << twin->getAttr(attribute) << " in " << where,
                          twin, "the other declaration is here");
    // The group is the servers' business.
    auto withoutGroup = [](Operation *declaration) {
      NamedAttrList attributes(declaration->getAttrDictionary());
      attributes.erase("group");
      return attributes.getDictionary(declaration->getContext());
    };
    if (withoutGroup(op) != withoutGroup(twin))
      return failWithNote(op->emitOpError()
                              << "@" << name.getValue()
                              << " is declared in another way in " << where,
                          twin, "the other declaration is here");
    return success();
  };
  for (auto [from, to, where] : {std::tuple(&trainer, &pserver, "@pserver"),
                                 std::tuple(&pserver, &trainer, "@trainer")})
    for (Operation &op : *from->module.getBody()) {
      StringRef attribute;
      if (isa<nn::ParamOp, nn::StateOp>(op))
        attribute = "type";
      else if (isa<nn::TableOp>(op))
        attribute = "row";
      else if (!isa<nn::ClipOp>(op))
        continue;
      if (failed(check(&op, *to, attribute, where)))
        return failure();
    }
  return success();
}

LogicalResult VerifyRoles::verifyUnits(Role &role) {
  llvm::DenseMap<Attribute, Operation *> cut;
  for (Operation &op : *role.module.getBody()) {
    if (!isa<ps::BlocksOp, ps::ShardsOp>(op))
      continue;
    Attribute symbol = op.getAttr("symbol");
    auto [first, isNew] = cut.try_emplace(symbol, &op);
    if (!isNew)
      return failWithNote(op.emitOpError()
                              << "cuts " << symbol
                              << " a second time: each unit has one owner",
                          first->second, "the first time is here");
  }
  for (Operation &op : *role.module.getBody())
    if (isa<nn::ParamOp, nn::StateOp, nn::TableOp>(op) &&
        !cut.contains(FlatSymbolRefAttr::get(SymbolTable::getSymbolName(&op))))
      return op.emitOpError()
             << "@" << SymbolTable::getSymbolName(&op).getValue()
             << " is not cut into units, so that no server owns it";
  return success();
}

LogicalResult VerifyRoles::verifySameUnits(Role &trainer, Role &pserver) {
  auto unitsOf = [](Role &role) {
    SmallVector<Operation *> units;
    for (Operation &op : *role.module.getBody())
      if (isa<ps::BlocksOp, ps::ShardsOp>(op))
        units.push_back(&op);
    return units;
  };
  // All symbols of both are there and cut once, so the lists are equally long.
  for (auto [ours, theirs] : llvm::zip(unitsOf(trainer), unitsOf(pserver))) {
    if (ours->getAttr("symbol") != theirs->getAttr("symbol"))
      return failWithNote(
          theirs->emitOpError()
              << "cuts " << theirs->getAttr("symbol") << " where @trainer cuts "
              << ours->getAttr("symbol") << ": both place units in one order",
          ours, "in @trainer");
    if (ours->getAttrDictionary() != theirs->getAttrDictionary())
      return failWithNote(theirs->emitOpError()
                              << "cuts " << theirs->getAttr("symbol")
                              << " in another way than @trainer does",
                          ours, "in @trainer");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Channels and messages
//===----------------------------------------------------------------------===//

LogicalResult VerifyRoles::verifyNumbers(Role &role) {
  llvm::MapVector<StringAttr, SmallVector<ps::ChannelOp>> byProgram;
  for (auto channel : role.module.getOps<ps::ChannelOp>()) {
    SmallVector<ps::ChannelOp> &channels = byProgram[channel.getProgramAttr()];
    for (ps::ChannelOp earlier : channels) {
      if (earlier.getNumber() == channel.getNumber())
        return failWithNote(channel.emitOpError()
                                << "@" << channel.getSymName()
                                << " has the number " << channel.getNumber()
                                << " of channel @" << earlier.getSymName(),
                            earlier, "that one is here");
      if (earlier.getKind() == channel.getKind() &&
          earlier.getSymbolAttr() == channel.getSymbolAttr() &&
          earlier.getClipAttr() == channel.getClipAttr())
        return failWithNote(channel.emitOpError()
                                << "@" << channel.getSymName()
                                << " carries what channel @"
                                << earlier.getSymName() << " carries already",
                            earlier, "that one is here");
    }
    channels.push_back(channel);
  }
  for (auto &[program, channels] : byProgram)
    for (ps::ChannelOp channel : channels)
      if (channel.getNumber() >= channels.size())
        return channel.emitOpError()
               << "@" << channel.getSymName() << " has number "
               << channel.getNumber() << ", but program \""
               << program.getValue() << "\" has " << channels.size()
               << " channels, numbered from 0";
  return success();
}

LogicalResult VerifyRoles::verifySameChannels(Role &trainer, Role &pserver) {
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

LogicalResult VerifyRoles::verifySameMessages(Role &trainer, Role &pserver) {
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

/// Each channel goes where its kind says, in exactly one message a direction.
LogicalResult VerifyRoles::verifyTravel(Role &role) {
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

//===----------------------------------------------------------------------===//
// The trainer's programs
//===----------------------------------------------------------------------===//

LogicalResult VerifyRoles::verifyTrainer(Role &trainer) {
  for (Operation &op : *trainer.module.getBody()) {
    if (isa<ps::HandlerOp, nn::GroupOp, nn::RuleOp, nn::ScheduleOp>(op))
      return op.emitOpError("belongs to servers, but stands in @trainer");
    if (auto program = dyn_cast<nn::ProgramOp>(op))
      if (failed(verifyProgram(program, trainer)))
        return failure();
  }
  for (auto channel : trainer.module.getOps<ps::ChannelOp>())
    if (!trainer.symbols.lookup<nn::ProgramOp>(channel.getProgram()))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " is of program \""
             << channel.getProgram() << "\", which @trainer does not have";
  return success();
}

LogicalResult VerifyRoles::verifyProgram(nn::ProgramOp program, Role &trainer) {
  llvm::DenseMap<StringAttr, ps::WaitOp> waits;
  llvm::DenseMap<StringAttr, ps::PostOp> posts;
  auto record = [](auto &seen, auto op, StringRef verb) -> LogicalResult {
    auto [first, isNew] = seen.try_emplace(op.getMessageAttr().getAttr(), op);
    if (isNew)
      return success();
    return failWithNote(op.emitOpError()
                            << verb << " message " << op.getMessageAttr()
                            << " a second time in a step",
                        first->second, "the first time is here");
  };
  for (Operation &op : program.getBody().front()) {
    if (isa<nn::ReadOp, nn::PullOp>(op))
      return op.emitOpError(
          "reads state that lives on servers; ps.recv and ps.pull bring it");
    if (isa<nn::OnceOp, nn::UpdateOp>(op))
      return op.emitOpError("updates state in a trainer; servers own it");
    if (isa<ps::SendOp, ps::RecvOp, ps::PullOp, ps::PushOp, ps::BarrierOp>(op))
      return op.emitOpError(
          "is not part of a message: run ps-fuse-messages first");
    if (auto wait = dyn_cast<ps::WaitOp>(op)) {
      if (failed(record(waits, wait, "awaits")))
        return failure();
    } else if (auto post = dyn_cast<ps::PostOp>(op)) {
      if (program.getFrozen())
        return post.emitOpError(
            "sends from a frozen program, which only reads");
      if (failed(record(posts, post, "posts")))
        return failure();
    }
  }
  for (auto message : trainer.module.getOps<ps::MessageOp>()) {
    if (message.getProgram() != program.getSymName())
      continue;
    ps::WaitOp wait = waits.lookup(message.getSymNameAttr());
    ps::PostOp post = posts.lookup(message.getSymNameAttr());
    waits.erase(message.getSymNameAttr());
    posts.erase(message.getSymNameAttr());
    if (!message.getReceives().empty() && !wait)
      return message.emitOpError()
             << "@" << message.getSymName()
             << " is answered, but nothing awaits it in program @"
             << program.getSymName();
    bool postsSomething = llvm::any_of(message.getSends(), [&](Attribute name) {
      return ps::lookupChannel(message, name).getKind() != ChannelKind::keys;
    });
    if (postsSomething && !post)
      return message.emitOpError()
             << "@" << message.getSymName()
             << " carries results to servers, but nothing posts it in program @"
             << program.getSymName();
    if (wait && failed(verifyOrder(program, message, wait, post)))
      return failure();
  }
  for (auto &[name, wait] : waits)
    return wait.emitOpError()
           << "awaits message @" << name.getValue() << " of another program";
  for (auto &[name, post] : posts)
    return post.emitOpError()
           << "posts message @" << name.getValue() << " of another program";
  return success();
}

/// The first op that `value` needs and that waits for `message`, null if none
/// does.
static Operation *findDependence(Value value, StringAttr message) {
  llvm::SetVector<Value> slice;
  slice.insert(value);
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    if (!op)
      continue;
    auto wait = dyn_cast<ps::WaitOp>(op);
    if (wait && (!message || wait.getMessageAttr().getAttr() == message))
      return wait;
    // What is sent by a message depends on what that message waited for.
    slice.insert(op->operand_begin(), op->operand_end());
  }
  return nullptr;
}

LogicalResult VerifyRoles::verifyOrder(nn::ProgramOp program,
                                       ps::MessageOp message, ps::WaitOp wait,
                                       ps::PostOp post) {
  for (Value keys : wait.getKeys())
    if (Operation *other = findDependence(keys, {}))
      return failWithNote(
          wait.emitOpError()
              << "asks by keys that need what servers send; keys come from "
                 "fields alone, so that they can be sent a step ahead",
          other, "the keys depend on this");
  if (!post)
    return success();
  // Values and rows are those that the next step begins with.
  bool bringsState = llvm::any_of(message.getReceives(), [&](Attribute name) {
    ChannelKind kind = ps::lookupChannel(message, name).getKind();
    return kind == ChannelKind::value || kind == ChannelKind::rows;
  });
  if (message.getAhead().empty() && !bringsState) {
    // Posted and awaited within the step.
    if (!post->isBeforeInBlock(wait))
      return failWithNote(wait.emitOpError()
                              << "waits for message @" << message.getSymName()
                              << " before it is posted: it waits for ever",
                          post, "it is posted here");
    for (Value value : post.getValues())
      if (Operation *other = findDependence(value, message.getSymNameAttr()))
        return failWithNote(post.emitOpError()
                                << "sends what depends on the answer to it",
                            other, "the answer");
    return success();
  }
  // What a step posts is answered at the entry of the next one.
  if (!wait->isBeforeInBlock(post))
    return failWithNote(
        wait.emitOpError()
            << "waits for message @" << message.getSymName()
            << " behind its post, although it brings what the next step begins "
               "with",
        post, "it is posted here");
  return success();
}

//===----------------------------------------------------------------------===//
// The servers' handlers
//===----------------------------------------------------------------------===//

LogicalResult VerifyRoles::verifyHandlers(Role &pserver) {
  llvm::DenseMap<StringAttr, Operation *> used;
  llvm::DenseMap<std::pair<StringAttr, StringAttr>, Operation *> updated;
  for (Operation &op : *pserver.module.getBody()) {
    if (isa<nn::ProgramOp, nn::RecordOp, nn::MetricOp>(op))
      return op.emitOpError("belongs to trainers, but stands in @pserver");
    auto handler = dyn_cast<ps::HandlerOp>(op);
    if (!handler)
      continue;
    if (!handler.getMessageAttr())
      return handler.emitOpError()
             << "@" << handler.getSymName()
             << " runs on no message: run ps-fuse-messages first";
    if (failed(verifyUpdates(handler, pserver)))
      return failure();
    for (Operation &inner : handler.getBody().front()) {
      auto channel = inner.getAttrOfType<FlatSymbolRefAttr>("channel");
      if (channel)
        used[channel.getAttr()] = &inner;
      if (auto update = dyn_cast<nn::UpdateOp>(inner)) {
        auto [first, isNew] = updated.try_emplace(
            {handler.getProgramAttr(), update.getSymbolAttr().getAttr()},
            update);
        if (!isNew)
          return failWithNote(update.emitOpError()
                                  << "updates " << update.getSymbolAttr()
                                  << " a second time in a step",
                              first->second, "the first time is here");
      }
    }
  }
  for (auto channel : pserver.module.getOps<ps::ChannelOp>()) {
    ChannelKind kind = channel.getKind();
    // Keys and rows, and the values themselves, need no code.
    if (kind == ChannelKind::keys || kind == ChannelKind::rows ||
        kind == ChannelKind::value)
      continue;
    if (!used.contains(channel.getSymNameAttr()))
      return channel.emitOpError() << "@" << channel.getSymName() << " of kind "
                                   << ps::stringifyChannelKind(kind)
                                   << " has no handler that uses it";
    if (kind != ChannelKind::gradient && kind != ChannelKind::row_gradient)
      continue;
    if (!updated.contains(
            {channel.getProgramAttr(), channel.getSymbolAttr().getAttr()}))
      return channel.emitOpError()
             << "@" << channel.getSymName() << " brings gradients of "
             << channel.getSymbolAttr() << ", which no handler updates";
  }
  return success();
}

/// The channel that brings `value` to a handler, null if none does.
static ps::ChannelOp channelOf(Value value) {
  auto merged = value.getDefiningOp<ps::MergedOp>();
  return merged ? ps::lookupChannel(merged, merged.getChannelAttr())
                : ps::ChannelOp();
}

/// Whether `value` is the summed weight of a round, or of a worker.
static bool isWeight(Value value) {
  ps::ChannelOp channel = channelOf(value);
  return channel && channel.getKind() == ChannelKind::loss &&
         cast<OpResult>(value).getResultNumber() == 1;
}

LogicalResult VerifyRoles::verifyScalars(nn::OnceOp once, Role &pserver) {
  if (!isWeight(once.getWeight()))
    return once.emitOpError("divides by something else than the weight that a "
                            "channel of kind loss brings");
  if (!once.getNorm())
    return success();
  ps::ChannelOp channel = channelOf(once.getNorm());
  FlatSymbolRefAttr clip =
      pserver.symbols.lookup<nn::GroupOp>(once.getGroup()).getClipAttr();
  if (!channel || channel.getKind() != ChannelKind::norm ||
      channel.getClipAttr() != clip)
    return once.emitOpError()
           << "clips by something else than the norm of " << clip;
  return success();
}

LogicalResult VerifyRoles::verifyClip(ps::ChannelOp gradient, Role &pserver) {
  Operation *symbol =
      pserver.symbols.lookup(gradient.getSymbolAttr().getAttr());
  auto group = symbol->getAttrOfType<FlatSymbolRefAttr>("group");
  FlatSymbolRefAttr expected;
  // In mode sync no worker forms a norm.
  auto mode =
      pserver.module->getAttrOfType<StringAttr>(ps::PSDialect::kModeAttrName);
  if (group && mode && mode.getValue() == "async")
    expected = pserver.symbols.lookup<nn::GroupOp>(group.getAttr().getValue())
                   .getClipAttr();
  if (gradient.getClipAttr() == expected)
    return success();
  InFlightDiagnostic diagnostic = gradient.emitOpError()
                                  << "@" << gradient.getSymName() << " has ";
  if (gradient.getClipAttr())
    diagnostic << "clip " << gradient.getClipAttr();
  else
    diagnostic << "no clip";
  diagnostic << ", expected ";
  if (expected)
    diagnostic << expected << ", that of the group of "
               << gradient.getSymbolAttr();
  else
    diagnostic << "none";
  return diagnostic;
}

LogicalResult VerifyRoles::verifyUpdates(ps::HandlerOp handler, Role &pserver) {
  auto message =
      pserver.symbols.lookup<ps::MessageOp>(handler.getMessageAttr().getAttr());
  for (Operation &op : handler.getBody().front()) {
    if (auto merged = dyn_cast<ps::MergedOp>(op)) {
      ps::ChannelOp channel =
          ps::lookupChannel(merged, merged.getChannelAttr());
      if (channel.getProgram() != handler.getProgram())
        return merged.emitOpError()
               << "uses a channel of program \"" << channel.getProgram()
               << "\" in a handler of \"" << handler.getProgram() << "\"";
      // Sums that came with an earlier message of the step are still there.
      if (channel.getKind() == ChannelKind::norm &&
          !llvm::is_contained(message.getSends(), merged.getChannelAttr()))
        return merged.emitOpError()
               << "uses a norm that message " << handler.getMessageAttr()
               << " does not bring: the handler would wait for ever";
    } else if (auto partial = dyn_cast<ps::PartialNormOp>(op)) {
      if (!llvm::is_contained(message.getReceives(), partial.getChannelAttr()))
        return partial.emitOpError()
               << "answers through " << partial.getChannelAttr()
               << ", which the answer to " << handler.getMessageAttr()
               << " does not carry";
      ps::ChannelOp gradient = channelOf(partial.getGradient());
      ps::ChannelOp answer =
          ps::lookupChannel(partial, partial.getChannelAttr());
      if (!gradient || gradient.getSymbolAttr() != answer.getSymbolAttr())
        return partial.emitOpError() << "answers for " << answer.getSymbolAttr()
                                     << " by a gradient of something else";
      if (!isWeight(partial.getWeight()))
        return partial.emitOpError(
            "divides by something else than the weight that a channel of kind "
            "loss brings");
    } else if (auto once = dyn_cast<nn::OnceOp>(op)) {
      if (failed(verifyScalars(once, pserver)))
        return failure();
    } else if (auto update = dyn_cast<nn::UpdateOp>(op)) {
      auto merged = update.getGradient().getDefiningOp<ps::MergedOp>();
      if (!merged)
        return update.emitOpError("takes a gradient that no channel brings");
      ps::ChannelOp channel =
          ps::lookupChannel(merged, merged.getChannelAttr());
      if (channel.getSymbolAttr() != update.getSymbolAttr())
        return failWithNote(update.emitOpError()
                                << "updates " << update.getSymbolAttr()
                                << " by a gradient of "
                                << channel.getSymbolAttr(),
                            merged, "the gradient is received here");
      if (failed(verifyClip(channel, pserver)))
        return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

LogicalResult VerifyRoles::verify() {
  ModuleOp trainerModule = findRole("trainer");
  if (!trainerModule)
    return failure();
  ModuleOp pserverModule = findRole("pserver");
  if (!pserverModule)
    return failure();
  for (StringRef attribute :
       {ps::PSDialect::kModeAttrName, ps::PSDialect::kWireAttrName}) {
    Attribute ours = trainerModule->getAttr(attribute);
    Attribute theirs = pserverModule->getAttr(attribute);
    if (!ours || ours != theirs)
      return failWithNote(pserverModule->emitOpError()
                              << "and @trainer differ in " << attribute,
                          trainerModule, "the trainer's module is here");
  }
  Role trainer(trainerModule), pserver(pserverModule);
  if (failed(verifySameLayout(trainer, pserver)) ||
      failed(verifyUnits(trainer)) || failed(verifyUnits(pserver)) ||
      failed(verifySameUnits(trainer, pserver)) ||
      failed(verifySameChannels(trainer, pserver)) ||
      failed(verifyNumbers(trainer)) ||
      failed(verifySameMessages(trainer, pserver)) ||
      failed(verifyTravel(trainer)) || failed(verifyTrainer(trainer)) ||
      failed(verifyHandlers(pserver)))
    return failure();
  return success();
}
