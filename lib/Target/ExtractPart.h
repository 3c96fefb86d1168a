//===- ExtractPart.h - Copy functions to another module ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_EXTRACTPART_H
#define LIB_TARGET_EXTRACTPART_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"

namespace pdlc {

/// Copies functions and variables of `module`, with everything that they use,
/// into a new module in the same context. Symbols in `copied` are copied with
/// their bodies; all others become declarations, in the order of their first
/// use. Therefore the result depends only on its own contents.
///
/// Takes time proportional to the result. Variables that are used outside of
/// the result must have hidden or external linkage.
std::unique_ptr<llvm::Module>
extractPart(const llvm::Module &module,
            llvm::ArrayRef<const llvm::Function *> functions,
            llvm::ArrayRef<const llvm::GlobalVariable *> variables,
            const llvm::DenseSet<const llvm::GlobalValue *> &copied);

} // namespace pdlc

#endif // LIB_TARGET_EXTRACTPART_H
