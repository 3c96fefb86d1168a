//===- Interpreter.h - Reference interpreter of dialect nn ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs programs in the phases `model`, `merged`, `gradient` and `fused`, op by
// op, in the element type of the module. The code is written for readability:
// plain loops that add every sum in the fixed summation order. From phase
// `gradient` on, compiled programs with strict numerics and 32-bit floats must
// give bit-identical results.
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_INTERPRETER_H
#define PDLC_INTERPRETER_INTERPRETER_H

#include "pdlc/Interpreter/State.h"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pdlc {

/// Attaches InterpretableOpInterface to the ops of dialect `nn`. The
/// interpreter uses it.
void registerInterpretation(mlir::DialectRegistry &registry);

} // namespace pdlc

namespace pdlc::interpreter {

/// Result of one step of a program.
struct StepResult {
  /// Weighted sum of the samples' losses, and the sum of their weights. Set for
  /// programs with `nn.minimize` or `nn.loss_sum`; taken from the first such
  /// op.
  std::optional<double> lossSum, weightSum;
  /// Operands of the program's `nn.return`.
  std::vector<Tensor> outputs;
  /// If true, nothing was updated because all weights sum to zero.
  bool skipped = false;
};

/// Inputs for the random numbers of a step. Corresponds to `pdl_draws` of
/// abi.h.
struct Draws {
  uint64_t seed = 0;
  int64_t epoch = 0;
  /// Sample numbers, one per sample of the batch.
  std::vector<int64_t> samples;
};

/// Runs one step of `program` on a batch. `arguments` are the values of the
/// program's block arguments. From phase `gradient` on, the step also applies
/// the updates to `state`. In the phases `model` and `merged`, `nn.minimize`
/// only sums the losses.
///
/// A loss or gradient that is not finite is an error, reported before anything
/// is updated. Errors are diagnosed at an op.
mlir::FailureOr<StepResult> runStep(nn::ProgramOp program,
                                    std::vector<RuntimeValue> arguments,
                                    State &state, const Draws &draws);

} // namespace pdlc::interpreter

#endif // PDLC_INTERPRETER_INTERPRETER_H
