//===- FuseMessages.cpp - Fuse messages per server and step ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSFUSEMESSAGES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

namespace {

/// Creates the messages of one program.
class MessageFuser {
public:
  MessageFuser(nn::ProgramOp program, ps::ModeAttr mode, SymbolTable &symbols)
      : program(program), mode(mode.getProperties()), symbols(symbols),
        body(program.getBody().front()), builder(program),
        loc(program.getLoc()) {}

  LogicalResult run();
  /// Number of messages per step and server, before and after fusion.
  unsigned before = 0, after = 0;

private:
  ps::MessageOp createMessage(StringRef name, ArrayRef<Attribute> sends,
                              ArrayRef<Attribute> ahead,
                              ArrayRef<Attribute> receives);
  /// Inserts a wait for the channels that `ops` received, and replaces the ops.
  void waitFor(OpBuilder &at, ps::MessageOp message, ValueRange keys,
               ArrayRef<Operation *> ops, nn::Stage stage);
  void post(OpBuilder &at, ps::MessageOp message, ValueRange values);
  /// Creates one message for all symbols that a copy shares.
  void joinShares(ArrayRef<ps::ShareOp> shares);
  /// Sets the message that starts each handler. The handler that computes
  /// partial norms starts with `exchange`, because its response carries them.
  /// The handler that updates state starts with `last`.
  void setHandlers(ps::MessageOp exchange, ps::MessageOp last);
  ChannelKind kindOf(FlatSymbolRefAttr channel) {
    return ps::lookupChannel(symbols, channel).getKind();
  }

  nn::ProgramOp program;
  const ps::ModeProperties &mode;
  SymbolTable &symbols;
  Block &body;
  OpBuilder builder;
  Location loc;
  /// True if the program sends gradients. Messages form rounds only in this
  /// case.
  bool trains = false;
};

struct FuseMessages : pdlc::impl::PSFuseMessagesBase<FuseMessages> {
  void runOnOperation() override;
};

} // namespace

ps::MessageOp MessageFuser::createMessage(StringRef name,
                                          ArrayRef<Attribute> sends,
                                          ArrayRef<Attribute> ahead,
                                          ArrayRef<Attribute> receives) {
  auto message = ps::MessageOp::create(
      builder, loc, (program.getSymName() + "." + name).str(),
      program.getSymName(), mode.stepsAreRounds && trains,
      builder.getArrayAttr(sends), builder.getArrayAttr(ahead),
      builder.getArrayAttr(receives));
  symbols.insert(message);
  ++after;
  return message;
}

void MessageFuser::waitFor(OpBuilder &at, ps::MessageOp message,
                           ValueRange keys, ArrayRef<Operation *> ops,
                           nn::Stage stage) {
  SmallVector<Type> types;
  for (Attribute name : message.getReceives())
    llvm::append_range(types, ps::valueTypes(ps::lookupChannel(symbols, name)));
  auto wait = ps::WaitOp::create(
      at, loc, types, FlatSymbolRefAttr::get(message.getSymNameAttr()), keys);
  for (auto [op, received] :
       llvm::zip_equal(ops, ps::receivedValues(wait, symbols)))
    op->replaceAllUsesWith(received.values);
  nn::setStage(wait, stage);
}

void MessageFuser::post(OpBuilder &at, ps::MessageOp message,
                        ValueRange values) {
  nn::setStage(
      ps::PostOp::create(
          at, loc, FlatSymbolRefAttr::get(message.getSymNameAttr()), values),
      nn::Stage::send);
}

void MessageFuser::setHandlers(ps::MessageOp exchange, ps::MessageOp last) {
  for (auto handler : program->getBlock()->getOps<ps::HandlerOp>()) {
    if (handler.getProgram() != program.getSymName())
      continue;
    bool returnsNorms = !handler.getBody().getOps<ps::PartialNormOp>().empty();
    handler.setMessageAttr(FlatSymbolRefAttr::get(
        (returnsNorms ? exchange : last).getSymNameAttr()));
  }
}

void MessageFuser::joinShares(ArrayRef<ps::ShareOp> shares) {
  SmallVector<Attribute> sends, receives;
  for (ps::ShareOp share : shares) {
    llvm::append_range(sends, share.getSends());
    llvm::append_range(receives, share.getReceives());
  }
  ps::MessageOp message = createMessage("exchange", sends, {}, receives);
  OpBuilder at(shares.front());
  nn::setStage(ps::ExchangeOp::create(
                   at, loc, FlatSymbolRefAttr::get(message.getSymNameAttr())),
               nn::Stage::receive);
  setHandlers(message, message);
  before = shares.size();
  for (ps::ShareOp share : shares)
    share.erase();
}

