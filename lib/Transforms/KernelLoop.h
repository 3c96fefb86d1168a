//===- KernelLoop.h - The loop that a kernel is -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_KERNELLOOP_H
#define LIB_TRANSFORMS_KERNELLOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace pdlc {

/// The only parallel loop of a block, beside what computes without memory: what
/// is read before the loop may be what the loop writes. Null where there is
/// none, or more than one, or memory is touched beside it.
mlir::scf::ParallelOp onlyLoopOf(mlir::Block &block);

} // namespace pdlc

#endif // LIB_TRANSFORMS_KERNELLOOP_H
