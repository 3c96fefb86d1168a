//===- LibraryLaunches.h - Launches of the device library -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_RT_LIBRARYLAUNCHES_H
#define LIB_TRANSFORMS_RT_LIBRARYLAUNCHES_H

#include "mlir/IR/Builders.h"
#include "pdlc/Dialect/RT/IR/RT.h"

namespace pdlc {

/// An argument of a kernel of the device library. `kind` tells whether it is a
/// number, or memory that the kernel reads or writes.
struct LibraryArgument {
  mlir::Value value;
  rt::DeviceArgument kind;
};

/// A matrix product.
struct LibraryProduct {
  rt::Product kind;
  bool transposeLhs, transposeRhs;
  mlir::Value m, n, k;
  /// Addresses. The bias may be null.
  mlir::Value lhs, rhs, bias, out;
  /// Distance between rows of `out`.
  mlir::Value stride;
};

/// Context in which launches are created.
struct LibraryBuilder {
  mlir::OpBuilder &builder;
  /// Returns the address of a memref of a runtime call.
  llvm::function_ref<mlir::Value(mlir::Value)> address;
  /// Return the contents of the step context.
  llvm::function_ref<mlir::Value(rt::Place, int64_t)> pointer;
  llvm::function_ref<mlir::Value(rt::Quantity, int64_t)> count;
  /// Computes an f32 product with a vendor library of the device, or with a
  /// kernel if the library does not support the product. There may be one
  /// post-op, a bias. Null if vendor libraries must not be used.
  llvm::function_ref<void(const LibraryProduct &product)> multiply;
  /// Launches the kernel `pdldevice_NAME`. `arguments` are those of
  /// pdlabi/device.h without the last two, which are thread numbers. `element`
  /// is the element type of the kernel; null if it has none.
  llvm::function_ref<void(llvm::StringRef name, mlir::Type element,
                          llvm::ArrayRef<LibraryArgument> arguments)>
      launch;
};

/// Creates launches that have the effect of the runtime call `op`. Returns
/// false, and creates nothing, if the device library has no kernel for it.
bool launchFromLibrary(mlir::Operation *op, const LibraryBuilder &library);

/// Returns the symbol of function `name` of the device library. Declares the
/// function in `module` if it is not declared yet.
mlir::FlatSymbolRefAttr declareInLibrary(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<mlir::Type> arguments,
                                         mlir::TypeRange results);

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_LIBRARYLAUNCHES_H
