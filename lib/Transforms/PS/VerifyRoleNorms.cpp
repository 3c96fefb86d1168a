//===- VerifyRoleNorms.cpp - Verify the norms of clips --------------------===//
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

namespace {
/// Symbols that a program updates and whose groups name a clip, by clip. They
/// are in module order, in which a single process adds their partial norms.
using Members = llvm::DenseMap<Attribute, SmallVector<FlatSymbolRefAttr>>;
} // namespace

static Members findMembers(Role &pserver, StringRef program) {
  SmallPtrSet<Attribute, 16> updated;
  for (auto handler : pserver.module.getOps<ps::HandlerOp>())
    if (handler.getProgram() == program)
      for (auto update : handler.getBody().getOps<nn::UpdateOp>())
        updated.insert(update.getSymbolAttr());
  Members members;
  for (Operation &op : *pserver.module.getBody()) {
    auto group = op.getAttrOfType<FlatSymbolRefAttr>("group");
    if (!isa<nn::ParamOp, nn::TableOp>(op) || !group)
      continue;
    auto name = FlatSymbolRefAttr::get(SymbolTable::getSymbolName(&op));
    if (!updated.contains(name))
      continue;
    if (FlatSymbolRefAttr clip =
            pserver.symbols.lookup<nn::GroupOp>(group.getValue()).getClipAttr())
      members[clip].push_back(name);
  }
  return members;
}

/// Verifies that `counted` contains each member exactly once, in any order.
static LogicalResult verifyMembers(Operation *op, FlatSymbolRefAttr clip,
                                   ArrayRef<FlatSymbolRefAttr> counted,
                                   ArrayRef<FlatSymbolRefAttr> members) {
  SmallPtrSet<Attribute, 16> seen, known;
  known.insert_range(members);
  for (FlatSymbolRefAttr symbol : counted) {
    if (!known.contains(symbol))
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

/// Verifies a norm in modes such as sync, in which no process has all
/// gradients: it must join the partial norms of all servers.
static LogicalResult verifyJoined(ps::PostOp post, Value norm,
                                  FlatSymbolRefAttr clip,
                                  ArrayRef<FlatSymbolRefAttr> members,
                                  const AwaitedValues &awaited) {
  auto join = norm.getDefiningOp<ps::JoinNormsOp>();
  if (!join)
    return post.emitOpError() << "sends as the norm of " << clip
                              << " what no ps.join_norms has joined";
  SmallVector<FlatSymbolRefAttr> counted;
  for (Value partial : join.getPartials()) {
    ps::ChannelOp channel = awaited.channels.lookup(partial);
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

namespace {
/// Values of a post that norms depend on.
struct Posted {
  Posted(ps::PostOp post, ArrayRef<ps::ChannelValues> sent);

  ps::PostOp post;
  /// Weights by objective.
  SmallVector<Value> weights;
  /// Gradients by symbol.
  llvm::DenseMap<Attribute, SmallVector<const ps::ChannelValues *, 1>>
      gradients;
};
} // namespace

Posted::Posted(ps::PostOp post, ArrayRef<ps::ChannelValues> sent) : post(post) {
  // One entry per objective, in the order of the channels.
  SmallVector<std::pair<uint64_t, Value>> losses;
  for (const ps::ChannelValues &values : sent) {
    ps::ChannelOp channel = values.channel;
    if (channel.getKind() == ChannelKind::loss)
      losses.push_back({static_cast<uint64_t>(channel.getNumber()),
                        ps::LossSums::of(values.values).weight});
    if (channel.getKind() == ChannelKind::gradient ||
        channel.getKind() == ChannelKind::row_gradient)
      gradients[channel.getSymbolAttr()].push_back(&values);
  }
  llvm::sort(losses, llvm::less_first());
  llvm::append_range(weights, llvm::make_second_range(losses));
}

/// Verifies a norm in modes such as async, in which a worker computes norms
/// itself: it must be the norm of the gradients that the worker posts.
static LogicalResult verifyFormed(const Posted &posted, Value norm,
                                  FlatSymbolRefAttr clip,
                                  ArrayRef<FlatSymbolRefAttr> members,
                                  const AwaitedValues &awaited) {
  ps::PostOp post = posted.post;
  auto formed = norm.getDefiningOp<nn::SquaredNormOp>();
  if (!formed)
    return post.emitOpError() << "sends as the norm of " << clip
                              << " what no nn.squared_norm has formed";
  auto counted =
      llvm::to_vector(formed.getSymbols().getAsRange<FlatSymbolRefAttr>());
  if (failed(verifyMembers(formed, clip, counted, members)))
    return failure();
  for (const nn::SymbolGradient &part : formed.getSymbolGradients())
    for (const ps::ChannelValues *sent : posted.gradients.lookup(part.symbol)) {
      ps::ChannelOp channel = sent->channel;
      const auto objective = static_cast<size_t>(channel.getObjective());
      if (objective >= posted.weights.size() ||
          posted.weights[objective] != formed.getWeight())
        return formed.emitOpError(
            "divides by something else than the weight that is posted");
      if (sent->getValue() != part.gradient)
        return failWithNote(formed.emitOpError()
                                << "counts in another gradient of "
                                << part.symbol
                                << " than the one that is posted",
                            post, "it is posted here");
      if (part.keys && part.keys != awaited.keys.lookup(part.symbol))
        return formed.emitOpError()
               << "takes gradients of rows of " << part.symbol
               << " for those of other keys than its rows were asked by";
    }
  return success();
}

static LogicalResult verifyProgram(nn::ProgramOp program, RolePair &roles) {
  AwaitedValues awaited(program, roles.trainer);
  Members members = findMembers(roles.pserver, program.getSymName());
  for (auto post : program.getBody().getOps<ps::PostOp>()) {
    SmallVector<ps::ChannelValues> sent =
        ps::sentValues(post, roles.trainer.symbols);
    Posted posted(post, sent);
    for (ps::ChannelValues &values : sent) {
      if (values.channel.getKind() != ChannelKind::norm)
        continue;
      FlatSymbolRefAttr clip = values.channel.getClipAttr();
      ArrayRef<FlatSymbolRefAttr> ofClip = members[clip];
      Value norm = values.getValue();
      if (failed(roles.mode.sendersFormNorms
                     ? verifyFormed(posted, norm, clip, ofClip, awaited)
                     : verifyJoined(post, norm, clip, ofClip, awaited)))
        return failure();
    }
  }
  return success();
}

LogicalResult pdlc::verifyRoleNorms(RolePair &roles) {
  for (auto program : roles.trainer.module.getOps<nn::ProgramOp>())
    if (failed(verifyProgram(program, roles)))
      return failure();
  return success();
}
