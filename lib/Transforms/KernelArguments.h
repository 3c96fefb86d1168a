//===- KernelArguments.h - Arguments of kernels in memory -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_KERNELARGUMENTS_H
#define LIB_TRANSFORMS_KERNELARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pdlc {

/// Where argument `number` lies in the memory of all of them, 8 bytes each.
mlir::Value argumentAt(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memory, unsigned number);

/// A function `(memory, i64, i64)` named like `kernel` with `suffix` behind,
/// that calls it with all arguments but the last two from memory, and these two
/// numbers.
mlir::func::FuncOp createCallFromMemory(mlir::func::FuncOp kernel,
                                        llvm::StringRef suffix,
                                        mlir::SymbolTable &symbols);

} // namespace pdlc

#endif // LIB_TRANSFORMS_KERNELARGUMENTS_H
