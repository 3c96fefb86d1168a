//===- ScalarRegion.h - Scalar regions of rules and updates -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_SCALARREGION_H
#define LIB_DIALECT_NN_IR_SCALARREGION_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

namespace pdlc::nn {

/// Verifies that `region` of `op` is a single block with arguments of the given
/// types, contains only the supported scalar ops, and ends in `nn.yield`.
/// Returns the yielded types. Errors are reported at the offending op.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
verifyScalarRegion(mlir::Operation *op, mlir::Region &region,
                   llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_SCALARREGION_H
