//===- DeviceKernels.h - Kernels that a device launches ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RT_DEVICEKERNELS_H
#define LIB_TRANSFORMS_RT_DEVICEKERNELS_H

#include "KernelLoop.h"
#include "LibraryLaunches.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace pdlc {

/// Returns the memory operands that a runtime call writes.
llvm::SmallVector<mlir::Value> writtenBy(mlir::Operation *op);

/// Returns the full name of a function of the device library. `element` is null
/// if the function has no element type.
std::string libraryName(llvm::StringRef name, mlir::Type element);

/// Kernels of a module that a device launches, and their descriptions.
class DeviceKernels {
public:
  explicit DeviceKernels(mlir::ModuleOp module)
      : module(module), symbols(module) {}

  /// Returns the kernel that `call` calls. Returns null if the called function
  /// is not defined in the module.
  mlir::func::FuncOp kernelOf(mlir::func::CallOp call) {
    auto kernel = symbols.lookup<mlir::func::FuncOp>(call.getCallee());
    return kernel && !kernel.isExternal() ? kernel : mlir::func::FuncOp();
  }
  /// Marks a kernel as launched by a device.
  void add(mlir::func::FuncOp kernel);
  /// Launches a kernel of the device library and marks it as launched.
  void launchFromLibrary(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef name, mlir::Type element,
                         llvm::ArrayRef<LibraryArgument> arguments,
                         mlir::Value worker);
  /// Adds a kernel of the device library that the runtime launches by itself.
  mlir::FlatSymbolRefAttr
  addForRuntime(llvm::StringRef name, llvm::ArrayRef<rt::DeviceArgument> kinds);
  /// Emits, before `call`, the computation of the number of iterations that the
  /// kernel has for this call. Returns the number.
  mlir::Value turnsOf(mlir::func::FuncOp kernel, mlir::func::CallOp call);
  /// Creates separate copies of kernels for callers that run on the host.
  void separateFromHost();

  size_t size() const { return kernels.size() + library.size(); }

private:
  void describe(mlir::FlatSymbolRefAttr kernel,
                llvm::ArrayRef<rt::DeviceArgument> kinds);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  llvm::MapVector<mlir::func::FuncOp, SharedLoops> kernels;
  llvm::DenseSet<mlir::StringAttr> library;
};

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_DEVICEKERNELS_H
