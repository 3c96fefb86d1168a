//===- PartitionModule.h - Parts that compile by themselves -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_PARTITIONMODULE_H
#define LIB_TARGET_PARTITIONMODULE_H

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace pdlc {

/// Which part of a module each of its functions is compiled in. Depends on the
/// module alone, never on the machine: so do the bytes that come of it.
///
/// Parts are stable: what a part consists of, the names in it included, follows
/// from the functions in it and from their neighbours. A model with one layer
/// changed has the parts of the model that it was, but for those with a
/// function that the change reached.
class ModulePartition {
public:
  /// Decides it for a module that is not optimised yet. What may be in another
  /// part than the variables gets a stable name and hidden visibility.
  explicit ModulePartition(llvm::Module &module);

  unsigned size() const { return parts.size(); }
  /// The part by itself, as bitcode that is equal for equal parts of whatever
  /// modules. The first has the variables; functions that are inlined
  /// everywhere, and constants, are in each part that uses them.
  llvm::SmallVector<char, 0> bitcode(unsigned part) const;

private:
  void findCopied();
  void findMovable();
  uint64_t weightOf(const llvm::Function &function) const;
  void nameStably(llvm::Function &function);
  void shareWithParts(llvm::GlobalObject &object);
  void assign();

  llvm::Module &module;
  /// Of each part the functions that it defines, in the module's order.
  std::vector<std::vector<const llvm::Function *>> parts;
  /// What every part that uses it has by itself.
  llvm::DenseSet<const llvm::GlobalValue *> copied;
  /// What need not be in the first part: in the module's order.
  llvm::SetVector<const llvm::Function *> movable;
  llvm::DenseSet<const llvm::Function *> named;
};

} // namespace pdlc

#endif // LIB_TARGET_PARTITIONMODULE_H
