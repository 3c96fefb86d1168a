//===- LibraryLaunches.h - Kernels of the device library --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_LIBRARYLAUNCHES_H
#define LIB_TRANSFORMS_LIBRARYLAUNCHES_H

#include "mlir/IR/Builders.h"
#include "pdlc/Dialect/RT/IR/RT.h"

namespace pdlc {

/// An argument of a kernel of the device library, and what that does with it.
struct LibraryArgument {
  mlir::Value value;
  rt::DeviceArgument kind;
};

/// A matrix product.
struct LibraryProduct {
  rt::Product kind;
  bool transposeLhs, transposeRhs;
  mlir::Value m, n, k;
  /// Addresses; the bias may be null.
  mlir::Value lhs, rhs, bias, out;
  /// From row to row of `out`.
  mlir::Value stride;
};

/// Where launches are built, and how what they are given is had there.
struct LibraryBuilder {
  mlir::OpBuilder &builder;
  /// The address of a memref of a call of the runtime.
  llvm::function_ref<mlir::Value(mlir::Value)> address;
  /// What a step context holds.
  llvm::function_ref<mlir::Value(rt::Place, int64_t)> pointer;
  llvm::function_ref<mlir::Value(rt::Quantity, int64_t)> count;
  /// Leaves a product of f32 to a library of the device; what that does not
  /// take is a launch. The posts are none or a bias. Null where there is no
  /// library.
  llvm::function_ref<void(const LibraryProduct &product)> multiply;
  /// Launches the kernel `pdldevice_NAME`, of the arguments of
  /// pdlabi/device.h but for the two of a thread. `element`: of which it
  /// is, null for one that has no elements.
  llvm::function_ref<void(llvm::StringRef name, mlir::Type element,
                          llvm::ArrayRef<LibraryArgument> arguments)>
      launch;
};

/// Launches what does what a call of the runtime does; false where the library
/// has nothing for it.
bool launchFromLibrary(mlir::Operation *op, const LibraryBuilder &library);

/// The name and type of a function of the device library, which is declared in
/// `module` where it is not.
mlir::FlatSymbolRefAttr declareInLibrary(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<mlir::Type> arguments,
                                         mlir::TypeRange results);

} // namespace pdlc

#endif // LIB_TRANSFORMS_LIBRARYLAUNCHES_H
