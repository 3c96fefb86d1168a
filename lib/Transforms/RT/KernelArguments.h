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

/// Returns the address of argument `number` in `memory`, which holds all
/// arguments, 8 bytes each.
mlir::Value argumentAt(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value memory, unsigned number);

/// Creates a function `(memory, i64, i64)` that calls `kernel`. It passes the
/// two numbers as the last two arguments, and loads all other arguments from
/// memory. Its name is that of the kernel, followed by `suffix`.
mlir::func::FuncOp createCallFromMemory(mlir::func::FuncOp kernel,
                                        llvm::StringRef suffix,
                                        mlir::SymbolTable &symbols);

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_KERNELARGUMENTS_H
