//===- StateChecks.h - What symbols that hold state keep to -----*- C++ -*-===//
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

/// Elements of a row, and columns of a field: offsets within a sample stay
/// small numbers.
inline constexpr int64_t kMaxWidth = 1 << 20;

/// The numbers of largest amount that an initializer may give to a symbol, or a
/// row, of that shape.
std::array<double, 2> extremesOf(InitializerAttrInterface initializer,
                                 llvm::ArrayRef<int64_t> shape);

/// Verifies initial values; diagnoses at `op`. `shape` is that of the symbol,
/// or of one row, and `rank` the number of dimensions as which it counts.
mlir::LogicalResult verifyInitializer(mlir::Operation *op, mlir::Attribute init,
                                      llvm::ArrayRef<int64_t> shape,
                                      int64_t rank);

/// Dumps and checkpoints join names with dots: a table's keys are `t.keys`, a
/// slot is `w.slot.m`. Verifies that a name does not look like such a part.
mlir::LogicalResult verifyStateName(mlir::Operation *op, llvm::StringRef name);

/// Verifies that a type is a static float tensor that is not empty.
mlir::LogicalResult verifyDenseType(mlir::Operation *op, mlir::Type type);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_STATECHECKS_H
