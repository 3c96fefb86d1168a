//===- LongFunction.h - Functions that are not optimized --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_LONGFUNCTION_H
#define LIB_TARGET_LONGFUNCTION_H

namespace llvm {
class Function;
} // namespace llvm

namespace pdlc {

/// Returns true if a function is long and has no loop. Stages are such
/// functions: they consist of hundreds or thousands of calls of kernels.
/// Optimizing them takes very long: LLVM compares each load or store with all
/// others, and allocates registers for thousands of pointers. It would not make
/// programs faster, because their time is spent in kernels.
bool isLongFunction(const llvm::Function &function);

} // namespace pdlc

#endif // LIB_TARGET_LONGFUNCTION_H
