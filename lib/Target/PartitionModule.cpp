//===- PartitionModule.cpp - Separately compiled parts --------------------===//
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

/// Approximate number of instructions in a part, before optimization. Each part
/// adds about 2 ms, a fifth of the time that it takes to compile so many
/// instructions. Larger parts would cost less in total, but a small change
/// would then recompile more code.
static constexpr uint64_t kWeightOfPart = 128;

/// Maximum size of constants that are copied into each part that uses them.
static constexpr uint64_t kCopiedBytes = 1024;

/// Calls `visit` for each function or variable that uses `value`, directly or
/// as a part of a constant.
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

/// Returns true if each part may have its own copy of a local constant. Only
/// functions may use it; it must contain plain data; and it must be small or
/// have a single user.
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

/// Finds the functions that can be compiled in any part: those that LLVM would
/// not inline into a caller.
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

/// Returns the number of instructions of `function`, including the functions
/// that are always inlined into it.
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

/// Returns true if other functions use `function`. This distinguishes kernels,
/// which stages call, from stages.
static bool isUsedByFunctions(const Function &function) {
  bool isUsed = false;
  forEachUser(function,
              [&](const GlobalValue &user) { isUsed |= isa<Function>(user); });
  return isUsed;
}

/// Returns a name without the counters that make equal names unique. A counter
/// is a number after an underscore at the end of a word; words are separated by
/// dots.
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

/// Renames a symbol, and makes it visible to other parts but not outside the
/// object that is linked from the parts.
static void share(GlobalObject &object, const Twine &name) {
  object.setName(name);
  object.setLinkage(GlobalValue::ExternalLinkage);
  object.setVisibility(GlobalValue::HiddenVisibility);
}

/// Names a kernel by its contents, so that unchanged kernels keep their names,
/// and the object cache finds their parts. If the name is taken, appends a
/// counter. A stage keeps its own name, after a prefix.
void ModulePartition::nameStably(Function &function) {
  if (!named.insert(&function).second)
    return;
  // The name of this function is made from its contents, which include the
  // names of called functions. So these are named first.
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

/// Shares an object that stays in the first part but is used by other parts.
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

/// Returns true if `function` calls `callee`.
static bool calls(const Function &function, const Function &callee) {
  return any_of(callee.users(), [&](const User *user) {
    auto *call = dyn_cast<CallBase>(user);
    return call && call->getFunction() == &function &&
           call->getCalledFunction() == &callee;
  });
}

/// Assigns functions to parts, in module order. Whether a part ends next to a
/// function depends only on this function, so that a change does not move the
/// ends of other parts. A function of at least kWeightOfPart instructions is a
/// part of its own. After a smaller function, a part ends with a probability
/// proportional to its size. Long functions, which are not optimized, are parts
/// of their own, too.
void ModulePartition::assign() {
  parts.emplace_back();
  for (const Function &function : module)
    if (!function.isDeclaration() && !copied.contains(&function) &&
        !movable.contains(&function))
      parts.front().push_back(&function);
  // First kernels, then stages. They form separate parts, because most changes
  // of a model affect stages, and the cache then still has the kernels.
  for (bool ofKernels : {true, false}) {
    bool isCut = true;
    const Function *before = nullptr;
    for (const Function *function : movable) {
      if (isUsedByFunctions(*function) != ofKernels)
        continue;
      bool isLong = isLongFunction(*function);
      uint64_t weight = weightOf(*function);
      // A function that calls the previous one belongs to the same part.
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
