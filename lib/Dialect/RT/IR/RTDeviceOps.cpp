//===- RTDeviceOps.cpp - Verifiers of device ops --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc::rt;

LogicalResult DeviceKernelOp::verifySymbolUses(SymbolTableCollection &tables) {
  for (FlatSymbolRefAttr name : {getKernelAttr(), getRunsAttr()}) {
    if (!name)
      continue;
    auto function =
        tables.lookupNearestSymbolFrom<FunctionOpInterface>(*this, name);
    if (!function)
      return emitOpError() << name << " is not a function of the module (C1)";
    if (function.getNumResults() > 0 &&
        !isa<LLVM::LLVMVoidType>(function.getResultTypes().front()))
      return emitOpError() << name
                           << " gives numbers to its caller, which a device "
                              "does not (C1)";
  }
  auto kernel = tables.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getKernelAttr());
  const bool isShared = getRuns() || kernel.isExternal();
  const size_t words = getArgumentKinds().size() + (isShared ? 2 : 0);
  if (kernel.getNumArguments() != words)
    return emitOpError() << "says what the kernel does with "
                         << getArgumentKinds().size() << " arguments, but "
                         << getKernelAttr() << " takes "
                         << kernel.getNumArguments()
                         << (isShared ? ", two of which are threads' (C2)"
                                      : " (C2)");
  return success();
}

int32_t DeviceKernelOp::numberOf(ModuleOp module, FlatSymbolRefAttr kernel) {
  int32_t number = 0;
  for (auto op : module.getOps<DeviceKernelOp>()) {
    if (op.getKernelAttr() == kernel)
      return number;
    ++number;
  }
  llvm_unreachable("the module has the kernel");
}

/// Verifies that an op may launch a kernel with this number of arguments.
static LogicalResult verifyLaunch(Operation *op, FlatSymbolRefAttr name,
                                  size_t arguments, StringRef constraint) {
  auto module = op->getParentOfType<ModuleOp>();
  for (auto kernel : module.getOps<DeviceKernelOp>()) {
    if (kernel.getKernelAttr() != name)
      continue;
    if (kernel.getArgumentKinds().size() == arguments)
      return success();
    return op->emitOpError()
           << "gives " << name << " " << arguments << " arguments of "
           << kernel.getArgumentKinds().size() << " " << constraint;
  }
  return op->emitOpError()
         << name
         << " is not a kernel of the module: no rt.device_kernel names it "
         << constraint;
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) {
  return verifyLaunch(*this, getKernelAttr(), getGiven().size(), "(C1)");
}

LogicalResult DeviceProductOp::verify() {
  if (getProduct() == Product::strict)
    return emitOpError()
           << "is strict: no library of a device settles orders (C1)";
  return success();
}

LogicalResult DeviceProductOp::verifySymbolUses(SymbolTableCollection &) {
  constexpr size_t argumentsOfProducts = 12;
  return verifyLaunch(*this, getOtherwiseAttr(), argumentsOfProducts, "(C2)");
}
