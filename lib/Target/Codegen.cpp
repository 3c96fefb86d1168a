//===- Codegen.cpp - From the LLVM dialect to object files ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/Codegen.h"

#include "CpuLevels.h"
#include "LinkBitcode.h"
#include "LongFunction.h"
#include "PartitionModule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "pdlc/Target/ObjectCache.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"

#include <deque>

using namespace llvm;
using namespace pdlc;

/// Checks properties that MLIR's translation does not check.
static Error checkModule(mlir::ModuleOp module) {
  for (mlir::Operation &op : *module.getBody())
    if (isa<mlir::ModuleOp>(op))
      return createStringError(
          "the module holds a nested module, which would get lost; translate "
          "each module by itself");
  if (!module->hasAttr(mlir::LLVM::LLVMDialect::getTargetTripleAttrName()))
    return createStringError(
        "the module has no target triple; run rt-set-target");
  for (auto function : module.getOps<mlir::LLVM::LLVMFuncOp>())
    if (!function.isExternal() &&
        (!function.getTargetCpu() || !function.getTargetFeatures()))
      return createStringError(
          "function " + function.getSymName() +
          " has no target CPU and features, so that LLVM would emit scalar "
          "code; run rt-set-target");
  return Error::success();
}

Expected<std::unique_ptr<Module>>
pdlc::translateToLLVMIR(mlir::ModuleOp module, LLVMContext &context) {
  if (Error error = checkModule(module))
    return std::move(error);
  mlir::registerBuiltinDialectTranslation(*module.getContext());
  mlir::registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<Module> result =
      mlir::translateModuleToLLVMIR(module, context);
  if (!result)
    return createStringError("the module is not all of the LLVM dialect; "
                             "compile it up to phase llvm");
  result->setPICLevel(PICLevel::BigPIC);
  result->setPIELevel(PIELevel::Large);
  if (Error error = linkMath(*result))
    return std::move(error);
  // No exception crosses the ABI, and the generated code throws none.
  for (Function &function : *result)
    function.setDoesNotThrow();
  return result;
}

/// Returns the optimization level of a part. A part that consists only of long
/// functions (LongFunction.h) is not optimized.
static CodeGenOptLevel effortOf(const Module &part) {
  bool isLeft = all_of(part, [](const Function &function) {
    return function.isDeclaration() ||
           function.hasFnAttribute(Attribute::AlwaysInline) ||
           isLongFunction(function);
  });
  return isLeft ? CodeGenOptLevel::None : CodeGenOptLevel::Aggressive;
}

/// Runs LLVM's -O3 pipeline. For a part that is not optimized, runs only the
/// required passes and one elimination of common subexpressions.
static void runPipeline(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PipelineTuningOptions tuning;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes;
  if (machine.getOptLevel() == CodeGenOptLevel::None) {
    // Addresses are recomputed at each use.
    passes.addPass(createModuleToFunctionPassAdaptor(EarlyCSEPass()));
    passes.addPass(builder.buildO0DefaultPipeline(OptimizationLevel::O0));
  } else {
    passes = builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3);
  }
  passes.run(module, modules);
}

namespace {
/// A form in which an optimized part is written. `name` is part of the key in
/// the object cache.
struct Output {
  StringRef name;
  Error (*write)(Module &module, TargetMachine &machine,
                 raw_svector_ostream &stream);
};
} // namespace

static Error writeObject(Module &module, TargetMachine &machine,
                         raw_svector_ostream &stream) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  CodeGenFileType::ObjectFile))
    return createStringError("LLVM cannot write object files for this target");
  passes.run(module);
  return Error::success();
}

static Error writeBitcode(Module &module, TargetMachine &,
                          raw_svector_ostream &stream) {
  WriteBitcodeToFile(module, stream);
  return Error::success();
}

static constexpr Output kObject{"object", writeObject};
static constexpr Output kBitcode{"bitcode", writeBitcode};

