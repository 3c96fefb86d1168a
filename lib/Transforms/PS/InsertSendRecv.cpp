//===- InsertSendRecv.cpp - Move state to servers -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace pdlc {
#define GEN_PASS_DEF_PSINSERTSENDRECV
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using ps::ChannelKind;

namespace {

/// Splits one program into the parts of trainers and servers.
class ProgramSplitter {
public:
  ProgramSplitter(nn::ProgramOp program, ps::ModeAttr mode,
                  SymbolTable &symbols)
      : program(program), mode(mode.getProperties()), symbols(symbols),
        body(program.getBody().front()), builder(program),
        loc(program.getLoc()), token(ps::TokenType::get(program.getContext())) {
  }

  LogicalResult run();
  /// Returns the number of declared channels.
  unsigned channelCount() const { return nextNumber; }

private:
  /// Rejects input that earlier passes never produce.
  LogicalResult check();
  ps::ChannelOp createChannel(ChannelKind kind, FlatSymbolRefAttr symbol,
                              FlatSymbolRefAttr clip, Type type,
                              int64_t objective = 0);
  /// Returns the index of the loss sum that has this weight.
  int64_t objectiveOf(Value weight);
  /// Returns the clip that uses this norm.
  FlatSymbolRefAttr clipOf(nn::SquaredNormOp norm);
  void receiveState();
  void sendGradients();
  void exchangeNorms();
  void createNormHandler();
  void createApplyHandler();
  /// Declares the symbols whose changes are exchanged, and the handler that
  /// adds them on servers. Used in modes in which trainers apply rules to a
  /// copy of the state.
  void shareChanges();
  ps::HandlerOp createHandler(StringRef name);
  /// Values that a handler received, for the updates that need them.
  struct Received {
    /// Weights by objective.
    SmallVector<Value> weights;
    llvm::DenseMap<Operation *, ps::MergedOp> gradients;
  };
  Received receiveMerged(OpBuilder &inside);
  void orderByStage();

  /// Sets the stage of an op and returns the op.
  template <typename OpTy> OpTy in(nn::Stage stage, OpTy op) {
    nn::setStage(op, stage);
    return op;
  }

  nn::ProgramOp program;
  const ps::ModeProperties &mode;
  SymbolTable &symbols;
  Block &body;
  OpBuilder builder;
  Location loc;
  Type token;
  unsigned nextNumber = 0;

  SmallVector<nn::UpdateOp> updates;
  /// Updates by symbol.
  llvm::DenseMap<Attribute, nn::UpdateOp> updateOf;
  /// Position of each symbol in the module.
  llvm::DenseMap<Attribute, size_t> places;
  SmallVector<nn::SquaredNormOp> norms;
  /// Channels by update, and by squared norm.
  SmallVector<ps::ChannelOp> gradientChannels, normChannels;
  /// Loss sums by objective.
  SmallVector<nn::LossSumOp> lossSums;
  SmallVector<ps::ChannelOp> lossChannels;
  SmallVector<Value> tokens;
  struct Partial {
    ps::ChannelOp channel;
    nn::UpdateOp update;
  };
  /// Partial norms by squared norm, in module order of the symbols.
  SmallVector<SmallVector<Partial>> partials;
};

struct InsertSendRecv : pdlc::impl::PSInsertSendRecvBase<InsertSendRecv> {
  void runOnOperation() override;
};

} // namespace

ps::ChannelOp ProgramSplitter::createChannel(ChannelKind kind,
                                             FlatSymbolRefAttr symbol,
                                             FlatSymbolRefAttr clip, Type type,
                                             int64_t objective) {
  std::string name =
      (program.getSymName() + "." + ps::stringifyChannelKind(kind)).str();
  // A symbol has a single gradient, whichever clip applies to it.
  bool isGradient =
      kind == ChannelKind::gradient || kind == ChannelKind::row_gradient;
  for (FlatSymbolRefAttr part : {isGradient ? nullptr : clip, symbol})
    if (part)
      name += "." + part.getValue().str();
  auto channel = ps::ChannelOp::create(builder, loc, name, nextNumber++,
                                       program.getSymName(), kind, symbol, clip,
                                       objective, type);
  // The symbol table renames the channel if the model already uses the name.
  symbols.insert(channel);
  return channel;
}

