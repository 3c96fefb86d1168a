//===- AssignStages.cpp - Assign ops to stages ----------------------------===//
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

/// Returns true if the op reads values of the model, which are not known yet
/// when a step is prepared. Trained values are known only after the previous
/// step has been applied, and values of servers only after they have arrived.
static bool readsModelState(Operation *op) {
  return op->hasTrait<ReadsModel>();
}

LogicalResult AssignStages::assign(ProgramOp program) {
  Block &body = program.getBody().front();
  llvm::SetVector<Operation *> prepare;
  for (Operation &op : body)
    if (op.hasTrait<PreparesStep>())
      prepare.insert(&op);
  for (size_t i = 0; i < prepare.size(); ++i)
    for (Value operand : prepare[i]->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (!made)
        continue;
      if (readsModelState(made)) {
        InFlightDiagnostic diagnostic = prepare[i]->emitOpError(
            "prepares ids from values of the model; ids must derive from "
            "fields and constants alone, so that a step can be prepared "
            "before the one before it has been applied");
        diagnostic.attachNote(made->getLoc()) << "the values of the model";
        return failure();
      }
      prepare.insert(made);
    }
  for (Operation &op : body.without_terminator()) {
    Stage stage = Stage::compute;
    if (prepare.contains(&op)) {
      stage = Stage::prepare;
      ++prepareOps;
    } else if (op.hasTrait<AppliesStep>()) {
      stage = Stage::apply;
      ++applyOps;
    } else {
      ++computeOps;
    }
    setStage(&op, stage);
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
