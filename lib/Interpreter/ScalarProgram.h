//===- ScalarProgram.h - Regions of scalars, ready to run -------*- C++ -*-===//
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

/// One register of a scalar region: which member counts, its op says.
struct Scalar {
  union {
    float f32;
    double f64;
    bool truth;
  };
};

/// A block of scalar ops (the region of an `nn.once` or `nn.update`, or the
/// formula of an elementwise op) as a list of steps over registers, so that it
/// can run for many elements. Each op is computed in its own type and rounded
/// by itself.
class ScalarProgram {
public:
  /// What makes `results` out of the block's arguments; each register has
  /// `lanes` elements, which run side by side. Diagnoses at an op that has no
  /// settled scalar numerics.
  static mlir::FailureOr<ScalarProgram>
  compile(mlir::Block &block, mlir::ValueRange results, size_t lanes = 1);
  /// ... of a region, which yields the results.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Region &region);

  size_t lanes() const { return laneCount; }
  /// The lanes of a register: the first ones are the block's arguments.
  Scalar *argument(size_t index) { return lanesOf(index); }
  Scalar *argument(mlir::BlockArgument argument) {
    return lanesOf(argument.getArgNumber());
  }
  /// A result, after `run`.
  const Scalar *result(size_t index) { return lanesOf(results[index]); }
  size_t resultCount() const { return results.size(); }
  /// Computes the first `count` lanes.
  void run(size_t count = 1) {
    for (const Step &step : steps)
      step.function(*this, step, count);
  }

  /// One op: reads registers `operands`, writes register `result`.
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
