//===- Bitcode.h - What was compiled with the compiler ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_BITCODE_H
#define LIB_TARGET_BITCODE_H

#include "llvm/Support/MemoryBufferRef.h"

namespace pdlc {

/// lib/ABI/MathShim.cpp, compiled when the compiler was built.
llvm::MemoryBufferRef getMathBitcode();

/// lib/DeviceLibrary, likewise.
llvm::MemoryBufferRef getDeviceLibraryBitcode();

} // namespace pdlc

#endif // LIB_TARGET_BITCODE_H
