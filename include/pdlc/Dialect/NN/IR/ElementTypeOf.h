//===- ElementTypeOf.h - Element types of tensors and bags ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_ELEMENTTYPEOF_H
#define PDLC_DIALECT_NN_IR_ELEMENTTYPEOF_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Returns the element type of a tensor or of bags; null for any other type.
inline mlir::Type elementTypeOf(mlir::Type type) {
  if (auto ragged = mlir::dyn_cast<RaggedType>(type))
    return ragged.getElementType();
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor ? tensor.getElementType() : mlir::Type();
}

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_ELEMENTTYPEOF_H
