//===- Bodies.h - Common code of ops with bodies ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Error messages cite the numbered constraints C1, C2, ... in an op's
// description in its .td file. nn.if and nn.scan, whose bodies are verified
// here, number these constraints in the same way: C3 concerns the yielded
// values, C4 the ops in a body, and C5 the values that a body uses. Other ops
// with regions, such as nn.rule, use other numbers.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_BODIES_H
#define LIB_DIALECT_NN_IR_BODIES_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Returns why `op` may not be in the body of any other op; empty if it may.
/// The text continues an error message that begins with the name of `op`.
std::string findBodyHindrance(mlir::Operation &op);

/// Infers the result types of an op from the values that its body yields. If
/// the body does not end in a yield, fails with an error message that cites C3.
mlir::LogicalResult inferFromBody(std::optional<mlir::Location> location,
                                  llvm::StringRef operation, mlir::Region &body,
                                  llvm::SmallVectorImpl<mlir::Type> &types);

/// Returns true if the module of `op` is in phase `model`. It is then as the
/// user wrote it.
bool isInPhaseModel(mlir::Operation *op);

/// Reports an error for each op of a body that does more than compute, and for
/// each op for which `hinders` returns a reason. The reason continues an error
/// message that begins with the name of the op. `what` names the op that has
/// the body. The errors cite C4.
mlir::LogicalResult
verifyBodyComputes(mlir::Region &body, llvm::StringRef what,
                   llvm::function_ref<std::string(mlir::Operation &)> hinders);

/// Reports an error for values from outside that a body uses. `remedy` says how
/// to fix the use of a value. Must run before the trait IsolatedFromAbove,
/// which would report the same error without a fix. `what` names the op that
/// has the body. The errors cite C5.
mlir::LogicalResult
verifyCaptures(mlir::Region &body, llvm::StringRef what,
               llvm::function_ref<const char *(mlir::Value)> remedy);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_BODIES_H
