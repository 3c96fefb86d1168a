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

/// Order of the entries in the descriptor, defined only here. Stages use it to
/// index `pdl_step_context::parameters` and `::metrics`. The emitter writes the
/// arrays of the descriptor in this order. Entries follow module order. The
/// object is valid until such an op is added to or erased from the module.
struct DescriptorOrder {
  explicit DescriptorOrder(mlir::ModuleOp module);

  /// Record of the module's programs, whose fields become the descriptor's. If
  /// programs name no record, this is the first declared one. Null if the
  /// module has no record.
  nn::RecordOp record;
  /// Every `nn.param`, `nn.state` and `nn.table`, in module order.
  llvm::SmallVector<mlir::Operation *> symbols;
  /// Groups of the module. The descriptor contains only those that some program
  /// updates.
  llvm::SmallVector<nn::GroupOp> groups;
  llvm::SmallVector<nn::ClipOp> clips;
  llvm::SmallVector<nn::MetricOp> metrics;

  /// Return the index of a name in its list. The name must be in the list,
  /// which the verifiers of the ops that refer to it guarantee.
  int32_t field(llvm::StringRef name);
  int32_t symbol(llvm::StringRef name) const;
  int32_t clip(llvm::StringRef name) const;
  int32_t metric(llvm::StringRef name) const;
};

} // namespace pdlc::rt

#endif // PDLC_DIALECT_RT_IR_DESCRIPTORORDER_H