/// Returns the `nn.once` that computes the scalars of an update; null if the
/// update has no scalars.
static nn::OnceOp onceOf(nn::UpdateOp update) {
  if (update.getScalars().empty())
    return {};
  return update.getScalars().front().getDefiningOp<nn::OnceOp>();
}

static FlatSymbolRefAttr nameOf(ps::ChannelOp channel) {
  return FlatSymbolRefAttr::get(channel.getSymNameAttr());
}

//===----------------------------------------------------------------------===//
// Part of the trainer
//===----------------------------------------------------------------------===//

void ProgramSplitter::receiveState() {
  for (auto read : llvm::make_early_inc_range(body.getOps<nn::ReadOp>())) {
    ps::ChannelOp channel = createChannel(
        ChannelKind::value, read.getSymbolAttr(), {}, read.getType());
    OpBuilder at(read);
    auto recv =
        in(nn::Stage::receive,
           ps::RecvOp::create(at, read.getLoc(), TypeRange(read.getType()),
                              nameOf(channel), ValueRange()));
    read.getResult().replaceAllUsesWith(recv.getResult(0));
    read.erase();
  }
  for (auto pull : llvm::make_early_inc_range(body.getOps<nn::PullOp>())) {
    ps::ChannelOp keys = createChannel(ChannelKind::keys, pull.getTableAttr(),
                                       {}, pull.getKeys().getType());
    ps::ChannelOp rows = createChannel(ChannelKind::rows, pull.getTableAttr(),
                                       {}, pull.getType());
    OpBuilder at(pull);
    auto remote =
        in(nn::Stage::receive,
           ps::PullOp::create(at, pull.getLoc(), pull.getType(), nameOf(rows),
                              pull.getKeys(), nameOf(keys)));
    pull.getRows().replaceAllUsesWith(remote.getRows());
    pull.erase();
  }
}

FlatSymbolRefAttr ProgramSplitter::clipOf(nn::SquaredNormOp norm) {
  auto once = cast<nn::OnceOp>(
      *llvm::find_if(norm.getResult().getUsers(), llvm::IsaPred<nn::OnceOp>));
  return symbols.lookup<nn::GroupOp>(once.getGroup()).getClipAttr();
}

int64_t ProgramSplitter::objectiveOf(Value weight) {
  return llvm::find(lossSums, weight.getDefiningOp<nn::LossSumOp>()) -
         lossSums.begin();
}

void ProgramSplitter::sendGradients() {
  OpBuilder at(body.getTerminator());
  // If workers form the norms themselves, gradient channels name the clip.
  llvm::SmallDenseMap<Attribute, FlatSymbolRefAttr> clips;
  if (mode.sendersFormNorms)
    for (nn::SquaredNormOp norm : norms)
      for (Attribute symbol : norm.getSymbols())
        clips[symbol] = clipOf(norm);
  for (nn::UpdateOp update : updates) {
    bool isTable = bool(update.getKeys());
    ps::ChannelOp channel = createChannel(
        isTable ? ChannelKind::row_gradient : ChannelKind::gradient,
        update.getSymbolAttr(), clips.lookup(update.getSymbolAttr()),
        update.getGradient().getType(),
        objectiveOf(onceOf(update).getWeight()));
    gradientChannels.push_back(channel);
    Value sent =
        isTable
            ? in(nn::Stage::send,
                 ps::PushOp::create(at, update.getLoc(), token, nameOf(channel),
                                    update.getGradient(), update.getKeys()))
                  .getToken()
            : in(nn::Stage::send,
                 ps::SendOp::create(at, update.getLoc(), token, nameOf(channel),
                                    update.getGradient()))
                  .getToken();
    tokens.push_back(sent);
  }
  for (nn::LossSumOp lossSum : lossSums) {
    ps::ChannelOp channel =
        createChannel(ChannelKind::loss, {}, {},
                      RankedTensorType::get({2}, builder.getF64Type()));
    lossChannels.push_back(channel);
    tokens.push_back(
        in(nn::Stage::send,
           ps::SendOp::create(
               at, lossSum.getLoc(), token, nameOf(channel),
               ps::LossSums{lossSum.getSum(), lossSum.getWeight()}.getValues()))
            .getToken());
  }
}

