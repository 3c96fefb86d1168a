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

/// Creates a constant of rank 0, rounded to `element`. It broadcasts to any
/// shape.
mlir::Value createNumber(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, double value);

/// Builds the adjoint of broadcasting `type` to the shape of `value`: the sum
/// over the repeated dimensions. Rows are summed before samples, so that
/// samples are always added in ascending order.
mlir::Value sumTo(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::RankedTensorType type);

/// Builds the adjoint of a sum over `axes` of `like`: repeats `value`, which
/// lacks these dimensions or has size 1 in them, to the shape of `like`.
mlir::Value repeatAlong(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, llvm::ArrayRef<int64_t> axes,
                        mlir::Value like);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_ADJOINTS_ADJOINTUTILS_H
