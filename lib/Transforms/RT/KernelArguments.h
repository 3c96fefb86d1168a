//===- KernelArguments.h - Pass kernel arguments in memory ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RT_KERNELARGUMENTS_H
#define LIB_TRANSFORMS_RT_KERNELARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace pdlc {

/// Returns the address of argument `number` in the memory of all arguments,
/// which take 8 bytes each.
mlir::Value argumentAt(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memory, unsigned number);

/// Creates a function `(memory, i64, i64)`, named like `kernel` plus `suffix`.
/// It calls the kernel with the two numbers as the last arguments, and loads
/// all others from memory.
mlir::func::FuncOp createCallFromMemory(mlir::func::FuncOp kernel,
                                        llvm::StringRef suffix,
                                        mlir::SymbolTable &symbols);

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_KERNELARGUMENTS_H
