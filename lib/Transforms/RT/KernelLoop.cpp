//===- KernelLoop.cpp - Main loop of a kernel -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoop.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace pdlc;

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

/// Returns true if the loop runs from 0 in steps of 1 in all dimensions, and
/// reduces nothing.
static bool isPlain(scf::ParallelOp loop) {
  return loop.getNumReductions() == 0 &&
         llvm::all_of(
             loop.getLowerBound(),
             [](Value bound) { return matchPattern(bound, m_Zero()); }) &&
         llvm::all_of(loop.getStep(),
                      [](Value step) { return matchPattern(step, m_One()); });
}

/// Returns true if `bound` is available before the loop `outermost`. A constant
/// inside the loop is moved before it.
static bool isKnownBefore(Value bound, scf::ParallelOp outermost) {
  if (outermost.isDefinedOutsideOfLoop(bound))
    return true;
  Operation *definition = bound.getDefiningOp();
  if (!definition || !definition->hasTrait<OpTrait::ConstantLike>())
    return false;
  definition->moveBefore(outermost);
  return true;
}

bool SharedLoops::match(func::FuncOp kernel) {
  Block *block = &kernel.getBody().front();
  if (!llvm::hasSingleElement(kernel.getBody()))
    return false;
  while (scf::ParallelOp loop = onlyLoopOf(*block)) {
    if (!isPlain(loop))
      break;
    scf::ParallelOp outermost = loops.empty() ? loop : loops.front();
    if (!llvm::all_of(loop.getUpperBound(), [&](Value bound) {
          return isKnownBefore(bound, outermost);
        }))
      break;
    loops.push_back(loop);
    llvm::append_range(bounds, loop.getUpperBound());
    block = loop.getBody();
  }
  return !loops.empty();
}
