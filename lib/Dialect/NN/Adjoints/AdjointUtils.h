//===- AdjointUtils.h - What adjoints share ---------------------*- C++ -*-===//
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

/// A constant of rank 0, rounded to `element`, which broadcasts to any shape.
mlir::Value createNumber(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, double value);

/// The adjoint of broadcasting `type` to the shape of `value`: the sum over
/// the dimensions that were repeated. Rows are summed before samples, so that
/// samples are always added in ascending order.
mlir::Value sumTo(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::RankedTensorType type);

/// The adjoint of a sum over `axes` of `like`: `value`, which lacks those
/// dimensions (or has units in their place), repeated to the shape of `like`.
mlir::Value repeatAlong(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value value, llvm::ArrayRef<int64_t> axes,
                        mlir::Value like);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_ADJOINTS_ADJOINTUTILS_H
