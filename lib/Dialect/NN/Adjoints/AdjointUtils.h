//===- AdjointUtils.h - Common code of adjoints -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_ADJOINTS_ADJOINTUTILS_H
#define LIB_DIALECT_NN_ADJOINTS_ADJOINTUTILS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Creates a constant number of element type `element`. It has rank 0, so it
/// broadcasts to any shape.
mlir::Value createNumber(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, double value);

/// Builds the adjoint of a broadcast from `type` to the shape of `value`: sums
/// `value` over the repeated dimensions. The sum over the batch is the last
/// one, so that samples are always added in ascending order.
mlir::Value sumTo(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::RankedTensorType type);

/// Builds the adjoint of a sum of `like` over `axes`: repeats `value` along
/// these axes to the shape of `like`. In `value`, these dimensions have size 1
/// or are missing.
mlir::Value repeatAlong(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, llvm::ArrayRef<int64_t> axes,
                        mlir::Value like);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_ADJOINTS_ADJOINTUTILS_H
