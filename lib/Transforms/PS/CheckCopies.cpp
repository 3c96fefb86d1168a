//===- CheckCopies.cpp - Check that model deltas can be merged ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_PSCHECKCOPIES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct CheckCopies : pdlc::impl::PSCheckCopiesBase<CheckCopies> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<ps::ModeAttr> mode = ps::requireMode(module);
    if (failed(mode))
      return signalPassFailure();
    markAllAnalysesPreserved();
    if (!mode->getProperties().trainersApply)
      return;
    modeName = mode->getProperties().name;
    SymbolTable symbols(module);
    WalkResult result = module.walk([&](nn::UpdateOp update) -> WalkResult {
      return check(update, symbols);
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult check(nn::UpdateOp update, SymbolTable &symbols);

  std::string modeName;
};
} // namespace

LogicalResult CheckCopies::check(nn::UpdateOp update, SymbolTable &symbols) {
  Operation *symbol = symbols.lookup(update.getSymbolAttr().getAttr());
  auto group = symbols.lookup<nn::GroupOp>(
      symbol->getAttrOfType<FlatSymbolRefAttr>("group").getValue());
  auto refuse = [&](Operation *op) {
    return op->emitOpError() << "is not for mode " << modeName << ": ";
  };
  if (group.getRule() == nn::CycleOp::kRule)
    return refuse(group)
           << "its rule counts turns, as a cycle does: trainers would each "
              "count by themselves, and servers add up parts of turns; train "
              "one program, or use another mode";
  auto rule = symbols.lookup<nn::RuleOp>(group.getRule());
  if (rule && rule.getFrozenPart() > 0)
    return refuse(group)
           << "frozen programs read a slot of its rule, such as an average, "
              "and "
              "slots stay with each trainer, so that trainers would test and "
              "save different numbers; leave the average out, or use another "
              "mode";
  auto table = dyn_cast<nn::TableOp>(symbol);
  if (!table)
    return success();
  if (group.getUntouched() == nn::Untouched::dense) {
    InFlightDiagnostic diagnostic =
        refuse(group)
        << "untouched(dense) changes all rows of a table in each step, and all "
           "of them would travel at each exchange; write untouched(lazy), or "
           "use another mode";
    diagnostic.attachNote(table.getLoc()) << "the group trains this table";
    return failure();
  }
  if (table.hasLife())
    return refuse(table)
           << "each trainer has rows of its own, and would admit and drop "
              "others; leave `admit`, `shrink` and `widen` out, or use another "
              "mode";
  if (table.getStored())
    return refuse(table)
           << "changes divided by the number of trainers are often less than "
              "what 16 bits tell apart, and servers would lose them; leave "
              "`stored` out, or use another mode";
  return success();
}