void ProgramSplitter::exchangeNorms() {
  auto vector =
      RankedTensorType::get({ShapedType::kDynamic}, builder.getF64Type());
  OpBuilder at(body.getTerminator());
  SmallVector<Value> after = tokens;
  if (mode.stepsAreRounds)
    after = {in(nn::Stage::send, ps::BarrierOp::create(at, loc, token, tokens))
                 .getToken()};
  Type scalar = lossSums.front().getWeight().getType();
  for (auto [lossSum, channel] : llvm::zip_equal(lossSums, lossChannels))
    in(nn::Stage::send,
       ps::RecvOp::create(at, lossSum.getLoc(), ps::valueTypes(channel),
                          nameOf(channel), after));
  for (nn::SquaredNormOp norm : norms) {
    FlatSymbolRefAttr clip = clipOf(norm);
    SmallVector<Partial> &own = partials.emplace_back();
    Value joined = norm.getResult();
    if (!mode.sendersFormNorms) {
      // No server has all gradients of a clip, so each sends partial norms.
      // They are joined in the order in which the module declares the symbols,
      // as in a single process.
      SmallVector<Value> parts;
      auto counted =
          llvm::to_vector(norm.getSymbols().getAsRange<FlatSymbolRefAttr>());
      llvm::sort(counted, [&](FlatSymbolRefAttr a, FlatSymbolRefAttr b) {
        return places.lookup(a) < places.lookup(b);
      });
      counted.erase(llvm::unique(counted), counted.end());
      for (FlatSymbolRefAttr name : counted) {
        ps::ChannelOp channel =
            createChannel(ChannelKind::partial_norm, name, clip, vector);
        own.push_back({channel, updateOf.lookup(name)});
        parts.push_back(
            in(nn::Stage::send,
               ps::RecvOp::create(at, norm.getLoc(), TypeRange(vector),
                                  nameOf(channel), after))
                .getResult(0));
      }
      joined =
          in(nn::Stage::send,
             ps::JoinNormsOp::create(at, norm.getLoc(), norm.getType(), parts))
              .getNorm();
    } else {
      norm->moveBefore(body.getTerminator());
      in(nn::Stage::send, norm);
    }
    ps::ChannelOp channel = createChannel(ChannelKind::norm, {}, clip, scalar);
    normChannels.push_back(channel);
    in(nn::Stage::send,
       ps::SendOp::create(at, norm.getLoc(), token, nameOf(channel), joined));
  }
}

//===----------------------------------------------------------------------===//
// Part of the servers
//===----------------------------------------------------------------------===//

ps::HandlerOp ProgramSplitter::createHandler(StringRef name) {
  auto handler = ps::HandlerOp::create(
      builder, loc, (program.getSymName() + "." + name).str(),
      program.getSymName(), FlatSymbolRefAttr());
  handler.getBody().emplaceBlock();
  symbols.insert(handler);
  handler->moveAfter(program);
  return handler;
}

ProgramSplitter::Received ProgramSplitter::receiveMerged(OpBuilder &inside) {
  Received received;
  for (auto [lossSum, channel] : llvm::zip_equal(lossSums, lossChannels))
    received.weights.push_back(ps::MergedOp::create(inside, lossSum.getLoc(),
                                                    ps::valueTypes(channel),
                                                    nameOf(channel))
                                   .getLossSums()
                                   .weight);
  for (auto [update, channel] : llvm::zip_equal(updates, gradientChannels)) {
    SmallVector<Type> types{update.getGradient().getType()};
    if (update.getKeys())
      types.insert(types.begin(), update.getKeys().getType());
    received.gradients[update] =
        ps::MergedOp::create(inside, update.getLoc(), types, nameOf(channel));
  }
  return received;
}

