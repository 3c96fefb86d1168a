//===- Bitcode.h - Embedded bitcode -----------------------------*- C++ -*-===//
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

/// Returns lib/ABI/MathShim.cpp as bitcode, compiled together with the
/// compiler.
llvm::MemoryBufferRef getMathBitcode();

/// Returns lib/DeviceLibrary as bitcode, compiled together with the compiler.
llvm::MemoryBufferRef getDeviceLibraryBitcode();

} // namespace pdlc

#endif // LIB_TARGET_BITCODE_H
