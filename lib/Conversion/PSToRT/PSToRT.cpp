//===- PSToRT.cpp - Convert messages to memory accesses -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Conversion/Passes.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/RT.h"

namespace pdlc {
#define GEN_PASS_DEF_PSTORT
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

namespace {
struct PSToRT : pdlc::impl::PSToRTBase<PSToRT> {
  void runOnOperation() override;

private:
  void convertWait(ps::WaitOp wait, const SymbolTable &symbols);
  void convertPost(ps::PostOp post, const SymbolTable &symbols);
  LogicalResult convertProgram(nn::ProgramOp program,
                               const SymbolTable &symbols);
};
} // namespace

/// Replaces a `ps.wait` by reads and pulls. When stage compute starts, the step
/// context provides the memory of received values. The memory of rows is known
/// earlier, in stage prepare.
void PSToRT::convertWait(ps::WaitOp wait, const SymbolTable &symbols) {
  OpBuilder builder(wait);
  llvm::DenseMap<Attribute, Value> keysOf;
  for (ps::ChannelValues &keys : ps::sentKeys(wait, symbols))
    keysOf[keys.channel.getSymbolAttr()] = keys.getValue();
  for (ps::ChannelValues &received : ps::receivedValues(wait, symbols)) {
    ps::ChannelOp channel = received.channel;
    Value value = received.getValue();
    if (channel.getKind() == ChannelKind::value) {
      auto read = nn::ReadOp::create(builder, wait.getLoc(), value.getType(),
                                     channel.getSymbolAttr());
      nn::setStage(read, nn::Stage::compute);
      value.replaceAllUsesWith(read.getResult());
    } else if (channel.getKind() == ChannelKind::rows) {
      auto pull = nn::PullOp::create(builder, wait.getLoc(), value.getType(),
                                     channel.getSymbolAttr(),
                                     keysOf.lookup(channel.getSymbolAttr()));
      nn::setStage(pull, nn::Stage::prepare);
      value.replaceAllUsesWith(pull.getRows());
    }
  }
}

void PSToRT::convertPost(ps::PostOp post, const SymbolTable &symbols) {
  OpBuilder builder(post);
  auto program = post->getParentOfType<nn::ProgramOp>();
  const bool mayLeaveEarly =
      ps::getMode(post->getParentOfType<ModuleOp>()).gradientsMayLeaveEarly();
  // A gradient of table rows needs the keys of the rows: those by which the
  // program has pulled them.
  llvm::DenseMap<Attribute, Value> keysOf;
  for (auto pull : program.getBody().getOps<nn::PullOp>())
    keysOf[pull.getTableAttr()] = pull.getKeys();
  for (ps::ChannelValues &sent : ps::sentValues(post, symbols)) {
    ps::ChannelOp channel = sent.channel;
    if (channel.getKind() != ChannelKind::gradient &&
        channel.getKind() != ChannelKind::row_gradient)
      continue;
    Value keys;
    if (channel.getKind() == ChannelKind::row_gradient)
      keys = keysOf.lookup(channel.getSymbolAttr());
    auto gradient = rt::GradientOp::create(
        builder, post.getLoc(), channel.getSymbolAttr(), keys, sent.getValue(),
        mayLeaveEarly && channel.getKind() == ChannelKind::gradient
            ? builder.getUnitAttr()
            : UnitAttr());
    nn::setStage(gradient, nn::Stage::apply);
  }
}

LogicalResult PSToRT::convertProgram(nn::ProgramOp program,
                                     const SymbolTable &symbols) {
  Block &body = program.getBody().front();
  for (auto wait : body.getOps<ps::WaitOp>())
    convertWait(wait, symbols);
  for (auto post : body.getOps<ps::PostOp>())
    convertPost(post, symbols);
  // If trainers apply, the runtime decides when to exchange changes, so the op
  // is erased. The rest of the program is that of a single process.
  if (ps::getMode(program->getParentOfType<ModuleOp>()).trainersApply) {
    for (auto exchange :
         llvm::make_early_inc_range(body.getOps<ps::ExchangeOp>()))
      exchange.erase();
    return success();
  }
  // The runtime computes norms and sums over trainers.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<ps::WaitOp, ps::PostOp, ps::JoinNormsOp, nn::SquaredNormOp>(op)) {
      if (!op.use_empty())
        return op.emitOpError("has a result that is used in the program, where "
                              "servers continue with it; run ps-to-rt after "
                              "nn-updates-to-kernels");
      op.erase();
    }
  return success();
}

void PSToRT::runOnOperation() {
  ModuleOp module = getOperation();
  if (!module->hasAttr(ps::PSDialect::kRoleAttrName)) {
    module.emitError("is not the module of a role: run ps-outline-roles first, "
                     "and ps-to-rt on each of the modules that it makes");
    return signalPassFailure();
  }
  const SymbolTable symbols(module);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    if (isa<ps::HandlerOp>(op))
      op.erase();
    else if (auto program = dyn_cast<nn::ProgramOp>(op);
             program && failed(convertProgram(program, symbols)))
      return signalPassFailure();
  }
}
