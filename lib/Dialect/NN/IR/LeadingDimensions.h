//===- LeadingDimensions.h - Tensors as matrices ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_LEADINGDIMENSIONS_H
#define LIB_DIALECT_NN_IR_LEADINGDIMENSIONS_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Reshapes `value`: joins its leading dimensions into one, and keeps the last
/// `kept` dimensions.
mlir::Value joinLeadingDimensions(mlir::ImplicitLocOpBuilder &builder,
                                  mlir::Value value, int64_t kept);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_LEADINGDIMENSIONS_H
