//===- AdjointBuilder.h - What an op's adjoint may ask for ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_ADJOINTBUILDER_H
#define PDLC_INTERFACES_ADJOINTBUILDER_H

#include "mlir/IR/Builders.h"

namespace pdlc {

/// Handed to `DifferentiableOpInterface::buildAdjoint` by `nn-autodiff`, which
/// visits ops in reverse program order.
class AdjointBuilder {
public:
  virtual ~AdjointBuilder() = default;

  /// Where adjoint ops are created; its insertion point is after the forward
  /// program and after all adjoints built so far.
  virtual mlir::OpBuilder &builder() = 0;

  /// The cotangent of a result of the op; null if it is zero, which is never
  /// materialised.
  virtual mlir::Value cotangent(mlir::Value result) = 0;

  /// Whether a cotangent of `operand` is wanted by anybody.
  virtual bool isNeeded(mlir::Value operand) = 0;

  /// Adds `value` to the cotangent of `operand`. Values with several uses
  /// collect their cotangents in reverse order of use: first + second + ...
  virtual void accumulate(mlir::Value operand, mlir::Value value) = 0;
};

} // namespace pdlc

#endif // PDLC_INTERFACES_ADJOINTBUILDER_H
