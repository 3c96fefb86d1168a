//===- VerifyRoleNorms.cpp - A clip counts in what it clips ---------------===//
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

/// The symbols that a program updates and whose group names `clip`, in the
/// order of the module: the one in which one process adds their partials.
static SmallVector<FlatSymbolRefAttr>
findMembers(Role &pserver, StringRef program, FlatSymbolRefAttr clip) {
  SmallPtrSet<Attribute, 16> updated;
  for (auto handler : pserver.module.getOps<ps::HandlerOp>())
    if (handler.getProgram() == program)
      for (auto update : handler.getBody().getOps<nn::UpdateOp>())
        updated.insert(update.getSymbolAttr());
  SmallVector<FlatSymbolRefAttr> members;
  for (Operation &op : *pserver.module.getBody()) {
    auto group = op.getAttrOfType<FlatSymbolRefAttr>("group");
    if (!isa<nn::ParamOp, nn::TableOp>(op) || !group)
      continue;
    auto name = FlatSymbolRefAttr::get(SymbolTable::getSymbolName(&op));
    if (updated.contains(name) &&
        pserver.symbols.lookup<nn::GroupOp>(group.getValue()).getClipAttr() ==
            clip)
      members.push_back(name);
  }
  return members;
}

/// That `counted` are the members, each once; the order is another matter.
static LogicalResult verifyMembers(Operation *op, FlatSymbolRefAttr clip,
                                   ArrayRef<FlatSymbolRefAttr> counted,
                                   ArrayRef<FlatSymbolRefAttr> members) {
  SmallPtrSet<Attribute, 16> seen;
  for (FlatSymbolRefAttr symbol : counted) {
    if (!llvm::is_contained(members, symbol))
      return op->emitOpError() << "counts " << symbol << " into the norm of "
                               << clip << ", which does not clip it";
    if (!seen.insert(symbol).second)
      return op->emitOpError() << "counts " << symbol << " into the norm of "
                               << clip << " a second time";
  }
  for (FlatSymbolRefAttr symbol : members)
    if (!seen.contains(symbol))
      return op->emitOpError() << "leaves " << symbol << " out of the norm of "
                               << clip << ", which clips it";
  return success();
}

/// Mode sync: no one sees a whole gradient, so partials of all servers are
/// joined.
static LogicalResult verifyJoined(ps::PostOp post, Value norm,
                                  FlatSymbolRefAttr clip,
                                  ArrayRef<FlatSymbolRefAttr> members) {
  auto join = norm.getDefiningOp<ps::JoinNormsOp>();
  if (!join)
    return post.emitOpError() << "sends as the norm of " << clip
                              << " what no ps.join_norms has joined";
  SmallVector<FlatSymbolRefAttr> counted;
  for (Value partial : join.getPartials()) {
    ps::ChannelOp channel = awaitedChannel(partial);
    if (!channel || channel.getKind() != ChannelKind::partial_norm)
      return join.emitOpError("joins what no message brought as partials");
    if (channel.getClipAttr() != clip)
      return failWithNote(join.emitOpError()
                              << "joins partials of " << channel.getClipAttr()
                              << " into the norm of " << clip,
                          channel, "their channel is declared here");
    counted.push_back(channel.getSymbolAttr());
  }
  if (failed(verifyMembers(join, clip, counted, members)))
    return failure();
  if (ArrayRef(counted) == members)
    return success();
  InFlightDiagnostic diagnostic = join.emitOpError()
                                  << "joins partials of " << clip
                                  << " in another order than one process, "
                                     "which takes symbols as they are "
                                     "declared: ";
  llvm::interleaveComma(members, diagnostic);
  return diagnostic;
}

/// Mode async: a worker's norm is of what it posts.
static LogicalResult verifyFormed(ps::PostOp post, Value norm,
                                  FlatSymbolRefAttr clip,
                                  ArrayRef<FlatSymbolRefAttr> members) {
  auto formed = norm.getDefiningOp<nn::SquaredNormOp>();
  if (!formed)
    return post.emitOpError() << "sends as the norm of " << clip
                              << " what no nn.squared_norm has formed";
  auto counted =
      llvm::to_vector(formed.getSymbols().getAsRange<FlatSymbolRefAttr>());
  if (failed(verifyMembers(formed, clip, counted, members)))
    return failure();
  auto program = post->getParentOfType<nn::ProgramOp>();
  SmallVector<ps::ChannelValues> sent = ps::sentValues(post);
  // Of each objective, in the order of their channels.
  SmallVector<std::pair<uint64_t, Value>> weights;
  for (ps::ChannelValues &loss : sent)
    if (loss.channel.getKind() == ChannelKind::loss)
      weights.push_back({static_cast<uint64_t>(loss.channel.getNumber()),
                         ps::LossSums::of(loss.values).weight});
  llvm::sort(weights, llvm::less_first());
  for (const nn::SymbolGradient &part : formed.getSymbolGradients())
    for (ps::ChannelValues &posted : sent) {
      ChannelKind kind = posted.channel.getKind();
      if (posted.channel.getSymbolAttr() != part.symbol ||
          (kind != ChannelKind::gradient && kind != ChannelKind::row_gradient))
        continue;
      const auto objective = static_cast<size_t>(posted.channel.getObjective());
      if (objective >= weights.size() ||
          weights[objective].second != formed.getWeight())
        return formed.emitOpError(
            "divides by something else than the weight that is posted");
      if (posted.getValue() != part.gradient)
        return failWithNote(formed.emitOpError()
                                << "counts in another gradient of "
                                << part.symbol
                                << " than the one that is posted",
                            post, "it is posted here");
      if (part.keys && part.keys != awaitedKeys(program, part.symbol))
        return formed.emitOpError()
               << "takes gradients of rows of " << part.symbol
               << " for those of other keys than its rows were asked by";
    }
  return success();
}

LogicalResult pdlc::verifyRoleNorms(RolePair &roles) {
  for (auto program : roles.trainer.module.getOps<nn::ProgramOp>())
    for (auto post : program.getBody().getOps<ps::PostOp>())
      for (ps::ChannelValues &sent : ps::sentValues(post)) {
        if (sent.channel.getKind() != ChannelKind::norm)
          continue;
        FlatSymbolRefAttr clip = sent.channel.getClipAttr();
        SmallVector<FlatSymbolRefAttr> members =
            findMembers(roles.pserver, program.getSymName(), clip);
        Value norm = sent.getValue();
        if (failed(roles.mode.sendersFormNorms
                       ? verifyFormed(post, norm, clip, members)
                       : verifyJoined(post, norm, clip, members)))
          return failure();
      }
  return success();
}
