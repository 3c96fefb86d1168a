//===- Canonicalize.cpp - Simplify moves of elements ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCANONICALIZE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct Canonicalize : pdlc::impl::NNCanonicalizeBase<Canonicalize> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet owned(context);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (op.getDialectNamespace() == NNDialect::getDialectNamespace())
        op.getCanonicalizationPatterns(owned, context);
    patterns = std::move(owned);
    return success();
  }

  void runOnOperation() override {
    uint64_t before = 0, after = 0;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      before += countOps(program);
      // Leave ops in rules alone. Folding their constants would use the math
      // functions of this machine, whose rounding may differ.
      SmallVector<Operation *> pure;
      for (Operation &op : program.getBody().front().without_terminator())
        if (isPure(&op))
          pure.push_back(&op);
      GreedyRewriteConfig config;
      config.setStrictness(GreedyRewriteStrictness::ExistingAndNewOps);
      if (failed(applyOpPatternsGreedily(pure, patterns, config)))
        return signalPassFailure();
      after += countOps(program);
    }
    reportStatistic(*this, getOperation(), numRemoved, "ops-removed",
                    before - after);
  }

private:
  static uint64_t countOps(ProgramOp program) {
    return program.getBody().front().getOperations().size();
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
