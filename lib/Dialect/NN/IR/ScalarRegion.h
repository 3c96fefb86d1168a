//===- ScalarRegion.h - Regions of rules and updates ------------*- C++ -*-===//
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

/// Checks that `region` of `op` is one block with arguments of the given types
/// that holds only ops of the settled scalar numerics and ends in `nn.yield`.
/// Returns the types that it yields; diagnoses at the offending op.
mlir::FailureOr<llvm::SmallVector<mlir::Type>>
verifyScalarRegion(mlir::Operation *op, mlir::Region &region,
                   llvm::StringRef name, llvm::ArrayRef<mlir::Type> arguments);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_SCALARREGION_H
