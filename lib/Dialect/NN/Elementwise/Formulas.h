//===- Formulas.h - Common code of scalar formulas --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_ELEMENTWISE_FORMULAS_H
#define LIB_DIALECT_NN_ELEMENTWISE_FORMULAS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Creates `value`, rounded to `type`.
mlir::Value createScalar(mlir::ImplicitLocOpBuilder &builder, mlir::Type type,
                         double value);

/// Computes `condition(a, b) ? yes : no`.
mlir::Value selectWhere(mlir::ImplicitLocOpBuilder &builder,
                        mlir::arith::CmpFPredicate condition, mlir::Value a,
                        mlir::Value b, mlir::Value yes, mlir::Value no);

/// Builds 1 if `value` > 0, -1 if `value` < 0, and otherwise `rest` (for zeros
/// and NaN).
mlir::Value signOr(mlir::ImplicitLocOpBuilder &builder, mlir::Value value,
                   mlir::Value rest);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_ELEMENTWISE_FORMULAS_H
