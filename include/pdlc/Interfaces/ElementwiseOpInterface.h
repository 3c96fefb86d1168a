//===- ElementwiseOpInterface.h - Ops on one element ------------*- C++ -*-===//
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

/// A post-op of a matrix product, and what it reads beside the product: the
/// bias or the mask, null if nothing.
struct PostOperation {
  nn::PostOp kind;
  mlir::Value operand;
};

/// A call of a function of `pdlabi/math.h`, by its C name: for formulas.
mlir::Value callSettled(mlir::ImplicitLocOpBuilder &builder,
                        llvm::StringRef name, mlir::ValueRange operands);

} // namespace pdlc

#include "pdlc/Interfaces/ElementwiseOpInterface.h.inc"

namespace pdlc {

/// Attaches `Model`, an implementation of another interface, to each
/// elementwise op of a dialect that does not implement that interface itself.
template <typename Model>
void attachToElementwiseOps(mlir::MLIRContext &context,
                            llvm::StringRef dialect) {
  // getRegisteredOperationsByDialect of MLIR 22 finds nothing where several
  // dialects are loaded.
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == dialect &&
        name.hasInterface<ElementwiseOpInterface>())
      name.attachInterface<Model>();
}

} // namespace pdlc

#endif // PDLC_INTERFACES_ELEMENTWISEOPINTERFACE_H
