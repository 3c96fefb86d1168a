//===- ExtractPart.cpp - Copy functions to another module -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExtractPart.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

using namespace llvm;
using namespace pdlc;

namespace {
class Extraction {
public:
  Extraction(const Module &module, const DenseSet<const GlobalValue *> &copied);

  /// Adds a function or variable that the new module will define. Must be
  /// called for all of them before `finish`.
  void define(const GlobalValue &global);
  /// Copies the bodies, and the definitions that they use.
  std::unique_ptr<Module> finish();

private:
  GlobalValue &create(const GlobalValue &global);
  void reach(const Constant &constant);

  const DenseSet<const GlobalValue *> &copied;
  std::unique_ptr<Module> result;
  ValueToValueMapTy map;
  /// Definitions of the new module, in the order of copying.
  std::vector<const GlobalValue *> defined;
  DenseSet<const Constant *> reached;
};
} // namespace

Extraction::Extraction(const Module &module,
                       const DenseSet<const GlobalValue *> &copied)
    : copied(copied),
      result(std::make_unique<Module>("part", module.getContext())) {
  result->setSourceFileName("part");
  result->setDataLayout(module.getDataLayout());
  result->setTargetTriple(module.getTargetTriple());
  if (const NamedMDNode *flags = module.getModuleFlagsMetadata())
    for (const MDNode *flag : flags->operands())
      result->addModuleFlag(const_cast<MDNode *>(flag));
}

GlobalValue &Extraction::create(const GlobalValue &global) {
  if (auto *function = dyn_cast<Function>(&global)) {
    Function *made = Function::Create(
        function->getFunctionType(), function->getLinkage(),
        function->getAddressSpace(), function->getName(), result.get());
    made->copyAttributesFrom(function);
    map[&global] = made;
    return *made;
  }
  const auto &variable = cast<GlobalVariable>(global);
  auto *made = new GlobalVariable(
      *result, variable.getValueType(), variable.isConstant(),
      variable.getLinkage(), nullptr, variable.getName(), nullptr,
      variable.getThreadLocalMode(), variable.getAddressSpace());
  made->copyAttributesFrom(&variable);
  map[&global] = made;
  return *made;
}

void Extraction::define(const GlobalValue &global) {
  GlobalValue &made = create(global);
  // The numbers in names of constants count all constants of the module.
  if (isa<GlobalVariable>(made) && made.hasLocalLinkage() &&
      copied.contains(&global))
    made.setName("constant");
  defined.push_back(&global);
}

void Extraction::reach(const Constant &constant) {
  if (!reached.insert(&constant).second)
    return;
  if (auto *global = dyn_cast<GlobalValue>(&constant)) {
    if (map.count(global))
      return;
    if (copied.contains(global)) {
      define(*global);
      return;
    }
    GlobalValue &made = create(*global);
    if (made.hasLocalLinkage())
      made.setLinkage(GlobalValue::ExternalLinkage);
    return;
  }
  for (const Use &operand : constant.operands())
    if (auto *inner = dyn_cast<Constant>(&operand))
      reach(*inner);
}

std::unique_ptr<Module> Extraction::finish() {
  // The list grows during the loop.
  for (size_t i = 0; i < defined.size(); ++i) {
    if (auto *variable = dyn_cast<GlobalVariable>(defined[i])) {
      reach(*variable->getInitializer());
      auto *made = cast<GlobalVariable>(&*map[variable]);
      made->setInitializer(MapValue(variable->getInitializer(), map));
      continue;
    }
    const auto &function = *cast<Function>(defined[i]);
    for (const Instruction &instruction : instructions(function))
      for (const Use &operand : instruction.operands())
        if (auto *constant = dyn_cast<Constant>(&operand))
          reach(*constant);
    auto *made = cast<Function>(&*map[&function]);
    for (auto [from, to] : zip(function.args(), made->args())) {
      to.setName(from.getName());
      map[&from] = &to;
    }
    SmallVector<ReturnInst *> returns;
    CloneFunctionInto(made, &function, map,
                      CloneFunctionChangeType::DifferentModule, returns);
  }
  return std::move(result);
}

std::unique_ptr<Module>
pdlc::extractPart(const Module &module, ArrayRef<const Function *> functions,
                  ArrayRef<const GlobalVariable *> variables,
                  const DenseSet<const GlobalValue *> &copied) {
  Extraction extraction(module, copied);
  for (const GlobalVariable *variable : variables)
    extraction.define(*variable);
  for (const Function *function : functions)
    extraction.define(*function);
  return extraction.finish();
}
