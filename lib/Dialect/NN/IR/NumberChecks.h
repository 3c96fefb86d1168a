//===- NumberChecks.h - Checks of numbers in attributes ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_NUMBERCHECKS_H
#define LIB_DIALECT_NN_IR_NUMBERCHECKS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Returns `number` rounded to the type `element`, as formulas on elements of
/// this type read it.
inline llvm::APFloat roundedTo(llvm::APFloat number, mlir::Type element) {
  bool isInexact = false;
  number.convert(llvm::cast<mlir::FloatType>(element).getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &isInexact);
  return number;
}

/// Reports an error if `number`, an attribute of `op`, is not finite in the
/// element type of `of`. `of` is an operand or result. `name` says what the
/// number is, with an article, such as "a slope".
inline mlir::LogicalResult verifyFinite(mlir::Operation *op, mlir::Value of,
                                        llvm::StringRef name,
                                        const llvm::APFloat &number,
                                        llvm::StringRef constraint) {
  mlir::Type element = mlir::getElementTypeOrSelf(of.getType());
  if (roundedTo(number, element).isFinite())
    return mlir::success();
  return op->emitOpError() << "has " << name << " that is not finite in "
                           << element << " (" << constraint << ")";
}

/// Reports an error if `number` is not finite or not above 0. Used for numbers
/// by which formulas divide.
inline mlir::LogicalResult verifyPositive(mlir::Operation *op, mlir::Value of,
                                          llvm::StringRef name,
                                          const llvm::APFloat &number,
                                          llvm::StringRef constraint) {
  mlir::Type element = mlir::getElementTypeOrSelf(of.getType());
  llvm::APFloat rounded = roundedTo(number, element);
  if (rounded.isFiniteNonZero() && !rounded.isNegative())
    return mlir::success();
  return op->emitOpError() << "has " << name
                           << " that is not finite and > 0 in " << element
                           << " (" << constraint << ")";
}

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_NUMBERCHECKS_H