/// Compiles a part for the CPU of `spec`. It is passed as bitcode, because
/// threads compile parts in parallel and must not share an LLVMContext.
static Expected<FileBytes> generate(ArrayRef<char> part, const TargetSpec &spec,
                                    const CodegenContext &context,
                                    const Output &output) {
  LLVMContext llvmContext;
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(
      MemoryBufferRef(StringRef(part.data(), part.size()), "part"),
      llvmContext);
  if (!module)
    return module.takeError();
  std::unique_ptr<TargetMachine> machine =
      spec.createMachine(effortOf(**module));
  {
    mlir::TimingScope timing = context.timing.nest("LLVM's optimization");
    runPipeline(**module, *machine);
  }
  mlir::TimingScope timing = context.timing.nest("LLVM's code generation");
  FileBytes bytes;
  raw_svector_ostream stream(bytes);
  if (Error error = output.write(**module, *machine, stream))
    return std::move(error);
  return bytes;
}

/// Returns the cached result for a part, or compiles it.
static Expected<FileBytes> findOrGenerate(ArrayRef<char> part,
                                          const TargetSpec &spec,
                                          const CodegenContext &context,
                                          const Output &output) {
  if (!context.cache)
    return generate(part, spec, context, output);
  ObjectCache &cache = *context.cache;
  ObjectCache::Key key = cache.keyOf(part, output.name, spec);
  if (std::optional<FileBytes> found = cache.find(key))
    return std::move(*found);
  Expected<FileBytes> bytes = generate(part, spec, context, output);
  if (bytes)
    cache.keep(key, *bytes);
  return bytes;
}

namespace {
/// A module, and the CPU that it is compiled for.
struct Compilation {
  Module *module;
  const TargetSpec *spec;
};
} // namespace

/// Compiles the parts of all modules in parallel.
static Expected<std::vector<FileBytes>>
generateParts(ArrayRef<Compilation> modules, const CodegenContext &context,
              const Output &output) {
  struct Part {
    FileBytes bitcode, file;
    std::string error;
  };
  mlir::TimingScope cutting = context.timing.nest("Cutting into parts");
  // Tasks use elements while others are added.
  std::deque<Part> parts;
  ThreadPoolTaskGroup tasks(context.pool);
  for (const Compilation &compilation : modules) {
    ModulePartition partition(*compilation.module);
    for (unsigned number = 0; number < partition.size(); ++number) {
      Part &part = parts.emplace_back();
      part.bitcode = partition.bitcode(number);
      tasks.async([&part, &context, &output, spec = compilation.spec] {
        Expected<FileBytes> bytes =
            findOrGenerate(part.bitcode, *spec, context, output);
        if (bytes)
          part.file = std::move(*bytes);
        else
          part.error = toString(bytes.takeError());
        // Frees memory, because many parts may be queued.
        part.bitcode = FileBytes();
      });
    }
  }
  cutting.stop();
  tasks.wait();
  std::vector<FileBytes> files;
  for (Part &part : parts) {
    if (!part.error.empty())
      return createStringError(part.error);
    files.push_back(std::move(part.file));
  }
  return files;
}

Expected<std::vector<FileBytes>>
pdlc::compileToObjects(Module &module, const CodegenContext &context,
                       ArrayRef<TargetSpec> laterSpecs) {
  std::vector<std::unique_ptr<Module>> copies =
      addCpuLevels(module, laterSpecs);
  std::vector<Compilation> compilations{{&module, &context.spec}};
  for (auto [copy, spec] : zip_equal(copies, laterSpecs))
    compilations.push_back({copy.get(), &spec});
  return generateParts(compilations, context, kObject);
}

Expected<std::unique_ptr<Module>> pdlc::optimize(Module &module,
                                                 const CodegenContext &context,
                                                 LLVMContext &llvmContext) {
  Expected<std::vector<FileBytes>> parts =
      generateParts(Compilation{&module, &context.spec}, context, kBitcode);
  if (!parts)
    return parts.takeError();
  std::unique_ptr<Module> whole;
  for (const FileBytes &part : *parts) {
    Expected<std::unique_ptr<Module>> parsed =
        parseBitcodeFile(MemoryBufferRef(StringRef(part.data(), part.size()),
                                         module.getModuleIdentifier()),
                         llvmContext);
    if (!parsed)
      return parsed.takeError();
    if (!whole)
      whole = std::move(*parsed);
    else if (Linker::linkModules(*whole, std::move(*parsed)))
      return createStringError("cannot join the parts of the module");
  }
  return whole;
}
