//===- Codegen.h - From the LLVM dialect to object files --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_CODEGEN_H
#define PDLC_TARGET_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/Timing.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
class ThreadPoolInterface;
} // namespace llvm

namespace pdlc {

class ObjectCache;

/// Translates a module of phase `llvm` and links the functions of
/// `pdlabi/math.h` that it calls, to be inlined. Fails with a sentence where
/// the module holds a nested module (MLIR's translation would drop it without a
/// word), or lacks its triple or a function its target features.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVMIR(mlir::ModuleOp module, llvm::LLVMContext &context);

/// The bytes of a file.
using FileBytes = llvm::SmallVector<char, 0>;

/// What code generation is done with.
struct CodegenContext {
  const TargetSpec &spec;
  /// Works on parts side by side.
  llvm::ThreadPoolInterface &pool;
  /// What it holds is not compiled again, what it does not is kept there; may
  /// be null.
  ObjectCache *cache = nullptr;
  /// Gets the times of the steps, summed over parts; may be one of nothing.
  mlir::TimingScope &timing;
};

/// Runs LLVM's -O3 pipeline on the module and compiles it, in parts: one object
/// file a part, to be linked together. Only their first may define
/// `pdl_program_query`; what parts use of each other is hidden. The bytes
/// depend on module and machine, neither on the pool nor on the cache. The
/// module is of no use afterwards.
llvm::Expected<std::vector<FileBytes>>
compileToObjects(llvm::Module &module, const CodegenContext &context);

/// The same up to the optimised parts, which become one module again, in
/// `llvmContext`: another one than that of `module`.
llvm::Expected<std::unique_ptr<llvm::Module>>
optimize(llvm::Module &module, const CodegenContext &context,
         llvm::LLVMContext &llvmContext);

} // namespace pdlc

#endif // PDLC_TARGET_CODEGEN_H
