//===- ReverseMode.h - Reverse-mode differentiation -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_REVERSEMODE_H
#define PDLC_DIALECT_NN_IR_REVERSEMODE_H

#include "mlir/IR/Builders.h"
#include "pdlc/Interfaces/AdjointBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pdlc::nn {

/// Base class for reverse-mode differentiation of a program or of the body of a
/// scan. Keeps the values that are differentiated, and their cotangents. A
/// derived class sets the first cotangents and uses the final ones.
class ReverseMode : public AdjointBuilder {
public:
  mlir::OpBuilder &builder() override { return opBuilder; }
  mlir::Value cotangent(mlir::Value result) override {
    return cotangents.lookup(result);
  }
  bool isNeeded(mlir::Value operand) override {
    return active.contains(operand);
  }
  void accumulate(mlir::Value operand, mlir::Value value) override;

protected:
  explicit ReverseMode(mlir::OpBuilder opBuilder)
      : opBuilder(std::move(opBuilder)) {}

  /// Marks the float results of the op as active if they depend smoothly on
  /// active operands.
  void activate(mlir::Operation &op);
  /// Builds the adjoint of the op if one of its results has a cotangent.
  /// Returns true if one has. Fails with an error if the op has no adjoint.
  mlir::FailureOr<bool> differentiate(mlir::Operation &op);

  mlir::OpBuilder opBuilder;
  /// Values that need a cotangent.
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
};

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_REVERSEMODE_H
