//===- PartitionModule.cpp - Parts that compile by themselves -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModule.h"
#include "ExtractPart.h"
#include "LongFunction.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/StructuralHash.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace pdlc;

/// About how many instructions, before optimisation, are a part. A part by
/// itself costs about 2 ms, as much as a fifth of these; with fewer parts there
/// is more to compile where little changes.
static constexpr uint64_t kWeightOfPart = 128;

/// Constants up to this size are copied into each part that uses them.
static constexpr uint64_t kCopiedBytes = 1024;

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
  findCopied();
  findMovable();
  for (Function &function : module)
    if (movable.contains(&function))
      nameStably(function);
    else
      shareWithParts(function);
  for (GlobalVariable &variable : module.globals())
    shareWithParts(variable);
  assign();
}

/// Whether a local constant may be in several parts: its address says nothing.
static bool mayCopy(const GlobalVariable &variable) {
  if (!variable.isConstant() || !variable.hasLocalLinkage() ||
      any_of(variable.getInitializer()->operands(),
             [](const Use &use) { return !isa<ConstantData>(use); }))
    return false;
  const GlobalValue *only = nullptr;
  bool isOneFunctions = true, isFunctions = true;
  forEachUser(variable, [&](const GlobalValue &user) {
    isFunctions &= isa<Function>(user);
    isOneFunctions &= !only || only == &user;
    only = &user;
  });
  return isFunctions &&
         (isOneFunctions || variable.getDataLayout().getTypeAllocSize(
                                variable.getValueType()) <= kCopiedBytes);
}

void ModulePartition::findCopied() {
  for (const Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() &&
        function.hasFnAttribute(Attribute::AlwaysInline))
      copied.insert(&function);
  for (const GlobalVariable &variable : module.globals()) {
    if (mayCopy(variable))
      copied.insert(&variable);
    if (variable.isConstant() && variable.hasLocalLinkage())
      forEachUser(variable, [&](const GlobalValue &user) {
        if (isa<Function>(user) && copied.contains(&user))
          copied.insert(&variable);
      });
  }
}

/// A function may be compiled apart if it would be inlined nowhere.
void ModulePartition::findMovable() {
  for (Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() &&
        !copied.contains(&function) &&
        (function.hasFnAttribute(Attribute::NoInline) ||
         llvm::none_of(function.uses(), [](const Use &use) {
           auto *call = dyn_cast<CallBase>(use.getUser());
           return call && call->isCallee(&use);
         })))
      movable.insert(&function);
}

/// Its instructions, with those of what is inlined into it.
uint64_t ModulePartition::weightOf(const Function &function) const {
  uint64_t weight = function.getInstructionCount();
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (const Function *callee = call->getCalledFunction();
            callee && copied.contains(callee))
          weight += callee->getInstructionCount();
  return weight;
}

/// Whether other functions use it: a kernel, no stage.
static bool isUsedByFunctions(const Function &function) {
  bool isUsed = false;
  forEachUser(function,
              [&](const GlobalValue &user) { isUsed |= isa<Function>(user); });
  return isUsed;
}

/// A name without the numbers at the ends of its words, which count what was
/// named alike.
static std::string withoutCounters(StringRef name) {
  SmallVector<StringRef> words;
  name.split(words, '.');
  for (StringRef &word : words) {
    StringRef stem = word.rtrim("0123456789");
    if (stem.size() < word.size() && stem.size() > 1 && stem.ends_with("_"))
      word = stem.drop_back();
  }
  return join(words, ".");
}

/// Gives what another part uses a symbol that linking finds, and nothing else
/// does.
static void share(GlobalObject &object, const Twine &name) {
  object.setName(name);
  object.setLinkage(GlobalValue::ExternalLinkage);
  object.setVisibility(GlobalValue::HiddenVisibility);
}

/// A kernel's name is its own, whatever kernels there are before it.
void ModulePartition::nameStably(Function &function) {
  if (!named.insert(&function).second)
    return;
  // Names of what it calls are part of what it is.
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      for (Value *operand : instruction.operands())
        if (auto *callee = dyn_cast<Function>(operand);
            callee && movable.contains(callee))
          nameStably(*callee);
  std::string name = ("pdl." + function.getName()).str();
  if (isUsedByFunctions(function))
    name = "pdl." + withoutCounters(function.getName()) + "." +
           utohexstr(StructuralHash(function, /*DetailedHash=*/true),
                     /*LowerCase=*/true, /*Width=*/16);
  std::string unique = name;
  for (unsigned i = 1; module.getNamedValue(unique); ++i)
    unique = name + "." + utostr(i);
  share(function, unique);
}

/// What stays in the first part, but is used by others.
void ModulePartition::shareWithParts(GlobalObject &object) {
  if (object.isDeclaration() || !object.hasLocalLinkage() ||
      copied.contains(&object))
    return;
  bool isShared = false;
  forEachUser(object, [&](const GlobalValue &user) {
    isShared |=
        isa<Function>(user) &&
        (copied.contains(&user) || movable.contains(cast<Function>(&user)));
  });
  if (isShared)
    share(object, "pdl." + object.getName());
}

/// Whether `function` calls `callee`.
static bool calls(const Function &function, const Function &callee) {
  return any_of(callee.users(), [&](const User *user) {
    auto *call = dyn_cast<CallBase>(user);
    return call && call->getFunction() == &function &&
           call->getCalledFunction() == &callee;
  });
}

/// Cuts around a function by what it is alone, so that no cut moves others: a
/// heavy one is a part, behind a light one a cut is as likely as it is heavy.
/// Long ones, for which LLVM takes no trouble, keep to themselves.
void ModulePartition::assign() {
  parts.emplace_back();
  for (const Function &function : module)
    if (!function.isDeclaration() && !copied.contains(&function) &&
        !movable.contains(&function))
      parts.front().push_back(&function);
  // Stages, which most changes reach, by themselves as well.
  for (bool ofKernels : {true, false}) {
    bool isCut = true;
    const Function *before = nullptr;
    for (const Function *function : movable) {
      if (isUsedByFunctions(*function) != ofKernels)
        continue;
      bool isLong = isLongFunction(*function);
      uint64_t weight = weightOf(*function);
      // What calls the one before belongs to it.
      bool belongs = !isLong && before && calls(*function, *before);
      if (isLong || (!belongs && (isCut || weight >= kWeightOfPart)))
        parts.emplace_back();
      parts.back().push_back(function);
      isCut = isLong || (belongs && isCut) ||
              weight > xxh3_64bits(function->getName()) % kWeightOfPart;
      before = isLong ? nullptr : function;
    }
  }
}

SmallVector<char, 0> ModulePartition::bitcode(unsigned part) const {
  std::vector<const GlobalVariable *> variables;
  if (part == 0)
    for (const GlobalVariable &variable : module.globals())
      if (!variable.isDeclaration() && !copied.contains(&variable))
        variables.push_back(&variable);
  std::unique_ptr<Module> extracted =
      extractPart(module, parts[part], variables, copied);
  SmallVector<char, 0> bytes;
  raw_svector_ostream stream(bytes);
  WriteBitcodeToFile(*extracted, stream);
  return bytes;
}
