//===- ElementwiseOpInterface.h - Elementwise ops ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_H
#define PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace pdlc {

namespace nn {
enum class PostOp : uint32_t;
} // namespace nn

/// An elementwise op as a post-op of a matrix product. `operand` is the bias or
/// the mask that it reads; null if it reads none.
struct PostOperation {
  nn::PostOp kind;
  mlir::Value operand;
};

/// Creates a call of a function of `pdlabi/math.h`, given its C name. Used in
/// formulas.
mlir::Value callSettled(mlir::ImplicitLocOpBuilder &builder,
                        llvm::StringRef name, mlir::ValueRange operands);

} // namespace pdlc

#include "pdlc/Interfaces/ElementwiseOpInterface.h.inc"

#endif // PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_H
