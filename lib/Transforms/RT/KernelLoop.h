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

/// Returns the parallel loop of a block. Returns null if there is none, if
/// there are several, or if other ops of the block access memory. For example,
/// a value that is loaded before the loop could be overwritten by an iteration
/// of another thread.
mlir::scf::ParallelOp onlyLoopOf(mlir::Block &block);

/// Nested loops whose iterations are distributed over threads. Each loop except
/// the innermost contains only the next loop, and ops that do not access
/// memory. All dimensions run from 0 in steps of 1; an iteration is one point
/// of all dimensions.
struct SharedLoops {
  llvm::SmallVector<mlir::scf::ParallelOp> loops; // Outermost loop first.
  llvm::SmallVector<mlir::Value> bounds;          // Bounds of all dimensions.

  /// Returns true if `kernel` consists of such loops, and sets the members.
  /// Moves constant bounds of inner loops before the outermost loop.
  bool match(mlir::func::FuncOp kernel);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_KERNELLOOP_H
