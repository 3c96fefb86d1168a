//===- KernelLoop.h - Main loop of a kernel ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RT_KERNELLOOP_H
#define LIB_TRANSFORMS_RT_KERNELLOOP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pdlc {

/// Returns the only parallel loop of a block. Returns null if there are no or
/// several loops, or if other ops of the block access memory: values read
/// before the loop may be overwritten by it.
mlir::scf::ParallelOp onlyLoopOf(mlir::Block &block);

/// Nested loops whose iterations are distributed over the threads of a device.
/// Each loop except the last contains only the next loop and ops without memory
/// access. The iterations are those of all dimensions, which run from 0 in
/// steps of 1.
struct SharedLoops {
  llvm::SmallVector<mlir::scf::ParallelOp> loops; // Outermost loop first.
  llvm::SmallVector<mlir::Value> bounds;          // Bounds of all dimensions.

  /// Returns true if `kernel` consists of such loops. Moves constants that
  /// bound a loop before the outermost loop.
  bool match(mlir::func::FuncOp kernel);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_KERNELLOOP_H
