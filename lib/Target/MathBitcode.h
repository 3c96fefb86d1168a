//===- MathBitcode.h - pdlabi/math.h as bitcode -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_MATHBITCODE_H
#define LIB_TARGET_MATHBITCODE_H

#include "llvm/Support/MemoryBufferRef.h"

namespace pdlc {

/// lib/ABI/MathShim.cpp, compiled when the compiler was built.
llvm::MemoryBufferRef getMathBitcode();

} // namespace pdlc

#endif // LIB_TARGET_MATHBITCODE_H
