//===- InlineFunctions.h - Inline all functions -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_INLINEFUNCTIONS_H
#define LIB_TRANSFORMS_NN_INLINEFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace pdlc {

/// Inlines each `nn.call` of the module's programs, and erases the functions.
/// Reports an error if a function is recursive, or if a program would contain
/// more than `maxOps` ops. Both are found before anything is copied, by
/// visiting each function once.
mlir::LogicalResult inlineFunctions(mlir::ModuleOp module, uint64_t maxOps);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_INLINEFUNCTIONS_H
