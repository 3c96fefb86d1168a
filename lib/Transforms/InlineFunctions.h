//===- InlineFunctions.h - Programs without calls ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_INLINEFUNCTIONS_H
#define LIB_TRANSFORMS_INLINEFUNCTIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace pdlc {

/// Replaces each `nn.call` of the module's programs by the body of its
/// function, and erases the functions. Fails with a diagnostic where a function
/// leads to itself, and where a program would hold more than `maxOps` ops: that
/// is known from one visit of each function, before anything is copied.
mlir::LogicalResult inlineFunctions(mlir::ModuleOp module, uint64_t maxOps);

} // namespace pdlc

#endif // LIB_TRANSFORMS_INLINEFUNCTIONS_H
