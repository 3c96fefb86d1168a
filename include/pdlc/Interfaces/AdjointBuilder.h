//===- AdjointBuilder.h - Services for building an op's adjoint -*- C++ -*-===//
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

/// Interface that `nn-autodiff` passes to
/// `DifferentiableOpInterface::buildAdjoint`. The pass visits ops in reverse
/// program order.
class AdjointBuilder {
public:
  virtual ~AdjointBuilder() = default;

  /// Returns the builder for adjoint ops. Its insertion point is after the
  /// forward program and after all adjoints built so far.
  virtual mlir::OpBuilder &builder() = 0;

  /// Returns the cotangent of a result of the op; null if it is zero. Zero
  /// cotangents are never materialized.
  virtual mlir::Value cotangent(mlir::Value result) = 0;

  /// Returns true if a cotangent of `operand` is needed.
  virtual bool isNeeded(mlir::Value operand) = 0;

  /// Adds `value` to the cotangent of `operand`. If a value has several uses,
  /// their cotangents are added in reverse order of use: first + second + ...
  virtual void accumulate(mlir::Value operand, mlir::Value value) = 0;
};

} // namespace pdlc

#endif // PDLC_INTERFACES_ADJOINTBUILDER_H
