//===- DeviceKernels.h - What a device launches -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_DEVICEKERNELS_H
#define LIB_TRANSFORMS_DEVICEKERNELS_H

#include "KernelLoop.h"
#include "LibraryLaunches.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include <string>

namespace pdlc {

/// What a call of the runtime writes of the memory that it is given.
llvm::SmallVector<mlir::Value> writtenBy(mlir::Operation *op);

/// The name of a function of the device library; `element` null for one that
/// has no elements.
std::string libraryName(llvm::StringRef name, mlir::Type element);

/// The kernels of a module, and what the device must know of them.
class DeviceKernels {
public:
  explicit DeviceKernels(mlir::ModuleOp module)
      : module(module), symbols(module) {}

  /// The function that a call names, null where it is no function of the model.
  mlir::func::FuncOp kernelOf(mlir::func::CallOp call) {
    auto kernel = symbols.lookup<mlir::func::FuncOp>(call.getCallee());
    return kernel && !kernel.isExternal() ? kernel : mlir::func::FuncOp();
  }
  /// Says that a device launches it.
  void add(mlir::func::FuncOp kernel);
  /// The same of one of the device library, which is launched.
  void launchFromLibrary(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef name, mlir::Type element,
                         llvm::ArrayRef<LibraryArgument> arguments,
                         mlir::Value worker);
  /// Has one of the library for the runtime, which launches it by itself.
  mlir::FlatSymbolRefAttr
  addForRuntime(llvm::StringRef name, llvm::ArrayRef<rt::DeviceArgument> kinds);
  /// How many turns `call` has of it: the number is computed before the call.
  mlir::Value turnsOf(mlir::func::FuncOp kernel, mlir::func::CallOp call);
  /// Gives those who call it on the host, too, a function of their own.
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

#endif // LIB_TRANSFORMS_DEVICEKERNELS_H
