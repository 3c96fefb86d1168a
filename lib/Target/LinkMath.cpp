//===- LinkMath.cpp - pdlabi/math.h in generated code ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkMath.h"

#include "MathBitcode.h"
#include "pdlc/Target/TargetSpec.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;
using namespace pdlc;

Error pdlc::linkMath(Module &module) {
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
