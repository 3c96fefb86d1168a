//===- LinkBitcode.cpp - Link PDL's functions into generated code ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkBitcode.h"

#include "Bitcode.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;
using namespace pdlc;

/// Links those functions of `bitcode` that `module` calls, and returns them.
static Expected<std::vector<Function *>> link(Module &module,
                                              MemoryBufferRef bitcode) {
  Expected<std::unique_ptr<Module>> library =
      parseBitcodeFile(bitcode, module.getContext());
  if (!library)
    return library.takeError();
  std::vector<std::string> names;
  for (Function &function : **library)
    if (!function.isDeclaration())
      names.push_back(function.getName().str());
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  // The module flags and the identification in the bitcode come from the
  // compiler that created it. Generated code must not get them.
  if (NamedMDNode *flags = (*library)->getModuleFlagsMetadata())
    flags->eraseFromParent();
  if (NamedMDNode *ident = (*library)->getNamedMetadata("llvm.ident"))
    ident->eraseFromParent();
  if (Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded))
    return createStringError("cannot link the functions of " +
                             bitcode.getBufferIdentifier());

  // Compile the linked functions for the same CPU as their callers, whichever
  // caller comes first. Only pdl_program_query is for another CPU: it must run
  // on every x86-64 CPU.
  const Function *caller = nullptr;
  for (const Function &function : module)
    if (!caller && !function.isDeclaration() &&
        function.getName() != kQueryName &&
        function.hasFnAttribute("target-cpu") &&
        !is_contained(names, function.getName()))
      caller = &function;
  std::vector<Function *> linked;
  for (const std::string &name : names) {
    Function *function = module.getFunction(name);
    if (!function || function->isDeclaration())
      continue;
    function->setAttributes(
        function->getAttributes().removeFnAttributes(module.getContext()));
    function->setLinkage(GlobalValue::InternalLinkage);
    function->addFnAttr(Attribute::AlwaysInline);
    function->setDoesNotThrow();
    function->setWillReturn();
    for (StringRef attribute : {"target-cpu", "target-features"})
      if (caller && caller->hasFnAttribute(attribute))
        function->addFnAttr(caller->getFnAttribute(attribute));
    linked.push_back(function);
  }
  return linked;
}

Error pdlc::linkMath(Module &module) {
  Expected<std::vector<Function *>> linked = link(module, getMathBitcode());
  if (!linked)
    return linked.takeError();
  for (Function *function : *linked)
    function->setDoesNotAccessMemory();
  return Error::success();
}

Error pdlc::linkDeviceLibrary(Module &module) {
  return link(module, getDeviceLibraryBitcode()).takeError();
}
