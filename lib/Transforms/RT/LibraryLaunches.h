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

/// An argument of a kernel of the device library, and how the kernel accesses
/// it.
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
  /// Computes an f32 product with a vendor library of the device. If that
  /// declines, a kernel is launched. The post-ops may be empty or a bias. Null
  /// if there is no vendor library.
  llvm::function_ref<void(const LibraryProduct &product)> multiply;
  /// Launches the kernel `pdldevice_NAME` with the arguments of
  /// pdlabi/device.h, except for the two thread numbers. `element` is the
  /// kernel's element type; null if it has none.
  llvm::function_ref<void(llvm::StringRef name, mlir::Type element,
                          llvm::ArrayRef<LibraryArgument> arguments)>
      launch;
};

/// Creates the launches that replace a runtime call. Returns false if the
/// device library has no kernel for it.
bool launchFromLibrary(mlir::Operation *op, const LibraryBuilder &library);

/// Returns the symbol of a function of the device library. Declares the
/// function in `module` if necessary.
mlir::FlatSymbolRefAttr declareInLibrary(mlir::ModuleOp module,
                                         llvm::StringRef name,
                                         llvm::ArrayRef<mlir::Type> arguments,
                                         mlir::TypeRange results);

} // namespace pdlc

#endif // LIB_TRANSFORMS_RT_LIBRARYLAUNCHES_H
