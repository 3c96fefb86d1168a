//===- LongFunction.cpp - Functions that are not optimized ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LongFunction.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"

using namespace llvm;
using namespace pdlc;

/// Minimum number of instructions.
static constexpr unsigned kLong = 256;

bool pdlc::isLongFunction(const Function &function) {
  if (function.getInstructionCount() < kLong ||
      function.hasFnAttribute(Attribute::AlwaysInline))
    return false;
  DominatorTree dominators(const_cast<Function &>(function));
  return LoopInfo(dominators).empty();
}
