//===- CheckUntouched.cpp - Require untouched(...) where it matters -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Analysis/ZeroGradient.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCHECKUNTOUCHED
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct CheckUntouched : pdlc::impl::NNCheckUntouchedBase<CheckUntouched> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    WalkResult result = getOperation().walk(
        [&](UpdateOp update) -> WalkResult { return check(update, symbols); });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult check(UpdateOp update, SymbolTable &symbols) {
    auto table = symbols.lookup<TableOp>(update.getSymbol());
    if (!table)
      return success();
    auto group = symbols.lookup<GroupOp>(table.getGroupAttr().getValue());
    if (group.getUntouched())
      return success();
    std::optional<unsigned> changed = findChangeUnderZeroGradient(update);
    if (!changed)
      return success();
    InFlightDiagnostic diagnostic =
        group.emitOpError()
        << "has to say untouched(lazy), which leaves rows that a batch does "
           "not touch as they are, or untouched(dense), which updates every "
           "row at each step: a zero gradient changes the ";
    auto rule = symbols.lookup<RuleOp>(group.getRule());
    if (*changed == 0 || !rule)
      diagnostic << "value";
    else
      diagnostic << "slot " << rule.getAllSlotNames()[*changed - 1];
    diagnostic << " of a row (C5)";
    diagnostic.attachNote(table.getLoc()) << "the group trains this table";
    return failure();
  }
};
} // namespace
