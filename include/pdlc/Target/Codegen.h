//===- Codegen.h - From the LLVM dialect to an object file ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_CODEGEN_H
#define PDLC_TARGET_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace pdlc {

/// Translates a module of phase `llvm` and links the functions of
/// `pdlabi/math.h` that it calls, to be inlined. Fails with a sentence where
/// the module holds a nested module (MLIR's translation would drop it without a
/// word), or lacks its triple or a function its target features.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVMIR(mlir::ModuleOp module, llvm::LLVMContext &context);

/// LLVM's -O3 pipeline for `machine`.
void optimize(llvm::Module &module, llvm::TargetMachine &machine);

/// Writes the module as an object file.
llvm::Error emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                       llvm::raw_pwrite_stream &stream);

} // namespace pdlc

#endif // PDLC_TARGET_CODEGEN_H
