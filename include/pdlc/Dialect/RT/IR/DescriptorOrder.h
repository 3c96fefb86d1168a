//===- DescriptorOrder.h - Indices of descriptor entries --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_DESCRIPTORORDER_H
#define PDLC_DIALECT_RT_IR_DESCRIPTORORDER_H

#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::rt {

/// The order of entries in the descriptor, the one place that says it: stages
/// index `pdl_step_context::parameters` and `::metrics` by it, the emitter
/// writes the descriptor's arrays in it. Entries stand in module order; valid
/// as long as no such op is added to or erased from the module.
struct DescriptorOrder {
  explicit DescriptorOrder(mlir::ModuleOp module);

  /// The record of the module's programs (the first one declared if programs
  /// do not say); null if the module has none. Its fields are the descriptor's.
  nn::RecordOp record;
  /// `nn.param`, `nn.state` and `nn.table`, mixed.
  llvm::SmallVector<mlir::Operation *> symbols;
  /// Of these, the descriptor takes those that some program updates.
  llvm::SmallVector<nn::GroupOp> groups;
  llvm::SmallVector<nn::ClipOp> clips;
  llvm::SmallVector<nn::MetricOp> metrics;

  /// The index of a name in its list, which must have it: the verifiers of the
  /// ops that refer to it have made sure.
  int32_t field(llvm::StringRef name);
  int32_t symbol(llvm::StringRef name) const;
  int32_t clip(llvm::StringRef name) const;
  int32_t metric(llvm::StringRef name) const;
};

} // namespace pdlc::rt

#endif // PDLC_DIALECT_RT_IR_DESCRIPTORORDER_H
