//===- LongFunction.h - Functions that are left as they are -----*- C++ -*-===//
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

/// Whether a defined function is long and without a loop, as stages are:
/// hundreds or thousands of calls of kernels, where LLVM's passes compare each
/// load or store with each other one and a register is sought for each of
/// thousands of pointers. Nothing is won there: time passes in what is called.
bool isLongFunction(const llvm::Function &function);

} // namespace pdlc

#endif // LIB_TARGET_LONGFUNCTION_H
