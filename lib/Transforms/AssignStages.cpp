//===- AssignStages.cpp - Which stage computes each op --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNASSIGNSTAGES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct AssignStages : pdlc::impl::NNAssignStagesBase<AssignStages> {
  void runOnOperation() override;

private:
  LogicalResult assign(ProgramOp program);

  uint64_t prepareOps = 0, computeOps = 0, applyOps = 0;
};
} // namespace

/// Whether the op's value is not known before the step before it has been
/// applied.
static bool readsTrainedValues(Operation *op) {
  if (isa<PoolOp>(op))
    return true;
  auto read = dyn_cast<ReadOp>(op);
  return read && isa_and_nonnull<ParamOp>(SymbolTable::lookupNearestSymbolFrom(
                     op, read.getSymbolAttr()));
}

LogicalResult AssignStages::assign(ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::SetVector<Operation *> prepare;
  for (Operation &op : body)
    if (isa<UniqueOp, PullOp, CrossBagsOp>(op))
      prepare.insert(&op);
  for (size_t i = 0; i < prepare.size(); ++i)
    for (Value operand : prepare[i]->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (!made)
        continue;
      if (readsTrainedValues(made)) {
        InFlightDiagnostic diagnostic = prepare[i]->emitOpError(
            "prepares ids from trained values; ids must derive from fields "
            "alone, so that a step can be prepared while the one before it is "
            "computed");
        diagnostic.attachNote(made->getLoc()) << "the trained values";
        return failure();
      }
      prepare.insert(made);
    }
  Builder builder(program.getContext());
  for (Operation &op : body.without_terminator()) {
    StringRef stage = "compute";
    if (prepare.contains(&op)) {
      stage = "prepare";
      ++prepareOps;
    } else if (isa<SquaredNormOp, OnceOp, UpdateOp>(op)) {
      stage = "apply";
      ++applyOps;
    } else {
      ++computeOps;
    }
    op.setAttr("stage", builder.getStringAttr(stage));
  }
  return success();
}

void AssignStages::runOnOperation() {
  prepareOps = computeOps = applyOps = 0;
  for (ProgramOp program : getOperation().getOps<ProgramOp>())
    if (failed(assign(program)))
      return signalPassFailure();
  ModuleOp module = getOperation();
  reportStatistic(*this, module, numPrepare, "prepare", prepareOps);
  reportStatistic(*this, module, numCompute, "compute", computeOps);
  reportStatistic(*this, module, numApply, "apply", applyOps);
}
