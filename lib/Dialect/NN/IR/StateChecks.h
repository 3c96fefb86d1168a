//===- StateChecks.h - Verification of symbols with state -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_STATECHECKS_H
#define LIB_DIALECT_NN_IR_STATECHECKS_H

#include "mlir/IR/Operation.h"
#include "pdlc/Interfaces/ModelAttrInterfaces.h"

#include <array>

namespace pdlc::nn {

/// Maximum number of elements of a row, and maximum number of columns of a
/// field. Both limits keep offsets within a sample small.
inline constexpr int64_t kMaxWidth = 1 << 20;

/// Returns the smallest and the largest number that `initializer` can draw.
/// `shape` is the shape of the symbol, or of a row.
std::array<double, 2> extremesOf(InitializerAttrInterface initializer,
                                 llvm::ArrayRef<int64_t> shape);

/// Verifies that `init` is a valid initializer for a symbol, and reports errors
/// at `op`. `shape` is the shape of the symbol, or of a row of a table. `rank`
/// is its number of dimensions for initializers that require a rank: a table
/// row counts as a matrix.
mlir::LogicalResult verifyInitializer(mlir::Operation *op, mlir::Attribute init,
                                      llvm::ArrayRef<int64_t> shape,
                                      int64_t rank);

/// Verifies that the name of a symbol does not look like the name of a part of
/// a symbol. In dumps and checkpoints, `t.keys` are the keys of table `t`, and
/// `w.slot.m` is a slot of `w`.
mlir::LogicalResult verifyStateName(mlir::Operation *op, llvm::StringRef name);

/// Verifies that a type is a static, non-empty float tensor.
mlir::LogicalResult verifyDenseType(mlir::Operation *op, mlir::Type type);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_STATECHECKS_H
