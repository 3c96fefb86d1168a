//===- PartitionModule.cpp - Parts that compile side by side --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
using namespace pdlc;

/// The instructions, before optimisation, that are worth a part: compiling them
/// takes some tenths of a second, many times what cutting costs.
static constexpr uint64_t kWeightOfPart = 2500;
static constexpr uint64_t kMaxParts = 16;

/// Visits the functions and variables that use `value`, be it inside of a
/// constant.
static void forEachUser(const Value &value,
                        function_ref<void(const GlobalValue &)> visit) {
  for (const User *user : value.users())
    if (auto *instruction = dyn_cast<Instruction>(user))
      visit(*instruction->getFunction());
    else if (auto *global = dyn_cast<GlobalValue>(user))
      visit(*global);
    else
      forEachUser(*user, visit);
}

ModulePartition::ModulePartition(Module &module) : module(module) {
  findInlined();
  assign();
  if (count > 1)
    shareNames();
}

void ModulePartition::findInlined() {
  for (const Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() &&
        function.hasFnAttribute(Attribute::AlwaysInline))
      everywhere.insert(&function);
  for (const GlobalVariable &variable : module.globals())
    if (variable.isConstant() && variable.hasLocalLinkage())
      forEachUser(variable, [&](const GlobalValue &user) {
        if (everywhere.contains(&user))
          everywhere.insert(&variable);
      });
}

/// Whether the function may be compiled apart from the variables: it uses none,
/// and would be inlined nowhere.
bool ModulePartition::mayMove(const Function &function) const {
  if (function.isDeclaration() || everywhere.contains(&function))
    return false;
  if (function.hasFnAttribute(Attribute::NoInline))
    return true;
  return llvm::none_of(function.users(),
                       [](const User *user) { return isa<CallBase>(user); });
}

/// Its instructions, with those of what is inlined into it.
uint64_t ModulePartition::weightOf(const Function &function) const {
  uint64_t weight = function.getInstructionCount();
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction();
            callee && everywhere.contains(callee))
          weight += callee->getInstructionCount();
  return weight;
}

void ModulePartition::assign() {
  DenseSet<const GlobalValue *> bound;
  for (const GlobalVariable &variable : module.globals())
    if (variable.hasLocalLinkage() && !everywhere.contains(&variable))
      forEachUser(variable,
                  [&](const GlobalValue &user) { bound.insert(&user); });
  uint64_t all = 0, first = 0;
  // Its weight and its place, by which equal ones are told apart.
  std::vector<std::tuple<uint64_t, unsigned, const Function *>> movable;
  for (const Function &function : module) {
    if (function.isDeclaration() || everywhere.contains(&function))
      continue;
    uint64_t weight = weightOf(function);
    all += weight;
    if (bound.contains(&function) || !mayMove(function))
      first += weight;
    else
      movable.emplace_back(weight, movable.size(), &function);
  }
  count = std::clamp<uint64_t>(all / kWeightOfPart, 1, kMaxParts);
  // The heaviest first, each to the part that has least.
  llvm::sort(movable, [](const auto &a, const auto &b) {
    return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b)
                                            : std::get<1>(a) < std::get<1>(b);
  });
  std::vector<uint64_t> load(count, 0);
  load[0] = first;
  for (auto [weight, place, function] : movable) {
    auto part = llvm::min_element(load) - load.begin();
    load[part] += weight;
    parts[function] = part;
  }
}

/// Gives what another part uses a symbol that linking finds, and nothing else
/// does.
void ModulePartition::shareNames() {
  for (GlobalObject &object : module.global_objects()) {
    if (!object.hasLocalLinkage() || everywhere.contains(&object))
      continue;
    bool isShared = false;
    forEachUser(object, [&](const GlobalValue &user) {
      isShared |= partOf(user) != partOf(object);
    });
    if (!isShared)
      continue;
    object.setName("pdl." + object.getName());
    object.setLinkage(GlobalValue::ExternalLinkage);
    object.setVisibility(GlobalValue::HiddenVisibility);
  }
}

std::unique_ptr<Module> ModulePartition::clone(unsigned part) const {
  ValueToValueMapTy values;
  std::unique_ptr<Module> cloned =
      CloneModule(module, values, [&](const GlobalValue *value) {
        return everywhere.contains(value) || partOf(*value) == part;
      });
  // What it does not use.
  for (Function &function : llvm::make_early_inc_range(*cloned))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  for (GlobalVariable &variable : llvm::make_early_inc_range(cloned->globals()))
    if (variable.isDeclaration() && variable.use_empty())
      variable.eraseFromParent();
  return cloned;
}
