//===- ReverseMode.h - What adjoint programs are built with -----*- C++ -*-===//
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

/// The part of reverse mode that a program and the body of a scan share: which
/// values are differentiated, and their cotangents. Who derives says where it
/// begins, and what becomes of the cotangents.
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

  /// Makes the results of the op active that depend, smoothly and through
  /// floats, on active operands.
  void activate(mlir::Operation &op);
  /// Builds the adjoint of the op if a result of it has a cotangent; whether
  /// one has. Fails, with an error, if the op has no adjoint.
  mlir::FailureOr<bool> differentiate(mlir::Operation &op);

  mlir::OpBuilder opBuilder;
  /// Values of which a cotangent is wanted.
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> cotangents;
};

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_REVERSEMODE_H
