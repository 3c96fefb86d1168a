//===- CpuLevels.cpp - Copies of a program for later CPUs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuLevels.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace pdlc;

/// Function of the runtime, see pdlabi/abi/cpu_levels.h.
static constexpr StringLiteral kChooseName = "pdlrt_choose_descriptor";

static GlobalVariable &variableOf(Module &module, StringRef name) {
  return *module.getGlobalVariable(name, /*AllowInternal=*/true);
}

/// Sets the fields of the descriptor that describe the CPU.
static void describeCpu(Module &module, const TargetSpec &spec) {
  LLVMContext &context = module.getContext();
  GlobalVariable &name = variableOf(module, kTargetCpuName);
  Constant *text = ConstantDataArray::getString(context, spec.cpu);
  auto *replacement =
      new GlobalVariable(module, text->getType(), /*isConstant=*/true,
                         name.getLinkage(), text, "", &name);
  replacement->takeName(&name);
  name.replaceAllUsesWith(replacement);
  name.eraseFromParent();
  std::vector<uint64_t> words = spec.featureWords();
  variableOf(module, kCpuFeaturesName)
      .setInitializer(ConstantDataArray::get(context, words));
}

static void setCpu(Function &function, const TargetSpec &spec) {
  function.addFnAttr("target-cpu", spec.cpu);
  function.addFnAttr("target-features", spec.features);
}

static std::unique_ptr<Module> copyFor(const Module &module,
                                       const TargetSpec &spec) {
  std::unique_ptr<Module> copy = CloneModule(module);
  copy->getFunction(kQueryName)->eraseFromParent();
  describeCpu(*copy, spec);
  GlobalVariable &descriptor = variableOf(*copy, kDescriptorName);
  descriptor.setLinkage(GlobalValue::ExternalLinkage);
  descriptor.setVisibility(GlobalValue::HiddenVisibility);
  for (GlobalObject &object : copy->global_objects())
    if (!object.isDeclaration())
      object.setName(object.getName() + "." + spec.cpu);
  for (Function &function : *copy)
    if (!function.isDeclaration())
      setCpu(function, spec);
  return copy;
}

std::vector<std::unique_ptr<Module>>
pdlc::addCpuLevels(Module &module, ArrayRef<TargetSpec> specs) {
  std::vector<std::unique_ptr<Module>> copies;
  if (specs.empty())
    return copies;
  SmallVector<Constant *> descriptors;
  GlobalVariable &own = variableOf(module, kDescriptorName);
  for (const TargetSpec &spec : specs)
    copies.push_back(copyFor(module, spec));
  for (const TargetSpec &spec : specs) {
    auto *descriptor =
        new GlobalVariable(module, own.getValueType(), /*isConstant=*/true,
                           GlobalValue::ExternalLinkage, nullptr,
                           kDescriptorName + "." + spec.cpu);
    descriptor->setVisibility(GlobalValue::HiddenVisibility);
    descriptors.push_back(descriptor);
  }
  descriptors.push_back(&own);

  Function &query = *module.getFunction(kQueryName);
  IRBuilder<> builder(&*query.getEntryBlock().getFirstInsertionPt());
  auto *listType = ArrayType::get(builder.getPtrTy(), descriptors.size());
  auto *list = new GlobalVariable(
      module, listType, /*isConstant=*/true, GlobalValue::InternalLinkage,
      ConstantArray::get(listType, descriptors), kDescriptorName + ".list");
  FunctionCallee choose =
      module.getOrInsertFunction(kChooseName, builder.getPtrTy(),
                                 builder.getPtrTy(), builder.getInt32Ty());
  cast<Function>(choose.getCallee())->setDoesNotThrow();
  Value *chosen =
      builder.CreateCall(choose, {list, builder.getInt32(descriptors.size())});
  own.replaceUsesWithIf(chosen, [&](const Use &use) {
    auto *user = dyn_cast<Instruction>(use.getUser());
    return user && user->getFunction() == &query;
  });
  return copies;
}
