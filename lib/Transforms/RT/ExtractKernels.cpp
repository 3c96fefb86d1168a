//===- ExtractKernels.cpp - Extract the kernels of a device ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_RTEXTRACTKERNELS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct ExtractKernels : pdlc::impl::RTExtractKernelsBase<ExtractKernels> {
  void runOnOperation() override;
};
} // namespace

/// Adds the functions that `function` calls to `callees`.
static void appendCallees(func::FuncOp function, const SymbolTable &symbols,
                          llvm::SetVector<func::FuncOp> &callees) {
  function.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      callees.insert(callee);
  });
}

/// Reports an error at an op of the function that a device cannot run.
static LogicalResult checkBody(func::FuncOp function,
                               const SymbolTable &symbols) {
  WalkResult result = function.walk([&](Operation *op) {
    if (op->hasTrait<rt::CallsRuntime>()) {
      op->emitError() << "there is no " << op->getName().stripDialect()
                      << " for a device in a loop whose iterations run in "
                         "order; compile this model for CPUs";
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (callee && callee.isExternal() &&
        !callee.getSymName().starts_with("pdlabi_") &&
        !callee.getSymName().starts_with("pdldevice_")) {
      op->emitError() << "a device has no " << callee.getSymName() << " of "
                      << call.getOperandTypes().front()
                      << "; compile this model for CPUs";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void ExtractKernels::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  llvm::SetVector<func::FuncOp> kept;
  for (rt::DeviceKernelOp kernel : module.getOps<rt::DeviceKernelOp>())
    kept.insert(symbols.lookup<func::FuncOp>(kernel.getKernel()));
  const size_t kernels = kept.size();
  // Formulas may call other functions.
  for (size_t next = 0; next < kept.size(); ++next)
    appendCallees(kept[next], symbols, kept);
  for (func::FuncOp function : kept)
    if (failed(checkBody(function, symbols)))
      return signalPassFailure();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto function = dyn_cast<func::FuncOp>(op);
        !function || !kept.contains(function))
      op.erase();
  for (StringRef name :
       {rt::RTDialect::kTargetAttrName, rt::RTDialect::kDeviceCodeAttrName,
        rt::RTDialect::kDeviceProductsAttrName})
    module->removeAttr(name);
  reportStatistic(*this, module, numKernels, "extracted-kernels", kernels);
}
