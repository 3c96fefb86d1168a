//===- VerifyTrainerRole.cpp - Verify the messages of trainers ------------===//
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

//===----------------------------------------------------------------------===//
// Order of messages
//===----------------------------------------------------------------------===//

/// Returns the first wait for `message` on which one of the values depends;
/// null if there is none. A null `message` stands for any message. Searches for
/// all values at once, because the ops on which they depend overlap.
static Operation *findDependence(ValueRange values, StringAttr message) {
  llvm::SetVector<Value> slice;
  slice.insert(values.begin(), values.end());
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    if (!op)
      continue;
    auto wait = dyn_cast<ps::WaitOp>(op);
    if (wait && (!message || wait.getMessageAttr().getAttr() == message))
      return wait;
    // Includes the operands of waits for other messages.
    slice.insert(op->operand_begin(), op->operand_end());
  }
  return nullptr;
}

/// Verifies that no message waits for itself.
static LogicalResult verifyOrder(ps::MessageOp message,
                                 const SymbolTable &symbols, ps::WaitOp wait,
                                 ps::PostOp post) {
  if (Operation *other = findDependence(wait.getKeys(), {}))
    return failWithNote(
        wait.emitOpError()
            << "asks by keys that need what servers send; keys come from "
               "fields alone, so that they can be sent a step ahead",
        other, "the keys depend on this");
  if (!post)
    return success();
  // Values and rows are the state at the start of the next step.
  bool bringsState = llvm::any_of(message.getReceives(), [&](Attribute name) {
    ChannelKind kind = ps::lookupChannel(symbols, name).getKind();
    return kind == ChannelKind::value || kind == ChannelKind::rows;
  });
  if (message.getAhead().empty() && !bringsState) {
    // Posted and awaited within one step.
    if (!post->isBeforeInBlock(wait))
      return failWithNote(wait.emitOpError()
                              << "waits for message @" << message.getSymName()
                              << " before it is posted: it waits for ever",
                          post, "it is posted here");
    if (Operation *other =
            findDependence(post.getValues(), message.getSymNameAttr()))
      return failWithNote(post.emitOpError()
                              << "sends what depends on the answer to it",
                          other, "the answer");
    return success();
  }
  // The response to a step's post arrives at the start of the next step.
  if (!wait->isBeforeInBlock(post))
    return failWithNote(
        wait.emitOpError()
            << "waits for message @" << message.getSymName()
            << " after its post, although it brings what the next step begins "
               "with",
        post, "it is posted here");
  return success();
}

static LogicalResult verifyProgram(nn::ProgramOp program, Role &trainer) {
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
    if (isa<ps::ShareOp, ps::ExchangeOp>(op))
      return op.emitOpError(
          "shares changes of a copy, which trainers of this mode do not have");
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
      return ps::lookupChannel(trainer.symbols, name).getKind() !=
             ChannelKind::keys;
    });
    if (postsSomething && !post)
      return message.emitOpError()
             << "@" << message.getSymName()
             << " carries results to servers, but nothing posts it in program @"
             << program.getSymName();
    if (wait && failed(verifyOrder(message, trainer.symbols, wait, post)))
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

//===----------------------------------------------------------------------===//
// Posted values
//===----------------------------------------------------------------------===//

/// Verifies that rows are read by the keys with which they were requested.
static LogicalResult verifyKeys(nn::ProgramOp program,
                                const AwaitedValues &awaited) {
  for (auto pool : program.getBody().getOps<nn::PoolOp>()) {
    ps::ChannelOp channel = awaited.channels.lookup(pool.getRows());
    if (!channel || channel.getKind() != ChannelKind::rows)
      continue;
    Value keys = awaited.keys.lookup(channel.getSymbolAttr());
    if (pool.getDeduplication().keys != keys)
      return failWithNote(
          pool.emitOpError() << "reads rows of " << channel.getSymbolAttr()
                             << " by other keys than they were asked by",
          pool.getRows().getDefiningOp(), "they are asked for here");
  }
  return success();
}

/// Verifies that each posted value is one that its channel expects, if the op
/// that computes the value shows this.
static LogicalResult verifyPosted(nn::ProgramOp program,
                                  const SymbolTable &symbols,
                                  const AwaitedValues &awaited) {
  for (auto post : program.getBody().getOps<ps::PostOp>())
    for (ps::ChannelValues &sent : ps::sentValues(post, symbols)) {
      ps::ChannelOp channel = sent.channel;
      if (channel.getKind() == ChannelKind::loss) {
        auto [sum, weight] = ps::LossSums::of(sent.values);
        auto formed = sum.getDefiningOp<nn::LossSumOp>();
        if (!formed || sum != formed.getSum() || weight != formed.getWeight())
          return post.emitOpError()
                 << "sends as @" << channel.getSymName()
                 << " something else than the sum of losses and the sum of "
                    "weights of one nn.loss_sum";
      } else if (channel.getKind() == ChannelKind::row_gradient) {
        FlatSymbolRefAttr table = channel.getSymbolAttr();
        Value keys = awaited.keys.lookup(table);
        if (!keys)
          return post.emitOpError()
                 << "sends gradients of rows of " << table
                 << ", but no message asks for rows of it: which rows these "
                    "are is not known";
        auto gradient = sent.getValue().getDefiningOp<nn::PoolGradientOp>();
        if (gradient && gradient.getDeduplication().keys != keys)
          return failWithNote(post.emitOpError()
                                  << "sends gradients of rows of " << table
                                  << " in the order of other keys than its "
                                     "rows were asked by",
                              gradient, "the gradient is formed here");
      }
    }
  return success();
}

//===----------------------------------------------------------------------===//
// The whole role
//===----------------------------------------------------------------------===//

LogicalResult pdlc::verifyTrainerRole(RolePair &roles) {
  Role &trainer = roles.trainer;
  return verifyTrainerOps(roles, [&](nn::ProgramOp program) -> LogicalResult {
    if (failed(verifyProgram(program, trainer)))
      return failure();
    AwaitedValues awaited(program, trainer);
    if (failed(verifyKeys(program, awaited)))
      return failure();
    return verifyPosted(program, trainer.symbols, awaited);
  });
}
