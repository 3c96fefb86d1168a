//===- ScalarProgram.h - Compiled scalar regions ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_SCALARPROGRAM_H
#define LIB_INTERPRETER_SCALARPROGRAM_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Region.h"

#include <vector>

namespace pdlc::interpreter {

/// One register of a scalar program. The type of the op that writes the
/// register determines which member is valid.
struct Scalar {
  union {
    float f32;
    double f64;
    bool truth;
  };
};

/// A block of scalar ops, compiled to a list of steps over registers, so that
/// it can run quickly on many elements. The block is a region of an `nn.once`
/// or `nn.update`, or the formula of an elementwise op. Each op is computed in
/// its own type.
class ScalarProgram {
public:
  /// Compiles the ops that compute `results` from the block's arguments. The
  /// program computes `lanes` elements at once, so each register has so many
  /// elements. Reports an error at an op that is not a supported scalar op.
  static mlir::FailureOr<ScalarProgram>
  compile(mlir::Block &block, mlir::ValueRange results, size_t lanes = 1);
  /// Compiles a region; the results are the values that it yields.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Region &region);

  size_t lanes() const { return laneCount; }
  /// Return the lanes of an argument of the block, to be set before `run`.
  Scalar *argument(size_t index) { return lanesOf(index); }
  Scalar *argument(mlir::BlockArgument argument) {
    return lanesOf(argument.getArgNumber());
  }
  /// Returns a result. Valid after `run`.
  const Scalar *result(size_t index) { return lanesOf(results[index]); }
  size_t resultCount() const { return results.size(); }
  /// Computes the first `count` lanes.
  void run(size_t count = 1) {
    for (const Step &step : steps)
      step.function(*this, step, count);
  }

  /// One op: `function` reads the registers `operands` and writes the register
  /// `result`.
  struct Step {
    void (*function)(ScalarProgram &program, const Step &step, size_t count);
    int result;
    int operands[3];
  };
  Scalar *lanesOf(int number) { return registers.data() + number * laneCount; }

private:
  size_t laneCount = 1;
  std::vector<Step> steps;
  std::vector<Scalar> registers;
  std::vector<int> results;
};

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_SCALARPROGRAM_H
