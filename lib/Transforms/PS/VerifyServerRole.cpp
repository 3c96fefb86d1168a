//===- VerifyServerRole.cpp - Verify the handlers of servers --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RoleVerifiers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

namespace {

/// Verifies the handlers of all programs, and records what they use and update.
class ServerVerifier {
public:
  explicit ServerVerifier(RolePair &roles);

  LogicalResult verify();

private:
  LogicalResult verifyHandler(ps::HandlerOp handler);
  LogicalResult verifyMerged(ps::HandlerOp handler, ps::MergedOp merged);
  LogicalResult verifyPartial(ps::MessageOp message, ps::PartialNormOp partial);
  LogicalResult verifyOnce(ps::HandlerOp handler, nn::OnceOp once);
  LogicalResult verifyUpdate(ps::HandlerOp handler, nn::UpdateOp update);
  LogicalResult verifyScalarsOf(nn::UpdateOp update);
  LogicalResult verifyScalars(nn::OnceOp once);
  LogicalResult verifyObjective(Operation *op, ps::ChannelOp gradient,
                                Value weight);
  LogicalResult verifyUse();
  /// Returns the channel through which `value` arrived in a handler; null if it
  /// did not arrive through a channel.
  ps::ChannelOp channelOf(Value value);
  /// Returns true if `value` is the summed weight of a round or of a worker.
  bool isWeight(Value value);
  /// Returns the number of messages that the trainer posts before `message` in
  /// a step. If it does not post this message, returns the number of all
  /// messages that it posts.
  size_t position(ps::MessageOp message);

  Role &pserver;
  const ps::ModeProperties &mode;
  /// `postCounts`: number of messages that a program of the trainer posts, by
  /// program. `postPlaces`: position of each message among them.
  llvm::DenseMap<StringAttr, size_t> postCounts, postPlaces;
  /// Objective of each channel of kind loss.
  llvm::DenseMap<Operation *, int64_t> objectives;
  /// Channels through which servers send the values of a symbol, by program and
  /// symbol.
  llvm::DenseMap<std::pair<StringAttr, StringAttr>, SmallVector<ps::ChannelOp>>
      returned;
  /// Ops by channel; then by program and symbol, and by program and group.
  llvm::DenseMap<StringAttr, Operation *> used, answered;
  llvm::DenseMap<std::pair<StringAttr, StringAttr>, Operation *> updated,
      counted;
};

} // namespace

ServerVerifier::ServerVerifier(RolePair &roles)
    : pserver(roles.pserver), mode(roles.mode) {
  for (auto program : roles.trainer.module.getOps<nn::ProgramOp>()) {
    size_t &count = postCounts[program.getSymNameAttr()];
    for (auto post : program.getBody().getOps<ps::PostOp>())
      postPlaces[post.getMessageAttr().getAttr()] = count++;
  }
  llvm::MapVector<StringAttr, SmallVector<ps::ChannelOp>> losses;
  for (auto channel : pserver.module.getOps<ps::ChannelOp>()) {
    if (channel.getKind() == ChannelKind::loss)
      losses[channel.getProgramAttr()].push_back(channel);
    if (channel.getKind() == ChannelKind::value ||
        channel.getKind() == ChannelKind::rows)
      returned[{channel.getProgramAttr(), channel.getSymbolAttr().getAttr()}]
          .push_back(channel);
  }
  for (auto &[program, channels] : losses) {
    llvm::sort(channels, [](ps::ChannelOp a, ps::ChannelOp b) {
      return a.getNumber() < b.getNumber();
    });
    for (auto [number, channel] : llvm::enumerate(channels))
      objectives[channel] = static_cast<int64_t>(number);
  }
}

ps::ChannelOp ServerVerifier::channelOf(Value value) {
  auto merged = value.getDefiningOp<ps::MergedOp>();
  return merged ? ps::lookupChannel(pserver.symbols, merged.getChannelAttr())
                : ps::ChannelOp();
}

/// Verifies that a gradient is divided by the weight that its channel names.
LogicalResult ServerVerifier::verifyObjective(Operation *op,
                                              ps::ChannelOp gradient,
                                              Value weight) {
  if (objectives.lookup(channelOf(weight)) ==
      static_cast<int64_t>(gradient.getObjective()))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "divides a gradient by the weight of another "
                           "objective than its channel says";
  diagnostic.attachNote(gradient.getLoc()) << "the channel is declared here";
  return diagnostic;
}

bool ServerVerifier::isWeight(Value value) {
  ps::ChannelOp channel = channelOf(value);
  return channel && channel.getKind() == ChannelKind::loss &&
         value == value.getDefiningOp<ps::MergedOp>().getLossSums().weight;
}

