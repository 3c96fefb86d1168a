//===- LinkBitcode.h - Functions of PDL in generated code -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_LINKBITCODE_H
#define LIB_TARGET_LINKBITCODE_H

#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace pdlc {

/// Links the settled scalar functions (pdlabi/math.h) that `module` calls and
/// makes them its own: compiled for its target, which it must have, inlined
/// everywhere.
llvm::Error linkMath(llvm::Module &module);

/// The same with the bodies of kernels (pdlabi/device.h).
llvm::Error linkDeviceLibrary(llvm::Module &module);

} // namespace pdlc

#endif // LIB_TARGET_LINKBITCODE_H
