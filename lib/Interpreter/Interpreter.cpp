//===- Interpreter.cpp - Steps, calls and registration of ops -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/Interpreter.h"

#include "Frame.h"

#include "mlir/IR/DialectRegistry.h"

#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

#include "pdlc/Interfaces/InterpretableOpInterface.cpp.inc"

LogicalResult interpreter::evaluate(Operation *op, Frame &frame) {
  if (auto interpretable = dyn_cast<InterpretableOpInterface>(op))
    return interpretable.interpret(frame);
  return op->emitError()
         << "'" << op->getName()
         << "' cannot be interpreted; the interpreter runs the ops of "
            "dialect nn up to phase 'fused'";
}

uint64_t Frame::streamOf(DrawingOpInterface op) {
  if (std::optional<uint64_t> stream = op.getDrawStream())
    return *stream;
  StringRef name = op->getName().stripDialect();
  return drawStreamOf(stepContext.program, name,
                      stepContext.drawingOps[name.str()]++);
}

static LogicalResult evaluateCall(CallOp op, Frame &frame) {
  auto callee =
      SymbolTable::lookupNearestSymbolFrom<FuncOp>(op, op.getCalleeAttr());
  if (!callee)
    return op.emitOpError()
           << "calls " << op.getCalleeAttr() << ", which is not an nn.func";
  Frame inner(frame.step());
  Frame::Symbols symbols;
  if (op.getSymbols())
    for (auto [taken, given] :
         llvm::zip_equal(callee.getTakenSymbols(),
                         op.getSymbols()->getAsRange<FlatSymbolRefAttr>()))
      symbols[taken.first.getAttr()] = frame.symbol(given);
  inner.setSymbols(std::move(symbols));
  Block &body = callee.getBody().front();
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), op.getOperands()))
    inner.set(argument, frame.value(operand));
  for (Operation &each : body.without_terminator())
    if (failed(evaluate(&each, inner)))
      return failure();
  for (auto [result, returned] :
       llvm::zip_equal(op.getResults(), body.getTerminator()->getOperands()))
    frame.set(result, inner.value(returned));
  return success();
}

void pdlc::registerInterpretation(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachControlOps(*context);
    attachSegmentOps(*context);
    attachShapeOps(*context);
    attachReductionOps(*context);
    attachMatrixOps(*context);
    attachDrawOps(*context);
    attachMixingOps(*context);
    attachFeatureOps(*context);
    attachLookupOps(*context);
    attachStateOps(*context);
    attachUpdateOps(*context);
    attachEvaluator<CallOp, evaluateCall>(*context);
    // Attached last: this skips ops that already have an evaluator of their
    // own.
    attachElementwiseOps(*context);
    attachCompositeOps(*context);
  });
}

/// Reports an error if a loss or gradient is not finite. Runs before the first
/// update, so that no state changes in this case.
static LogicalResult verifyFinite(ProgramOp program, Frame &frame) {
  const StepResult &result = frame.result();
  if (result.lossSum && !std::isfinite(*result.lossSum))
    return program.emitOpError("has a loss that is not finite");
  for (auto update : program.getBody().getOps<UpdateOp>())
    if (!frame.tensor(update.getGradient()).isFinite())
      return update.emitOpError()
             << "has a gradient of " << update.getSymbolAttr()
             << " that is not finite";
  return success();
}

FailureOr<StepResult> interpreter::runStep(ProgramOp program,
                                           std::vector<RuntimeValue> arguments,
                                           State &state, const Draws &draws) {
  StepResult result;
  StepContext step{state, result, program, draws};
  Frame frame(step);
  Block &body = program.getBody().front();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    frame.set(argument, std::move(value));

  bool updates = false;
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<AppliesStep>())
      updates = true;
    else if (failed(evaluate(&op, frame)))
      return failure();
  }
  for (Value output : body.getTerminator()->getOperands())
    result.outputs.push_back(frame.tensor(output));
  if (failed(verifyFinite(program, frame)))
    return failure();

  if (!updates)
    return result;
  auto sums = body.getOps<LossSumOp>();
  result.skipped = !sums.empty() && llvm::all_of(sums, [&](LossSumOp sum) {
    return frame.tensor(sum.getWeight()).get<double>()[0] == 0;
  });
  if (result.skipped)
    return result;
  for (Operation &op : body.without_terminator())
    if (op.hasTrait<AppliesStep>() && failed(evaluate(&op, frame)))
      return failure();
  return result;
}
