//===- Interpreter.h - The meaning of dialect nn ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs programs in the phases `model`, `merged`, `gradient` and `fused`, op by
// op, in the element type that the module has. It is written to be read: plain
// loops in the settled order of every sum. In 32-bit floats, compiled strict
// programs must give its bits from phase `gradient` on.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_INTERPRETER_H
#define PDLC_INTERPRETER_INTERPRETER_H

#include "pdlc/Interpreter/State.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pdlc {

/// Gives the ops of dialect `nn` their InterpretableOpInterface, which the
/// interpreter asks.
void registerInterpretation(mlir::DialectRegistry &registry);

} // namespace pdlc

namespace pdlc::interpreter {

/// What one step of a program gave.
struct StepResult {
  /// Of programs with `nn.minimize` or `nn.loss_sum`, of the first one: the
  /// weighted sum of the samples' losses and the sum of their weights.
  std::optional<double> lossSum, weightSum;
  /// The operands of the program's `nn.return`.
  std::vector<Tensor> outputs;
  /// Nothing was updated because all weights sum to zero.
  bool skipped = false;
};

/// What a step's random numbers are drawn with: `pdl_draws` of abi.h.
struct Draws {
  uint64_t seed = 0;
  int64_t epoch = 0;
  /// As many as the batch has.
  std::vector<int64_t> samples;
};

/// Runs one step of `program` on a batch: computes, and from phase `gradient`
/// on applies the updates to `state`. In the phases `model` and `merged`
/// `nn.minimize` only sums the losses. `arguments` are the values of the
/// program's block arguments. A loss or gradient that is not finite is an error
/// before anything is updated. Errors are diagnosed at an op.
mlir::FailureOr<StepResult> runStep(nn::ProgramOp program,
                                    std::vector<RuntimeValue> arguments,
                                    State &state, const Draws &draws);

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_INTERPRETER_H
