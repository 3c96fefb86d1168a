//===- ElementType.h - Convert a model to f64 -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_ELEMENTTYPE_H
#define LIB_TRANSFORMS_NN_ELEMENTTYPE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace pdlc {

/// Replaces f32 by f64 in all types and attributes of `root` and of the ops
/// inside it. The numbers of an `nn.constant` become those that were written in
/// the text. All other numbers keep the value to which they were rounded in
/// f32.
void widenElementType(mlir::Operation *root);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_ELEMENTTYPE_H
