//===- MixedOutputs.cpp - Outputs that mix samples ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MixedOutputs.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// A reduction over the batch has an attribute for it.
static bool mixesSamples(Operation *op) {
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getMixing();
  return op->hasTrait<MixesSamples>();
}

void pdlc::warnOfMixedOutputs(ProgramOp program) {
  if (!program.getFrozen())
    return;
  ReturnOp outputs = program.getReturn();
  SetVector<Value> slice;
  slice.insert(outputs->operand_begin(), outputs->operand_end());
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    if (!op)
      continue;
    if (mixesSamples(op)) {
      InFlightDiagnostic diagnostic =
          outputs.emitWarning()
          << "outputs of frozen program @" << program.getSymName()
          << " depend on the other samples of the batch, so that a prediction "
             "is another one in another batch; return what is computed before "
             "samples are mixed, or observe it with a metric";
      diagnostic.attachNote(op->getLoc()) << "samples are mixed here";
      return;
    }
    slice.insert(op->operand_begin(), op->operand_end());
  }
}
