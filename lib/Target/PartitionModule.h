//===- PartitionModule.h - Parts that compile side by side ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_PARTITIONMODULE_H
#define LIB_TARGET_PARTITIONMODULE_H

#include "llvm/IR/Module.h"

namespace pdlc {

/// Which part of a module each of its functions is compiled in. Depends on the
/// module alone, never on the machine: so do the bytes that come of it.
class ModulePartition {
public:
  /// Decides it for a module that is not optimised yet. A small one is one
  /// part. What several parts use gets a name of its own and hidden visibility.
  explicit ModulePartition(llvm::Module &module);

  unsigned size() const { return count; }
  /// The part by itself: its functions, with the variables if it is the first;
  /// functions that are inlined everywhere are in every part.
  std::unique_ptr<llvm::Module> clone(unsigned part) const;

private:
  void findInlined();
  bool mayMove(const llvm::Function &function) const;
  uint64_t weightOf(const llvm::Function &function) const;
  void assign();
  void shareNames();
  /// The part of a function or variable.
  unsigned partOf(const llvm::GlobalValue &value) const {
    return parts.lookup(&value);
  }

  llvm::Module &module;
  unsigned count = 1;
  /// What is missing here is in the first part.
  llvm::DenseMap<const llvm::GlobalValue *, unsigned> parts;
  /// Functions that are inlined everywhere, and the constants that they read.
  llvm::DenseSet<const llvm::GlobalValue *> everywhere;
};

} // namespace pdlc

#endif // LIB_TARGET_PARTITIONMODULE_H