void ProgramSplitter::createNormHandler() {
  ps::HandlerOp handler = createHandler("norms");
  OpBuilder inside = OpBuilder::atBlockBegin(&handler.getBody().front());
  Received received = receiveMerged(inside);
  for (SmallVector<Partial> &ofNorm : partials)
    for (Partial &partial : ofNorm)
      ps::PartialNormOp::create(
          inside, partial.update.getLoc(), nameOf(partial.channel),
          received.gradients.lookup(partial.update).getGradient(),
          received.weights[objectiveOf(onceOf(partial.update).getWeight())]);
}

void ProgramSplitter::createApplyHandler() {
  ps::HandlerOp handler = createHandler("apply");
  OpBuilder inside = OpBuilder::atBlockBegin(&handler.getBody().front());
  Received received = receiveMerged(inside);
  IRMapping mapping;
  for (auto [lossSum, weight] : llvm::zip_equal(lossSums, received.weights))
    mapping.map(lossSum.getWeight(), weight);
  for (auto [norm, channel] : llvm::zip_equal(norms, normChannels))
    mapping.map(norm.getResult(),
                ps::MergedOp::create(inside, norm.getLoc(),
                                     TypeRange(norm.getType()), nameOf(channel))
                    .getNorm());
  SmallVector<Operation *> moved;
  for (Operation &op : body)
    if (isa<nn::OnceOp, nn::UpdateOp>(op)) {
      if (auto update = dyn_cast<nn::UpdateOp>(op)) {
        // In the program, several symbols may have the same gradient or the
        // same keys. On servers, each symbol uses what its own channel
        // received.
        ps::MergedOp merged = received.gradients.lookup(update);
        mapping.map(update.getGradient(), merged.getGradient());
        if (update.getKeys())
          mapping.map(update.getKeys(), merged.getKeys());
      }
      nn::removeStage(inside.clone(op, mapping));
      moved.push_back(&op);
    }
  for (Operation *op : llvm::reverse(moved))
    op->erase();
  if (!mode.sendersFormNorms)
    for (nn::SquaredNormOp norm : norms)
      norm.erase();
}

//===----------------------------------------------------------------------===//
// Trainers with copies of the state
//===----------------------------------------------------------------------===//

