//===- ExtractKernels.cpp - The kernels that a device launches ------------===//
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

/// The functions that `function` calls.
static void appendCallees(func::FuncOp function, const SymbolTable &symbols,
                          llvm::SetVector<func::FuncOp> &callees) {
  function.walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      callees.insert(callee);
  });
}

/// Whether a device can do all that a function does; says what it cannot.
static LogicalResult checkBody(func::FuncOp function,
                               const SymbolTable &symbols) {
  WalkResult result = function.walk([&](Operation *op) {
    if (op->hasTrait<rt::CallsRuntime>()) {
      op->emitError() << "there is no " << op->getName().stripDialect()
                      << " for a device in a loop whose turns follow each "
                         "other; compile this model for CPUs";
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<func::CallOp>(op);
    auto callee =
        call ? symbols.lookup<func::FuncOp>(call.getCallee()) : func::FuncOp();
    if (callee && callee.isExternal() &&
        !callee.getSymName().starts_with("pdlabi_")) {
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
  llvm::SetVector<func::FuncOp> kernels;
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    if (auto stage = symbols.lookup<func::FuncOp>(program.getCompute()))
      appendCallees(stage, symbols, kernels);
  kernels.remove_if(
      [](func::FuncOp function) { return function.isExternal(); });
  for (func::FuncOp kernel : kernels)
    if (kernel.getNumResults() > 0) {
      kernel.emitError() << "kernel " << kernel.getSymName()
                         << " gives numbers to its caller, which a device does "
                            "not; this is a fault of PDL, please report it";
      return signalPassFailure();
    }
  // Formulas call functions of their own.
  llvm::SetVector<func::FuncOp> kept(kernels.begin(), kernels.end());
  for (size_t next = 0; next < kept.size(); ++next)
    appendCallees(kept[next], symbols, kept);
  for (func::FuncOp function : kept)
    if (failed(checkBody(function, symbols)))
      return signalPassFailure();
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto function = dyn_cast<func::FuncOp>(op);
        !function || !kept.contains(function))
      op.erase();
  for (func::FuncOp kernel : kernels)
    kernel->removeAttr("passthrough");
  reportStatistic(*this, module, numKernels, "device-kernels", kernels.size());
}