/// Verifies that an `nn.once` divides by a weight that has arrived, and clips
/// by the norm of its group's clip.
LogicalResult ServerVerifier::verifyScalars(nn::OnceOp once) {
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

/// Verifies the clip that a gradient channel names. If workers compute norms,
/// it is the clip of the symbol's group; otherwise the channel must name none.
static LogicalResult verifyClip(ps::ChannelOp gradient, Role &pserver,
                                const ps::ModeProperties &mode) {
  Operation *symbol =
      pserver.symbols.lookup(gradient.getSymbolAttr().getAttr());
  auto group = symbol->getAttrOfType<FlatSymbolRefAttr>("group");
  FlatSymbolRefAttr expected;
  // The channel names a clip only if senders form its norm. If servers form
  // partial norms, it names none.
  if (group && mode.sendersFormNorms)
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

size_t ServerVerifier::position(ps::MessageOp message) {
  auto found = postPlaces.find(message.getSymNameAttr());
  return found == postPlaces.end() ? postCounts.lookup(message.getProgramAttr())
                                   : found->second;
}

LogicalResult ServerVerifier::verifyMerged(ps::HandlerOp handler,
                                           ps::MergedOp merged) {
  used[merged.getChannelAttr().getAttr()] = merged;
  ps::ChannelOp channel = channelOf(merged.getResult(0));
  if (channel.getProgram() != handler.getProgram())
    return merged.emitOpError()
           << "uses a channel of program \"" << channel.getProgram()
           << "\" in a handler of \"" << handler.getProgram() << "\"";
  // A handler may use values of its own message, or of an earlier message of
  // the same step, which are still available.
  ps::MessageOp sender = pserver.senders.lookup(channel.getSymNameAttr());
  auto message =
      pserver.symbols.lookup<ps::MessageOp>(handler.getMessageAttr().getAttr());
  if (position(sender) > position(message))
    return failWithNote(merged.emitOpError()
                            << "uses " << merged.getChannelAttr()
                            << ", which comes with a later message than "
                            << handler.getMessageAttr()
                            << ": the handler would wait for ever",
                        sender, "this one brings it");
  return success();
}

LogicalResult ServerVerifier::verifyPartial(ps::MessageOp message,
                                            ps::PartialNormOp partial) {
  FlatSymbolRefAttr name = partial.getChannelAttr();
  used[name.getAttr()] = partial;
  auto [first, isNew] = answered.try_emplace(name.getAttr(), partial);
  if (!isNew)
    return failWithNote(partial.emitOpError() << "answers through " << name
                                              << " a second time in a step",
                        first->second, "the first time is here");
  if (pserver.receivers.lookup(name.getAttr()) != message)
    return partial.emitOpError()
           << "answers through " << name << ", which the answer to @"
           << message.getSymName() << " does not carry";
  ps::ChannelOp gradient = channelOf(partial.getGradient());
  ps::ChannelOp response = ps::lookupChannel(pserver.symbols, name);
  if (!gradient || gradient.getSymbolAttr() != response.getSymbolAttr())
    return partial.emitOpError() << "answers for " << response.getSymbolAttr()
                                 << " by a gradient of something else";
  if (!isWeight(partial.getWeight()))
    return partial.emitOpError(
        "divides by something else than the weight that a channel of kind "
        "loss brings");
  return verifyObjective(partial, gradient, partial.getWeight());
}

LogicalResult ServerVerifier::verifyOnce(ps::HandlerOp handler,
                                         nn::OnceOp once) {
  auto [first, isNew] = counted.try_emplace(
      {handler.getProgramAttr(), once.getGroupAttr().getAttr()}, once);
  if (!isNew)
    return failWithNote(once.emitOpError()
                            << "counts a step of " << once.getGroupAttr()
                            << " a second time",
                        first->second, "the first time is here");
  return verifyScalars(once);
}

/// Verifies that an update takes all scalars of its own group, in order.
LogicalResult ServerVerifier::verifyScalarsOf(nn::UpdateOp update) {
  auto group = pserver.symbols.lookup(update.getSymbolAttr().getAttr())
                   ->getAttrOfType<FlatSymbolRefAttr>("group");
  nn::OnceOp once;
  for (auto [place, scalar] : llvm::enumerate(update.getScalars())) {
    auto from = scalar.getDefiningOp<nn::OnceOp>();
    if (!from)
      return update.emitOpError()
             << "takes as scalar " << place << " what no nn.once computes";
    if (from.getGroupAttr() != group)
      return failWithNote(
          update.emitOpError()
              << "updates " << update.getSymbolAttr() << ", which is in group "
              << group << ", by a scalar of group " << from.getGroupAttr(),
          from, "the scalar is computed here");
    once = from;
    size_t number = cast<OpResult>(scalar).getResultNumber();
    if (number != place)
      return failWithNote(update.emitOpError()
                              << "takes scalar " << number << " of group "
                              << group << " in place of scalar " << place,
                          from, "the scalars are computed here");
  }
  size_t expected = once ? once.getScalars().size() : 0;
  if (!once || update.getScalars().size() != expected)
    return update.emitOpError()
           << "takes " << update.getScalars().size()
           << " scalars, but all of group " << group << " belong to it";
  return success();
}

LogicalResult ServerVerifier::verifyUpdate(ps::HandlerOp handler,
                                           nn::UpdateOp update) {
  FlatSymbolRefAttr symbol = update.getSymbolAttr();
  auto [first, isNew] =
      updated.try_emplace({handler.getProgramAttr(), symbol.getAttr()}, update);
  if (!isNew)
    return failWithNote(update.emitOpError() << "updates " << symbol
                                             << " a second time in a step",
                        first->second, "the first time is here");
  auto merged = update.getGradient().getDefiningOp<ps::MergedOp>();
  if (!merged)
    return update.emitOpError("takes a gradient that no channel brings");
  ps::ChannelOp channel = channelOf(merged.getResult(0));
  if (channel.getSymbolAttr() != symbol)
    return failWithNote(update.emitOpError()
                            << "updates " << symbol << " by a gradient of "
                            << channel.getSymbolAttr(),
                        merged, "the gradient is received here");
  if (update.getKeys() && update.getKeys() != merged.getKeys())
    return failWithNote(update.emitOpError()
                            << "updates rows of " << symbol
                            << " of other keys than its gradient came with",
                        merged, "the gradient is received here");
  if (failed(verifyScalarsOf(update)) ||
      failed(verifyClip(channel, pserver, mode)))
    return failure();
  Value weight =
      update.getScalars().front().getDefiningOp<nn::OnceOp>().getWeight();
  if (isWeight(weight) && failed(verifyObjective(update, channel, weight)))
    return failure();
  // The values that the next step reads are the result of this update.
  auto message =
      pserver.symbols.lookup<ps::MessageOp>(handler.getMessageAttr().getAttr());
  auto backs = returned.find({handler.getProgramAttr(), symbol.getAttr()});
  if (backs == returned.end())
    return success();
  for (ps::ChannelOp back : backs->second) {
    ps::MessageOp receiver = pserver.receivers.lookup(back.getSymNameAttr());
    if (position(receiver) < position(message))
      return failWithNote(update.emitOpError()
                              << "updates " << symbol << " on message @"
                              << message.getSymName()
                              << ", but the answer to an earlier one brings "
                                 "trainers what they go on with",
                          receiver, "the earlier one");
  }
  return success();
}

LogicalResult ServerVerifier::verifyHandler(ps::HandlerOp handler) {
  auto message =
      pserver.symbols.lookup<ps::MessageOp>(handler.getMessageAttr().getAttr());
  for (Operation &op : handler.getBody().front()) {
    LogicalResult result = success();
    if (auto merged = dyn_cast<ps::MergedOp>(op))
      result = verifyMerged(handler, merged);
    else if (auto partial = dyn_cast<ps::PartialNormOp>(op))
      result = verifyPartial(message, partial);
    else if (auto once = dyn_cast<nn::OnceOp>(op))
      result = verifyOnce(handler, once);
    else if (auto update = dyn_cast<nn::UpdateOp>(op))
      result = verifyUpdate(handler, update);
    else if (isa<ps::AddDeltaOp>(op))
      return op.emitOpError("adds what trainers have changed, who change "
                            "nothing in this mode");
    if (failed(result))
      return failure();
  }
  return success();
}

/// Verifies that every received value is used.
LogicalResult ServerVerifier::verifyUse() {
  for (auto channel : pserver.module.getOps<ps::ChannelOp>()) {
    ChannelKind kind = channel.getKind();
    // Keys, rows and values need no handler.
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

LogicalResult ServerVerifier::verify() {
  for (Operation &op : *pserver.module.getBody()) {
    if (isa<nn::ProgramOp, nn::RecordOp, nn::MetricOp>(op))
      return op.emitOpError("belongs to trainers, but stands in @pserver");
    auto handler = dyn_cast<ps::HandlerOp>(op);
    if (!handler)
      continue;
    if (failed(verifyHasMessage(handler)) || failed(verifyHandler(handler)))
      return failure();
  }
  return verifyUse();
}

LogicalResult pdlc::verifyServerRole(RolePair &roles) {
  return ServerVerifier(roles).verify();
}