/// Declares the symbols whose changes trainers exchange through servers. The
/// ops of the program do not change. A symbol that the program updates is sent
/// and received. Any other symbol is only received, because servers may have
/// loaded values other than the initial ones.
void ProgramSplitter::shareChanges() {
  SmallVector<std::pair<nn::UpdateOp, ps::ChannelOp>> deltas;
  OpBuilder at = OpBuilder::atBlockBegin(&body);
  for (Operation &op : *program->getBlock()) {
    if (!op.hasTrait<HoldsState>())
      continue;
    auto symbol = FlatSymbolRefAttr::get(SymbolTable::getSymbolName(&op));
    nn::UpdateOp update = updateOf.lookup(symbol);
    SmallVector<Attribute> sends, receives;
    auto create = [&](SmallVector<Attribute> &list, ChannelKind kind,
                      Type type) {
      ps::ChannelOp channel = createChannel(kind, symbol, {}, type);
      list.push_back(nameOf(channel));
      return channel;
    };
    auto sendDelta = [&](ChannelKind kind, Type type) {
      deltas.push_back({update, create(sends, kind, type)});
    };
    if (auto table = dyn_cast<nn::TableOp>(op)) {
      SmallVector<int64_t> shape{ShapedType::kDynamic};
      llvm::append_range(shape, table.getRowType().getShape());
      Type rows =
          RankedTensorType::get(shape, table.getRowType().getElementType());
      Type keys =
          RankedTensorType::get({ShapedType::kDynamic}, builder.getI64Type());
      if (update) {
        create(sends, ChannelKind::keys, keys);
        sendDelta(ChannelKind::row_delta, rows);
      }
      create(receives, ChannelKind::changed_keys, keys);
      create(receives, ChannelKind::rows, rows);
    } else {
      Type type = cast<TypeAttr>(op.getAttr("type")).getValue();
      if (update)
        sendDelta(ChannelKind::delta, type);
      create(receives, ChannelKind::value, type);
    }
    in(nn::Stage::receive,
       ps::ShareOp::create(at, op.getLoc(), symbol, at.getArrayAttr(sends),
                           at.getArrayAttr(receives)));
  }
  ps::HandlerOp handler = createHandler("add");
  OpBuilder inside = OpBuilder::atBlockBegin(&handler.getBody().front());
  for (auto [update, channel] : deltas) {
    SmallVector<Type> types = ps::valueTypes(channel);
    if (update.getKeys())
      types.insert(types.begin(), update.getKeys().getType());
    auto merged =
        ps::MergedOp::create(inside, update.getLoc(), types, nameOf(channel));
    ps::AddDeltaOp::create(inside, update.getLoc(), update.getSymbolAttr(),
                           merged.getKeys(), merged.getDelta());
  }
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

/// Moves the ops of each stage together, in the order of the stages.
void ProgramSplitter::orderByStage() {
  Operation *end = body.getTerminator();
  for (const nn::StageProperties &properties : nn::allStages()) {
    SmallVector<Operation *> ops;
    for (Operation &op : body.without_terminator())
      if (nn::stageOf(&op).getValue() == properties.stage)
        ops.push_back(&op);
    for (Operation *op : ops)
      op->moveBefore(end);
  }
}

LogicalResult ProgramSplitter::check() {
  llvm::SmallDenseSet<Attribute> pulled;
  for (Operation &op : body.without_terminator()) {
    nn::StageAttr stage = nn::stageOf(&op);
    if (!stage)
      return op.emitOpError("has no stage: run nn-assign-stages first");
    if (stage.getProperties().needsServers())
      return op.emitOpError()
             << "is of stage " << nn::stringifyStage(stage.getValue())
             << "; only prepare, compute and apply are there "
                "before ps-insert-send-recv has run";
    auto pull = dyn_cast<nn::PullOp>(op);
    if (pull && !pulled.insert(pull.getTableAttr()).second)
      return pull.emitOpError() << "pulls from " << pull.getTableAttr()
                                << " a second time: run nn-merge-lookups first";
  }
  for (nn::UpdateOp update : updates) {
    nn::OnceOp once = onceOf(update);
    if (!once || !once.getWeight().getDefiningOp<nn::LossSumOp>())
      return update.emitOpError("updates state without an nn.loss_sum, whose "
                                "weight servers divide by");
  }
  for (nn::SquaredNormOp norm : norms) {
    if (llvm::none_of(norm.getResult().getUsers(), llvm::IsaPred<nn::OnceOp>))
      return norm.emitOpError("is the norm of no group's clip");
    for (auto name : norm.getSymbols().getAsRange<FlatSymbolRefAttr>())
      if (!updateOf.contains(name))
        return norm.emitOpError()
               << "counts in " << name << ", which nothing updates";
  }
  return success();
}

LogicalResult ProgramSplitter::run() {
  llvm::append_range(updates, body.getOps<nn::UpdateOp>());
  llvm::append_range(norms, body.getOps<nn::SquaredNormOp>());
  for (nn::UpdateOp update : updates)
    updateOf.try_emplace(update.getSymbolAttr(), update);
  for (auto [place, op] : llvm::enumerate(*program->getBlock()))
    if (StringAttr name = SymbolTable::getSymbolName(&op))
      places[FlatSymbolRefAttr::get(name)] = place;
  if (failed(check()))
    return failure();
  if (mode.trainersApply) {
    if (!updates.empty())
      shareChanges();
    orderByStage();
    return success();
  }
  receiveState();
  if (!updates.empty()) {
    llvm::append_range(lossSums, body.getOps<nn::LossSumOp>());
    sendGradients();
    exchangeNorms();
    if (!mode.sendersFormNorms && !norms.empty())
      createNormHandler();
    createApplyHandler();
  }
  orderByStage();
  return success();
}

void InsertSendRecv::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<ps::ModeAttr> mode = ps::requireMode(module);
  if (failed(mode))
    return signalPassFailure();
  SymbolTable symbols(module);
  uint64_t channels = 0;
  for (auto program :
       llvm::make_early_inc_range(module.getOps<nn::ProgramOp>())) {
    ProgramSplitter splitter(program, *mode, symbols);
    if (failed(splitter.run()))
      return signalPassFailure();
    channels += splitter.channelCount();
  }
  reportStatistic(*this, module, numChannels, "channels", channels);
}
