//===- DeviceCode.cpp - Kernels for a GPU ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Target/DeviceCode.h"

#include "LinkBitcode.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "pdlc/Target/ObjectCache.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include <cassert>
#include <mutex>

using namespace llvm;
using namespace pdlc;

static constexpr StringLiteral kTriple = "nvptx64-nvidia-cuda";

/// Maximum number of threads of a block. The runtime never launches more.
static constexpr StringLiteral kMaxThreads = "256";

static const Target *findTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  return TargetRegistry::lookupTarget(Triple(kTriple), error);
}

Error pdlc::checkGpuArchitecture(StringRef architecture) {
  const Target *target = findTarget();
  if (!target)
    return createStringError("this LLVM cannot generate code for " + kTriple +
                             "; PDL needs one that was built with target "
                             "NVPTX");
  // Start with an empty name: LLVM would print its own error for a wrong one.
  std::unique_ptr<MCSubtargetInfo> any(
      target->createMCSubtargetInfo(Triple(kTriple), "", ""));
  // Architectures of a single generation (sm_90a) cannot be the oldest one.
  const auto numberOf = [](StringRef name) {
    unsigned number = 0;
    return name.consume_front("sm_") && !name.getAsInteger(10, number) ? number
                                                                       : 0;
  };
  if (any->isCPUStringValid(architecture) && numberOf(architecture) >= 70)
    return Error::success();
  std::vector<unsigned> known;
  for (const SubtargetSubTypeKV &each : any->getAllProcessorDescriptions())
    if (numberOf(each.Key) >= 70)
      known.push_back(numberOf(each.Key));
  llvm::sort(known);
  std::string names;
  for (unsigned number : known)
    names += (names.empty() ? "sm_" : ", sm_") + std::to_string(number);
  return createStringError("there is no GPU architecture '" + architecture +
                           "' that PDL writes code for; use one of " + names);
}

static std::unique_ptr<TargetMachine> createMachine(StringRef architecture) {
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(findTarget()->createTargetMachine(
      Triple(kTriple), architecture, "", options, Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));
}

/// Adds the entry that a device launches for `kernel`. The last two parameters
/// of `kernel` are the number of the thread and the number of threads; the
/// entry reads them from the device and has the other parameters only.
static void addEntry(Function &kernel) {
  Module &module = *kernel.getParent();
  LLVMContext &context = module.getContext();
  SmallVector<Type *> types(kernel.getFunctionType()->params());
  types.pop_back_n(2);
  const std::string name = entryNameOf(kernel.getName());
  kernel.setName(name + ".body");
  Function *entry = Function::Create(
      FunctionType::get(Type::getVoidTy(context), types, /*isVarArg=*/false),
      GlobalValue::ExternalLinkage, name, module);
  assert(entry->getName() == name && "the descriptor has another name");
  entry->setCallingConv(CallingConv::PTX_Kernel);
  entry->addFnAttr("nvvm.maxntid", kMaxThreads);
  entry->setDoesNotThrow();
  for (Argument &argument : entry->args())
    if (kernel.hasParamAttribute(argument.getArgNo(), Attribute::NoAlias))
      argument.addAttr(Attribute::NoAlias);
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  const auto read = [&](Intrinsic::ID id) {
    return builder.CreateZExt(builder.CreateIntrinsic(id, {}),
                              builder.getInt64Ty());
  };
  Value *size = read(Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value *first = builder.CreateAdd(
      builder.CreateMul(read(Intrinsic::nvvm_read_ptx_sreg_ctaid_x), size),
      read(Intrinsic::nvvm_read_ptx_sreg_tid_x));
  Value *stride =
      builder.CreateMul(read(Intrinsic::nvvm_read_ptx_sreg_nctaid_x), size);
  SmallVector<Value *> arguments;
  for (Argument &argument : entry->args())
    arguments.push_back(&argument);
  arguments.append({first, stride});
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  kernel.setLinkage(GlobalValue::InternalLinkage);
  kernel.addFnAttr(Attribute::AlwaysInline);
}

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O3)
      .run(module, modules);
}

/// Fails if a called function has no code for a GPU.
static Error checkCalls(const Module &module) {
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic())
      return createStringError(
          "a kernel calls " + function.getName() +
          ", of which there is no code for a GPU; this is a fault of PDL, "
          "please report it");
  return Error::success();
}

static Expected<SmallString<0>> writePtx(Module &module,
                                         TargetMachine &machine) {
  optimize(module, machine);
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  CodeGenFileType::AssemblyFile))
    return createStringError("LLVM cannot write PTX");
  passes.run(module);
  return text;
}

/// Returns the cached result for the module, or compiles it.
static Expected<SmallString<0>>
findOrWritePtx(Module &module, TargetMachine &machine, ObjectCache *cache) {
  if (!cache)
    return writePtx(module, machine);
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  const TargetSpec spec{kTriple.str(), machine.getTargetCPU().str(),
                        machine.getTargetFeatureString().str(),
                        module.getDataLayoutStr()};
  const ObjectCache::Key key = cache->keyOf(bitcode, "ptx", spec);
  if (auto found = cache->find(key))
    return SmallString<0>(StringRef(found->data(), found->size()));
  Expected<SmallString<0>> text = writePtx(module, machine);
  if (text)
    cache->keep(key, *text);
  return text;
}

Expected<std::string> pdlc::compileToPtx(mlir::ModuleOp kernels,
                                         StringRef architecture,
                                         ObjectCache *cache) {
  if (Error error = checkGpuArchitecture(architecture))
    return std::move(error);
  mlir::registerBuiltinDialectTranslation(*kernels.getContext());
  mlir::registerLLVMDialectTranslation(*kernels.getContext());
  LLVMContext context;
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(kernels, context);
  if (!module)
    return createStringError("the kernels are not all of the LLVM dialect; "
                             "run --pdl-device-pipeline");
  std::unique_ptr<TargetMachine> machine = createMachine(architecture);
  module->setTargetTriple(Triple(kTriple));
  module->setDataLayout(machine->createDataLayout());
  // Functions with a result are called by kernels.
  std::vector<std::string> bodies;
  for (const Function &function : *module)
    if (!function.isIntrinsic() && function.getReturnType()->isVoidTy())
      bodies.push_back(function.getName().str());
  for (auto link : {linkMath, linkDeviceLibrary})
    if (Error error = link(*module))
      return std::move(error);
  if (Error error = checkCalls(*module))
    return std::move(error);
  for (const std::string &body : bodies)
    addEntry(*module->getFunction(body));
  Expected<SmallString<0>> text = findOrWritePtx(*module, *machine, cache);
  if (!text)
    return text.takeError();
  return text->str().str();
}
