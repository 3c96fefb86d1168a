//===- ControlOps.cpp - Control flow --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frame.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

static LogicalResult evaluateIf(IfOp op, Frame &frame) {
  const bool isTrue =
      frame.tensor(op.getCondition()).visit([](const auto &elements) {
        return elements.front() != 0;
      });
  Block &body = (isTrue ? op.getTaken() : op.getOtherwise()).front();
  Frame inner(frame.step());
  inner.setSymbols(frame.takenSymbols());
  for (auto [argument, input] :
       llvm::zip_equal(body.getArguments(), op.getInputs()))
    inner.set(argument, frame.value(input));
  for (Operation &each : body.without_terminator())
    if (failed(evaluate(&each, inner)))
      return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(op.getValues(), body.getTerminator()->getOperands()))
    frame.set(result, inner.value(yielded));
  return success();
}

void interpreter::attachControlOps(MLIRContext &context) {
  attachEvaluator<IfOp, evaluateIf>(context);
}
