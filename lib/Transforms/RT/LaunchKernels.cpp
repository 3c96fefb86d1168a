//===- LaunchKernels.cpp - Offload stage compute to a device --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts each stage (DeviceStage.h). Then adds kernels that stages do not
// launch, but the runtime does.
//
//===----------------------------------------------------------------------===//

#include "DeviceKernels.h"
#include "DeviceStage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pdlabi/kernels.h"
#include "pdlabi/table.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Dialect/RT/IR/DescriptorOrder.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_RTLAUNCHKERNELS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct LaunchKernels : pdlc::impl::RTLaunchKernelsBase<LaunchKernels> {
  using RTLaunchKernelsBase::RTLaunchKernelsBase;

  void runOnOperation() override;
};
} // namespace

/// Adds a kernel of the device library that the runtime launches by itself.
static void addForRuntime(DeviceKernels &kernels,
                          const pdlabi::KernelSignature &signature,
                          Type element) {
  const auto kinds =
      llvm::map_to_vector(StringRef(signature.arguments), [](char kind) {
        return kind == 'n'   ? rt::DeviceArgument::number
               : kind == 'r' ? rt::DeviceArgument::read
                             : rt::DeviceArgument::written;
      });
  kernels.addForRuntime(pdlabi::kernelName(signature, element.isF64()), kinds);
}

/// Adds the kernels of the device library that check whether gradients are
/// finite, and that add the gradients of replicas. They are added for each
/// element type of the gradients.
static void addKernelsOfGradients(ModuleOp module, DeviceKernels &kernels) {
  SymbolTable symbols(module);
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    for (auto name : program.getUpdates().getAsRange<FlatSymbolRefAttr>())
      for (const pdlabi::KernelSignature &each : pdlabi::gradientKernels)
        addForRuntime(
            kernels, each,
            nn::heldTypeOf(symbols.lookup(name.getValue())).getElementType());
}

/// Adds the kernels of the device library that find, create and move rows of
/// tables in device memory, for each element type of a table. Does nothing for
/// a module of one role, whose programs do not hold the tables.
static void addKernelsOfTables(ModuleOp module, DeviceKernels &kernels) {
  if (module->hasAttr(ps::PSDialect::kRoleAttrName))
    return;
  for (auto table : module.getOps<nn::TableOp>())
    for (const pdlabi::KernelSignature &each : pdlabi::tableKernels)
      addForRuntime(kernels, each, table.getRowType().getElementType());
}

/// Returns true if the memory of a pointer is read or written.
static bool isUsed(Value memory) {
  return llvm::any_of(memory.getUsers(), [](Operation *user) {
    return !isa<rt::ViewOp, rt::AddressOp>(user) || isUsed(user->getResult(0));
  });
}

/// Keeps the rule of a parameter on the host if a stage reads the parameter on
/// the host, because its host copy must always be current. An example is the
/// step counter of alternating programs.
static void leaveRulesToHost(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseSet<int64_t> read;
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    if (auto stage = symbols.lookup<func::FuncOp>(program.getCompute()))
      stage.walk([&](rt::PointerOp pointer) {
        if (pointer.getPlace() == rt::Place::parameter && isUsed(pointer))
          read.insert(pointer.getIndex());
      });
  const rt::DescriptorOrder order(module);
  for (auto update : module.getOps<rt::UpdateKernelOp>()) {
    FlatSymbolRefAttr kernel = update.getOnDeviceAttr();
    if (!kernel || !read.contains(order.symbol(update.getSymbol())))
      continue;
    update.removeOnDeviceAttr();
    if (auto function = symbols.lookup<func::FuncOp>(kernel.getValue());
        SymbolTable::symbolKnownUseEmpty(function, module))
      function.erase();
  }
}

void LaunchKernels::runOnOperation() {
  ModuleOp module = getOperation();
  std::optional<rt::Numerics> known = rt::symbolizeNumerics(numerics);
  if (!known) {
    module.emitError() << "rt-launch-kernels knows no numerics '" << numerics
                       << "'; expected fast or strict";
    return signalPassFailure();
  }
  SymbolTable symbols(module);
  DeviceKernels kernels(module);
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>()) {
    auto stage = symbols.lookup<func::FuncOp>(program.getCompute());
    if (stage && llvm::failed(DeviceStage(stage, kernels, *known).convert()))
      return signalPassFailure();
    module->setAttr(rt::RTDialect::kTargetAttrName,
                    StringAttr::get(&getContext(), "cuda"));
  }
  leaveRulesToHost(module);
  addKernelsOfGradients(module, kernels);
  if (module->hasAttr(rt::RTDialect::kTargetAttrName))
    addKernelsOfTables(module, kernels);
  for (auto update : module.getOps<rt::UpdateKernelOp>())
    if (FlatSymbolRefAttr kernel = update.getOnDeviceAttr())
      kernels.add(symbols.lookup<func::FuncOp>(kernel.getValue()));
  kernels.separateFromHost();
  reportStatistic(*this, module, numKernels, "device-kernels", kernels.size());
}
