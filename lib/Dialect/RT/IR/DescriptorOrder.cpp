//===- DescriptorOrder.cpp - Indices of descriptor entries ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/RT/IR/DescriptorOrder.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::rt;

DescriptorOrder::DescriptorOrder(ModuleOp module) {
  StringAttr recordName;
  for (Operation &op : *module.getBody()) {
    if (op.hasTrait<HoldsState>())
      symbols.push_back(&op);
    else if (auto group = dyn_cast<nn::GroupOp>(op))
      groups.push_back(group);
    else if (auto clip = dyn_cast<nn::ClipOp>(op))
      clips.push_back(clip);
    else if (auto metric = dyn_cast<nn::MetricOp>(op))
      metrics.push_back(metric);
    else if (auto program = dyn_cast<nn::ProgramOp>(op))
      recordName = program.getRecordAttr().getAttr();
    else if (auto program = dyn_cast<rt::ProgramOp>(op))
      recordName = program.getRecordAttr().getAttr();
  }
  for (auto candidate : module.getOps<nn::RecordOp>())
    if (!record || candidate.getSymNameAttr() == recordName)
      record = candidate;
}

template <typename Range>
static int32_t indexOf(Range &&range, StringRef name) {
  for (auto [index, op] : llvm::enumerate(range))
    if (SymbolTable::getSymbolName(op).getValue() == name)
      return static_cast<int32_t>(index);
  llvm_unreachable("a name that the verifier has not found");
}

int32_t DescriptorOrder::field(StringRef name) {
  return indexOf(record.getBody().getOps<nn::FieldOp>(), name);
}
int32_t DescriptorOrder::symbol(StringRef name) const {
  return indexOf(symbols, name);
}
int32_t DescriptorOrder::clip(StringRef name) const {
  return indexOf(clips, name);
}
int32_t DescriptorOrder::metric(StringRef name) const {
  return indexOf(metrics, name);
}
