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

/// Maximum number of elements of a row and of columns of a field. It keeps
/// offsets within a sample small.
inline constexpr int64_t kMaxWidth = 1 << 20;

/// Returns the smallest and the largest number that an initializer can give to
/// a symbol, or row, of that shape.
std::array<double, 2> extremesOf(InitializerAttrInterface initializer,
                                 llvm::ArrayRef<int64_t> shape);

/// Verifies initial values, and reports errors at `op`. `shape` is the shape of
/// the symbol, or of one row. `rank` is the number of dimensions as which it
/// counts.
mlir::LogicalResult verifyInitializer(mlir::Operation *op, mlir::Attribute init,
                                      llvm::ArrayRef<int64_t> shape,
                                      int64_t rank);

/// Verifies that a name cannot be confused with a part of another name. Dumps
/// and checkpoints join names with dots: the keys of a table are `t.keys`, and
/// a slot is `w.slot.m`.
mlir::LogicalResult verifyStateName(mlir::Operation *op, llvm::StringRef name);

/// Verifies that a type is a static, non-empty float tensor.
mlir::LogicalResult verifyDenseType(mlir::Operation *op, mlir::Type type);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_STATECHECKS_H