LogicalResult MessageFuser::run() {
  if (auto shares = llvm::to_vector(body.getOps<ps::ShareOp>());
      !shares.empty()) {
    joinShares(shares);
    return success();
  }
  // `entry`: ops that receive the state at the entry of a step. `responses`:
  // ops that receive results of the step. `plain`: all ops that messages
  // replace. The other lists hold channels and values to send.
  SmallVector<Operation *> entry, responses, plain;
  SmallVector<Attribute> entryNames, keyNames, sends, responseNames, normNames;
  SmallVector<Value> keys, sent, joined;
  for (Operation &op : body) {
    if (auto recv = dyn_cast<ps::RecvOp>(op)) {
      bool atEntry = kindOf(recv.getChannelAttr()) == ChannelKind::value;
      (atEntry ? entry : responses).push_back(recv);
      (atEntry ? entryNames : responseNames).push_back(recv.getChannelAttr());
    } else if (auto pull = dyn_cast<ps::PullOp>(op)) {
      entry.push_back(pull);
      entryNames.push_back(pull.getChannelAttr());
      keyNames.push_back(pull.getKeysChannelAttr());
      keys.push_back(pull.getKeys());
    } else if (auto push = dyn_cast<ps::PushOp>(op)) {
      sends.push_back(push.getChannelAttr());
      sent.push_back(push.getGradient());
    } else if (auto send = dyn_cast<ps::SendOp>(op)) {
      // A norm that is joined from partial norms is known only after the
      // response of servers, so it needs a second message.
      bool isNorm = !mode.sendersFormNorms &&
                    kindOf(send.getChannelAttr()) == ChannelKind::norm;
      (isNorm ? normNames : sends).push_back(send.getChannelAttr());
      llvm::append_range(isNorm ? joined : sent, send.getValues());
    } else if (!isa<ps::BarrierOp>(op)) {
      continue;
    }
    plain.push_back(&op);
  }
  before = plain.size();
  if (plain.empty())
    return success();
  trains = !sends.empty();
  if (!normNames.empty() && responses.empty())
    return program.emitOpError(
        "sends a norm, but receives no partial norms that it could be joined "
        "from");

  OpBuilder atEntry(entry.empty() ? &body.front() : entry.front());
  OpBuilder atEnd(body.getTerminator());
  if (sends.empty()) {
    // The program does not train. Its only message sends keys and receives rows
    // and values.
    ps::MessageOp pull = createMessage("pull", keyNames, {}, entryNames);
    waitFor(atEntry, pull, keys, entry, nn::Stage::receive);
  } else if (normNames.empty()) {
    // The response to the exchange of the previous step also contains its
    // summed losses, for reports.
    llvm::append_range(sends, keyNames);
    llvm::append_range(responseNames, entryNames);
    llvm::append_range(responses, entry);
    ps::MessageOp exchange =
        createMessage("exchange", sends, keyNames, responseNames);
    waitFor(atEntry, exchange, keys, responses, nn::Stage::receive);
    post(atEnd, exchange, sent);
    setHandlers(exchange, exchange);
  } else {
    ps::MessageOp exchange =
        createMessage("exchange", sends, {}, responseNames);
    llvm::append_range(normNames, keyNames);
    ps::MessageOp norm = createMessage("norm", normNames, keyNames, entryNames);
    waitFor(atEntry, norm, keys, entry, nn::Stage::receive);
    OpBuilder atResponses(responses.front());
    post(atResponses, exchange, sent);
    waitFor(atResponses, exchange, {}, responses, nn::Stage::send);
    post(atEnd, norm, joined);
    setHandlers(exchange, norm);
  }
  for (Operation *op : llvm::reverse(plain))
    op->erase();
  return success();
}

void FuseMessages::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<ps::ModeAttr> mode = ps::requireMode(module);
  if (failed(mode))
    return signalPassFailure();
  SymbolTable symbols(module);
  uint64_t before = 0, after = 0;
  for (auto program :
       llvm::make_early_inc_range(module.getOps<nn::ProgramOp>())) {
    MessageFuser fuser(program, *mode, symbols);
    if (failed(fuser.run()))
      return signalPassFailure();
    before += fuser.before;
    after += fuser.after;
  }
  reportStatistic(*this, module, numBefore, "messages-before", before);
  reportStatistic(*this, module, numAfter, "messages-after", after);
}
