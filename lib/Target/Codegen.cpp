//===- Codegen.cpp - From the LLVM dialect to object files ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/Codegen.h"

#include "MathBitcode.h"
#include "PartitionModule.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace pdlc;

/// What MLIR's translation does not check.
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

/// Links the settled scalar functions that `module` calls and makes them its
/// own: compiled for its CPU, inlined everywhere.
static Error linkMath(Module &module) {
  Expected<std::unique_ptr<Module>> math =
      parseBitcodeFile(getMathBitcode(), module.getContext());
  if (!math)
    return math.takeError();
  std::vector<std::string> names;
  for (Function &function : **math)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  (*math)->setDataLayout(module.getDataLayout());
  (*math)->setTargetTriple(module.getTargetTriple());
  // Its flags and identification are those of the compiler that made it.
  if (NamedMDNode *flags = (*math)->getModuleFlagsMetadata())
    flags->eraseFromParent();
  if (NamedMDNode *ident = (*math)->getNamedMetadata("llvm.ident"))
    ident->eraseFromParent();
  if (Linker::linkModules(module, std::move(*math), Linker::LinkOnlyNeeded))
    return createStringError("cannot link the functions of pdlabi/math.h");

  // The target is that of what calls them; pdl_program_query, which runs on
  // every CPU, does not.
  const Function *caller = nullptr;
  for (const Function &function : module)
    if (!caller && !function.isDeclaration() &&
        function.getName() != kQueryName &&
        function.hasFnAttribute("target-cpu"))
      caller = &function;
  for (const std::string &name : names) {
    Function *function = module.getFunction(name);
    if (!function || function->isDeclaration())
      continue;
    function->setAttributes({});
    function->setLinkage(GlobalValue::InternalLinkage);
    function->addFnAttr(Attribute::AlwaysInline);
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    function->setWillReturn();
    for (StringRef attribute : {"target-cpu", "target-features"})
      if (caller && caller->hasFnAttribute(attribute))
        function->addFnAttr(caller->getFnAttribute(attribute));
  }
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
  // No exception crosses the ABI, and nothing here throws.
  for (Function &function : *result)
    function.setDoesNotThrow();
  return result;
}

/// Instructions of a function without loops from which on it is left as it is.
static constexpr unsigned longFunction = 2048;

/// Stages of large models are thousands of calls of kernels without a loop,
/// where the vectorizer of straight lines and the scheduler of instructions
/// compare each store with each other one. Nothing is won there: time passes in
/// what is called.
static void leaveLongFunctions(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration() ||
        function.getInstructionCount() < longFunction ||
        function.hasFnAttribute(Attribute::AlwaysInline))
      continue;
    DominatorTree dominators(function);
    if (!LoopInfo(dominators).empty())
      continue;
    function.addFnAttr(Attribute::OptimizeNone);
    function.addFnAttr(Attribute::NoInline);
  }
}

/// LLVM's -O3 pipeline.
static void runO3(Module &module, TargetMachine &machine) {
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
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

/// Turns an optimised module into bytes.
using WriteFn = Error (*)(Module &module, TargetMachine &machine,
                          raw_svector_ostream &stream);

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

static Expected<FileBytes> generate(Module &module, const TargetSpec &spec,
                                    WriteFn write) {
  std::unique_ptr<TargetMachine> machine = spec.createMachine();
  leaveLongFunctions(module);
  runO3(module, *machine);
  FileBytes bytes;
  raw_svector_ostream stream(bytes);
  if (Error error = write(module, *machine, stream))
    return std::move(error);
  return bytes;
}

/// ... of a module that travels as bitcode, for no two threads may share a
/// context.
static Expected<FileBytes>
generateApart(FileBytes &bitcode, const TargetSpec &spec, WriteFn write) {
  LLVMContext context;
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(
      MemoryBufferRef(StringRef(bitcode.data(), bitcode.size()), "part"),
      context);
  if (!module)
    return module.takeError();
  bitcode = FileBytes(); // many parts may wait for a thread
  return generate(**module, spec, write);
}

static Expected<std::vector<FileBytes>> generateParts(Module &module,
                                                      const TargetSpec &spec,
                                                      ThreadPoolInterface &pool,
                                                      WriteFn write) {
  ModulePartition partition(module);
  std::vector<FileBytes> files(partition.size());
  if (partition.size() == 1) {
    Expected<FileBytes> bytes = generate(module, spec, write);
    if (!bytes)
      return bytes.takeError();
    files.front() = std::move(*bytes);
    return files;
  }
  std::vector<FileBytes> bitcodes(partition.size());
  std::vector<std::string> errors(partition.size());
  ThreadPoolTaskGroup tasks(pool);
  for (unsigned part = 0; part < partition.size(); ++part) {
    raw_svector_ostream stream(bitcodes[part]);
    WriteBitcodeToFile(*partition.clone(part), stream);
    tasks.async([&, part] {
      Expected<FileBytes> bytes = generateApart(bitcodes[part], spec, write);
      if (bytes)
        files[part] = std::move(*bytes);
      else
        errors[part] = toString(bytes.takeError());
    });
  }
  tasks.wait();
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return files;
}

Expected<std::vector<FileBytes>>
pdlc::compileToObjects(Module &module, const TargetSpec &spec,
                       ThreadPoolInterface &pool) {
  return generateParts(module, spec, pool, writeObject);
}

Expected<std::unique_ptr<Module>> pdlc::optimize(Module &module,
                                                 const TargetSpec &spec,
                                                 ThreadPoolInterface &pool,
                                                 LLVMContext &context) {
  Expected<std::vector<FileBytes>> parts =
      generateParts(module, spec, pool, writeBitcode);
  if (!parts)
    return parts.takeError();
  std::unique_ptr<Module> whole;
  for (const FileBytes &part : *parts) {
    Expected<std::unique_ptr<Module>> parsed =
        parseBitcodeFile(MemoryBufferRef(StringRef(part.data(), part.size()),
                                         module.getModuleIdentifier()),
                         context);
    if (!parsed)
      return parsed.takeError();
    if (!whole)
      whole = std::move(*parsed);
    else if (Linker::linkModules(*whole, std::move(*parsed)))
      return createStringError("cannot join the parts of the module");
  }
  return whole;
}
