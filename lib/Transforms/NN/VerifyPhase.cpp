//===- VerifyPhase.cpp - Verify the invariants of a phase -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Verifier.h"
#include "pdlc/Analysis/LookupIds.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Phases.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/JSON.h"

namespace pdlc {
#define GEN_PASS_DEF_NNVERIFYPHASE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Rejects `op` because it may not occur in `phase`.
static LogicalResult reject(Operation *op, Phase phase, StringRef why) {
  return op->emitOpError() << "may not stand in phase " << stringify(phase)
                           << ": " << why;
}

/// Verifies that the op may occur in the phase, as its interface declares.
static LogicalResult verifySpan(Operation *op, Phase phase) {
  auto phased = dyn_cast<PhasedOpInterface>(op);
  if (!phased)
    return success();
  PhaseSpan span = phased.getPhases();
  if (phase > span.last)
    return reject(op, phase, span.fate);
  if (phase < span.first)
    return reject(op, phase, span.maker);
  return success();
}

static LogicalResult failWithNote(InFlightDiagnostic diagnostic, Location loc,
                                  StringRef note) {
  diagnostic.attachNote(loc) << note;
  return failure();
}

//===----------------------------------------------------------------------===//
// Phase `model`
//===----------------------------------------------------------------------===//

/// Verifies a name. Names become parts of safetensors headers, which are JSON,
/// and of reports with one line per entry.
static LogicalResult verifyName(Operation *op, StringRef name) {
  if (name.empty() ||
      llvm::any_of(name, [](unsigned char c) { return c < 32 || c == 127; }))
    return op->emitOpError("needs a name without control characters: files "
                           "and messages show it");
  if (!llvm::json::isUTF8(name))
    return op->emitOpError("has a name that is not UTF-8, which files cannot "
                           "hold; give it another one");
  if (name == "__metadata__" &&
      (op->hasTrait<HoldsState>() || isa<FieldOp>(op)))
    return op->emitOpError("has name '__metadata__', which safetensors files "
                           "reserve; give it another one");
  return success();
}

/// Verifies that the module contains only symbols of dialect nn, and that
/// programs and functions contain only ops of nn, because later phases handle
/// nothing else. Also verifies names.
static LogicalResult verifyPlace(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto module = dyn_cast<ModuleOp>(op); module && !parent)
    return module.getSymName() ? verifyName(op, *module.getSymName())
                               : success();
  if (!parent || isa<RuleOp, ScheduleOp>(parent))
    return success();
  if (!isa_and_nonnull<NNDialect>(op->getDialect()))
    return op->emitOpError("is not of dialect nn, of which a model consists");
  if (isa<ModuleOp>(parent) && !isa<SymbolOpInterface>(op))
    return op->emitOpError("stands outside of an nn.program and an nn.func");
  if (auto symbol = dyn_cast<SymbolOpInterface>(op)) {
    StringRef name = symbol.getNameAttr() ? symbol.getName() : StringRef();
    if (failed(verifyName(op, name)))
      return failure();
    for (StringRef prefix : {"pdlrt_", "pdlabi_", "pdl_", "pdl."})
      if (isa<ModuleOp>(parent) && name.starts_with(prefix))
        return op->emitOpError()
               << "has a name that starts with '" << prefix
               << "', as those of the runtime do; give it another one";
  }
  return success();
}

static LogicalResult verifyModelOp(Operation *op) {
  if (failed(verifyPlace(op)))
    return failure();
  if (failed(verifySpan(op, Phase::Model)))
    return failure();
  if (auto mixing = dyn_cast<SampleMixingOpInterface>(op))
    if (std::optional<std::string> how = mixing.mixesSamples())
      return op->emitOpError() << *how;
  if (auto lookup = dyn_cast<LookupOp>(op))
    return verifyIdsFromFields(lookup);
  if (auto count = dyn_cast<CountOp>(op))
    return verifyIdsFromFields(count);
  return success();
}

//===----------------------------------------------------------------------===//
// Phase `merged` and later
//===----------------------------------------------------------------------===//

static LogicalResult verifyMergedOp(Operation *op, Phase phase) {
  if (auto table = dyn_cast<TableOp>(op); table && table.widens())
    return reject(op, phase, "nn-split-tables has made two of it by now");
  if (failed(verifySpan(op, phase)))
    return failure();
  for (Type type : op->getResultTypes())
    if (isa<RaggedType>(type))
      return reject(op, phase, "bags are ids and splits by now");
  return success();
}

