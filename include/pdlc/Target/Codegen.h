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
#include "llvm/ADT/ArrayRef.h"
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

/// Translates a module of phase `llvm` to LLVM IR and links the functions of
/// `pdlabi/math.h` that it calls, so that they can be inlined. Fails with an
/// error message if the module contains a nested module, because MLIR's
/// translation would silently drop it. Also fails if the module lacks its
/// triple, or a function lacks its target features.
llvm::Expected<std::unique_ptr<llvm::Module>>
translateToLLVMIR(mlir::ModuleOp module, llvm::LLVMContext &context);

/// Contents of a file.
using FileBytes = llvm::SmallVector<char, 0>;

/// Settings of code generation.
struct CodegenContext {
  const TargetSpec &spec;
  /// Thread pool on which parts are compiled in parallel.
  llvm::ThreadPoolInterface &pool;
  /// Cache of compiled parts. Parts that it contains are not compiled again,
  /// and new parts are added. May be null.
  ObjectCache *cache = nullptr;
  /// Receives the compile time of each step of code generation, summed over all
  /// parts. May be an inactive scope.
  mlir::TimingScope &timing;
};

/// Runs LLVM's -O3 pipeline on the module and compiles it in parts. Returns one
/// object file per part, to be linked together. Only the first part may define
/// `pdl_program_query`. Symbols that other parts use have hidden visibility.
///
/// `laterSpecs` are CPUs that the program also contains its code for, the
/// latest first; the program chooses when it starts. If there are any, the
/// module must contain a descriptor.
///
/// The result depends on the module and the targets, but neither on the thread
/// pool nor on the cache. Consumes the module.
llvm::Expected<std::vector<FileBytes>>
compileToObjects(llvm::Module &module, const CodegenContext &context,
                 llvm::ArrayRef<TargetSpec> laterSpecs = {});

/// Partitions and optimizes the module like `compileToObjects`, but generates
/// no machine code. Joins the optimized parts into one module in `llvmContext`,
/// which must differ from the context of `module`.
llvm::Expected<std::unique_ptr<llvm::Module>>
optimize(llvm::Module &module, const CodegenContext &context,
         llvm::LLVMContext &llvmContext);

} // namespace pdlc

#endif // PDLC_TARGET_CODEGEN_H
