//===- ExtractPart.h - A few functions as a module --------------*- C++ -*-===//
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

/// Copies the functions and variables of `module` into a module of their own,
/// in the same context, with what they use: what is in `copied` with its body,
/// all else as declarations. These stand in the order in which they are met, so
/// that the result depends on nothing that it does not hold. Takes time in
/// proportion to the result. Variables of the module that are used by what is
/// outside have to have hidden or external linkage.
std::unique_ptr<llvm::Module>
extractPart(const llvm::Module &module,
            llvm::ArrayRef<const llvm::Function *> functions,
            llvm::ArrayRef<const llvm::GlobalVariable *> variables,
            const llvm::DenseSet<const llvm::GlobalValue *> &copied);

} // namespace pdlc

#endif // LIB_TARGET_EXTRACTPART_H
