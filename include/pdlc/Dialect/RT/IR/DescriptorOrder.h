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

/// Defines the order of symbols, groups, clips and metrics in the descriptor:
/// the order of their ops in the module. The emitter of the descriptor writes
/// its arrays in this order, and stages use it to index
/// `pdl_step_context::parameters` and `::metrics`. An object becomes invalid
/// when such an op is added to the module or erased from it.
struct DescriptorOrder {
  explicit DescriptorOrder(mlir::ModuleOp module);

  /// Record that the programs read. Its fields become those of the descriptor.
  /// If no program names a record, the first record of the module; null if the
  /// module has none.
  nn::RecordOp record;
  /// Every `nn.param`, `nn.state` and `nn.table`, in module order.
  llvm::SmallVector<mlir::Operation *> symbols;
  /// Groups of the module. The descriptor contains only those that some program
  /// updates.
  llvm::SmallVector<nn::GroupOp> groups;
  llvm::SmallVector<nn::ClipOp> clips;
  llvm::SmallVector<nn::MetricOp> metrics;

  /// Return the position of the named field, symbol, clip or metric in the
  /// descriptor. It must exist, which the verifiers of ops that use names
  /// guarantee.
  int32_t field(llvm::StringRef name);
  int32_t symbol(llvm::StringRef name) const;
  int32_t clip(llvm::StringRef name) const;
  int32_t metric(llvm::StringRef name) const;
};

} // namespace pdlc::rt

#endif // PDLC_DIALECT_RT_IR_DESCRIPTORORDER_H
