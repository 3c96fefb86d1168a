//===- KernelLoop.cpp - The loop that a kernel is -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoop.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

scf::ParallelOp pdlc::onlyLoopOf(Block &block) {
  scf::ParallelOp found;
  for (Operation &op : block.without_terminator())
    if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
      if (found)
        return nullptr;
      found = loop;
    } else if (!isMemoryEffectFree(&op)) {
      return nullptr;
    }
  return found;
}
