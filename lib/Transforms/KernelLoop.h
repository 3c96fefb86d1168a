//===- KernelLoop.h - The loop that a kernel is -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_KERNELLOOP_H
#define LIB_TRANSFORMS_KERNELLOOP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pdlc {

/// The only parallel loop of a block, beside what computes without memory: what
/// is read before the loop may be what the loop writes. Null where there is
/// none, or more than one, or memory is touched beside it.
mlir::scf::ParallelOp onlyLoopOf(mlir::Block &block);

/// The loops whose turns threads of a device share: each but the last holds
/// nothing but the next one, and what computes without memory. The turns are
/// those of all dimensions, which run from 0 on in steps of 1.
struct SharedLoops {
  llvm::SmallVector<mlir::scf::ParallelOp> loops; // the outermost first
  llvm::SmallVector<mlir::Value> bounds;          // of all their dimensions

  /// Whether `kernel` is such loops. Constants that bound a loop are moved
  /// before the outermost one.
  bool match(mlir::func::FuncOp kernel);
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_KERNELLOOP_H