/// Verifies the snapshot rule: a program reads each symbol at most once,
/// updates it at most once, and does not use it after the update. So an update
/// can always be done in place.
static LogicalResult verifySnapshot(ProgramOp program) {
  DenseMap<StringAttr, Operation *> reads, updates;
  auto record = [&](DenseMap<StringAttr, Operation *> &seen, Operation *op,
                    FlatSymbolRefAttr symbol, StringRef verb) -> LogicalResult {
    if (Operation *update = updates.lookup(symbol.getAttr()))
      return failWithNote(op->emitOpError()
                              << "mentions " << symbol
                              << " after its update (nn.program, C5)",
                          update->getLoc(), "updated here");
    auto [first, isNew] = seen.try_emplace(symbol.getAttr(), op);
    if (isNew)
      return success();
    return failWithNote(op->emitOpError() << verb << " " << symbol
                                          << " a second time (nn.program, C5)",
                        first->second->getLoc(), "the first time is here");
  };
  // If servers hold the rows, ps-verify-roles compares the keys.
  auto checkKeys = [&](UpdateOp update) -> LogicalResult {
    auto pull = dyn_cast_or_null<PullOp>(
        reads.lookup(update.getSymbolAttr().getAttr()));
    if (!pull || pull.getKeys() == update.getKeys())
      return success();
    return failWithNote(update.emitOpError()
                            << "updates rows of " << update.getSymbolAttr()
                            << " by other keys than they are pulled by (C1)",
                        pull.getLoc(), "pulled here");
  };
  for (Operation &op : program.getBody().front()) {
    LogicalResult result = success();
    if (auto read = dyn_cast<ReadOp>(op))
      result = record(reads, &op, read.getSymbolAttr(), "reads");
    else if (auto pull = dyn_cast<PullOp>(op))
      result = record(reads, &op, pull.getTableAttr(), "pulls");
    else if (auto update = dyn_cast<UpdateOp>(op))
      result = failed(checkKeys(update))
                   ? failure()
                   : record(updates, &op, update.getSymbolAttr(), "updates");
    if (failed(result))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct VerifyPhase : pdlc::impl::NNVerifyPhaseBase<VerifyPhase> {
  using NNVerifyPhaseBase::NNVerifyPhaseBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // Earlier passes may have run without verification.
    if (failed(mlir::verify(module)))
      return signalPassFailure();
    std::optional<Phase> expected = symbolizePhase(phase);
    if (!expected) {
      module.emitError() << "nn-verify-phase knows no phase '" << phase
                         << "'; expected one of " << phaseList();
      return signalPassFailure();
    }
    auto reached = module->getAttrOfType<StringAttr>(NNDialect::kPhaseAttrName);
    StringRef actual = reached ? reached.getValue() : "model";
    if (actual != phase) {
      module.emitError() << "is in phase " << actual << ", expected " << phase;
      return signalPassFailure();
    }
    if (failed(verifyModule(module, *expected)))
      signalPassFailure();
  }

  LogicalResult verifyModule(ModuleOp module, Phase phase) {
    if (phase >= Phase::Buffers)
      return verifyLowered(module, phase);
    WalkResult result = module.walk([&](Operation *op) -> WalkResult {
      return phase == Phase::Model ? verifyModelOp(op)
                                   : verifyMergedOp(op, phase);
    });
    if (result.wasInterrupted())
      return failure();
    if (phase == Phase::Model) {
      if (module.getOps<ProgramOp>().empty())
        return module.emitError("holds no nn.program: there is nothing to "
                                "train, evaluate or predict");
      return success();
    }
    // Includes programs in the modules of roles.
    result = module.walk([&](ProgramOp program) -> WalkResult {
      if (failed(verifySnapshot(program)))
        return failure();
      return phase >= Phase::Split ? verifyStages(program) : success();
    });
    return failure(result.wasInterrupted());
  }

  /// Verifies, from phase `split` on, that each op belongs to a stage and that
  /// no stage waits for a later one.
  LogicalResult verifyStages(ProgramOp program) {
    const bool hasServers =
        ps::getMode(program->getParentOfType<ModuleOp>()).hasServers;
    for (Operation &op : program.getBody().front().without_terminator()) {
      StageAttr stage = stageOf(&op);
      if (!stage)
        return op.emitOpError("has no stage; expected the attribute 'stage' to "
                              "be ")
               << stageList();
      const StageProperties &properties = stage.getProperties();
      if (properties.needsServers() && !hasServers)
        return op.emitOpError("stands in a stage of servers, and the mode has "
                              "none");
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (StageAttr earlier = stageOf(producer);
              earlier && earlier.runsAfter(stage))
            return failWithNote(op.emitOpError("waits for a later stage"),
                                producer->getLoc(), "this runs later");
      if (op.hasTrait<PreparesStep>() && !properties.mayFail)
        return op.emitOpError("can fail and stands outside of prepare");
      // In some modes, workers compute the norm of their own gradients. So an
      // op with trait AppliesStep that updates nothing may also be in a stage
      // that sends.
      bool applies = op.hasTrait<AppliesStep>() &&
                     !(isPure(&op) && properties.sendsResults);
      if (applies != properties.writesState)
        return op.emitOpError("belongs to apply exactly if it updates state");
      if (isa_and_nonnull<ps::PSDialect>(op.getDialect()) &&
          !properties.needsServers())
        return op.emitOpError("belongs to receive or send: servers take part");
    }
    return success();
  }

  /// Verifies, from phase `buffers` on, that the module contains no programs
  /// and no tensors, and in phase `llvm` only ops of LLVM and a target triple.
  LogicalResult verifyLowered(ModuleOp module, Phase phase) {
    WalkResult result = module.walk([&](Operation *op) -> WalkResult {
      if (isa<ProgramOp>(op))
        return reject(op, phase, "programs are stage functions by now");
      for (Type type : op->getResultTypes())
        if (isa<TensorType>(type))
          return reject(op, phase, "values live in buffers by now");
      bool llvmOnly = phase == Phase::LLVM && !isa<ModuleOp>(op) &&
                      op->getName().getDialectNamespace() != "llvm";
      if (llvmOnly)
        return reject(op, phase, "only LLVM ops are left by now");
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (phase == Phase::LLVM && !module->hasAttr("llvm.target_triple"))
      return module.emitError("has no target triple: the LLVM optimizer would "
                              "emit scalar code without a word");
    return success();
  }
};
} // namespace
