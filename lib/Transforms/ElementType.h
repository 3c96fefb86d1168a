//===- ElementType.h - The same program on wider numbers --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_ELEMENTTYPE_H
#define LIB_TRANSFORMS_ELEMENTTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace pdlc {

/// Replaces f32 by f64 in all types and attributes of `root` and of what it
/// holds. The numbers of `nn.constant` are those that were written; other
/// numbers of type f32 keep their value, that is, the one rounded to f32.
void widenElementType(mlir::Operation *root);

} // namespace pdlc

#endif // LIB_TRANSFORMS_ELEMENTTYPE_H
