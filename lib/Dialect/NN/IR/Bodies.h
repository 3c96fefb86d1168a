//===- Bodies.h - What ops with bodies share --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_BODIES_H
#define LIB_DIALECT_NN_IR_BODIES_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// What keeps an op out of any body, the end of a sentence that begins with the
/// op's name; empty if nothing does.
std::string findBodyHindrance(mlir::Operation &op);

/// The types of what a body yields, which are those of the op's results. Fails
/// with a sentence that cites C3 where it ends otherwise.
mlir::LogicalResult inferFromBody(std::optional<mlir::Location> location,
                                  llvm::StringRef operation, mlir::Region &body,
                                  llvm::SmallVectorImpl<mlir::Type> &types);

/// Whether the module of an op is one that a user writes.
bool isInPhaseModel(mlir::Operation *op);

/// Refuses ops of a body that do more than compute, and those of which
/// `hinders` says something, the end of a sentence that begins with the op's
/// name. `what` names the op of the body in the errors, which cite C4.
mlir::LogicalResult
verifyBodyComputes(mlir::Region &body, llvm::StringRef what,
                   llvm::function_ref<std::string(mlir::Operation &)> hinders);

/// Refuses values from outside of the body; `remedy` says what to do about one.
/// Comes before the trait IsolatedFromAbove, which says the same without a way
/// out. `what` names the op of the body, whose constraint is C5.
mlir::LogicalResult
verifyCaptures(mlir::Region &body, llvm::StringRef what,
               llvm::function_ref<const char *(mlir::Value)> remedy);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_BODIES_H
