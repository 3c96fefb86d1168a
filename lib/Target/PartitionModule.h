//===- PartitionModule.h - Separately compiled parts ------------*- C++ -*-===//
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

/// Partition of a module into parts that are compiled separately. The
/// partition, and so the compiled program, depends only on the module and not
/// on the machine.
///
/// Parts are stable: the contents of a part, including its names, depend only
/// on its functions and their neighbors. If one layer of a model changes, only
/// parts with functions of this layer change.
class ModulePartition {
public:
  /// Partitions a module before optimization. Symbols that several parts use
  /// get hidden visibility and a name that does not depend on the rest of the
  /// module.
  explicit ModulePartition(llvm::Module &module);

  unsigned size() const { return parts.size(); }
  /// Returns a part as bitcode. Equal parts of different modules have equal
  /// bitcode. Part 0 contains the variables. Small constants, and functions
  /// that are always inlined, are in each part that uses them.
  llvm::SmallVector<char, 0> bitcode(unsigned part) const;

private:
  void findCopied();
  void findMovable();
  uint64_t weightOf(const llvm::Function &function) const;
  void nameStably(llvm::Function &function);
  void shareWithParts(llvm::GlobalObject &object);
  void assign();

  llvm::Module &module;
  /// Functions that each part defines, in module order.
  std::vector<std::vector<const llvm::Function *>> parts;
  /// Definitions that are copied into each part that uses them.
  llvm::DenseSet<const llvm::GlobalValue *> copied;
  /// Functions that need not be in the first part, in module order.
  llvm::SetVector<const llvm::Function *> movable;
  llvm::DenseSet<const llvm::Function *> named;
};

} // namespace pdlc

#endif // LIB_TARGET_PARTITIONMODULE_H
