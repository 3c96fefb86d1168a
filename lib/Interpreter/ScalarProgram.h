//===- ScalarProgram.h - Regions of scalars, ready to run -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_SCALARPROGRAM_H
#define LIB_INTERPRETER_SCALARPROGRAM_H

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

/// The region of an `nn.once` or `nn.update` as a list of steps over
/// registers, so that it can run for many elements. Each op is computed in its
/// own type and rounded by itself.
class ScalarProgram {
public:
  /// Diagnoses at an op that has no settled scalar numerics.
  static mlir::FailureOr<ScalarProgram> compile(mlir::Region &region);

  /// The registers: the first ones are the region's arguments.
  Scalar &argument(size_t index) { return registers[index]; }
  /// What the region yielded, after `run`.
  const Scalar &yielded(size_t index) const {
    return registers[yieldedRegisters[index]];
  }
  size_t yieldedCount() const { return yieldedRegisters.size(); }
  void run() {
    for (const Step &step : steps)
      step.function(step, registers.data());
  }

  /// One op: reads registers `operands`, writes register `result`.
  struct Step {
    void (*function)(const Step &step, Scalar *registers);
    int result;
    int operands[3];
  };

private:
  std::vector<Step> steps;
  std::vector<Scalar> registers;
  std::vector<int> yieldedRegisters;
};

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_SCALARPROGRAM_H
