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

/// Copies functions and variables of `module` into a new module in the same
/// context, together with the symbols that they use. Symbols in `copied` become
/// definitions in the new module, too; all others become declarations, in the
/// order of their first use. Therefore the result depends only on what it
/// contains.
///
/// Takes time proportional to the size of the result. Variables that are used
/// outside the result must have hidden or external linkage.
std::unique_ptr<llvm::Module>
extractPart(const llvm::Module &module,
            llvm::ArrayRef<const llvm::Function *> functions,
            llvm::ArrayRef<const llvm::GlobalVariable *> variables,
            const llvm::DenseSet<const llvm::GlobalValue *> &copied);

} // namespace pdlc

#endif // LIB_TARGET_EXTRACTPART_H
