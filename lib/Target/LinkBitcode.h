//===- LinkBitcode.h - Link PDL's functions into generated code -*- C++ -*-===//
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

/// Links the scalar functions of pdlabi/math.h that `module` calls. They become
/// internal, are compiled for the target of the module, which must be set, and
/// are always inlined.
llvm::Error linkMath(llvm::Module &module);

/// Links the bodies of kernels (pdlabi/device.h) in the same way.
llvm::Error linkDeviceLibrary(llvm::Module &module);

} // namespace pdlc

#endif // LIB_TARGET_LINKBITCODE_H
