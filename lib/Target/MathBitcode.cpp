//===- MathBitcode.cpp - pdlabi/math.h as bitcode -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MathBitcode.h"

// Words of bitcode are four bytes.
alignas(4) static const unsigned char bitcode[] = {
#include "MathShim.inc"
};

llvm::MemoryBufferRef pdlc::getMathBitcode() {
  return {{reinterpret_cast<const char *>(bitcode), sizeof(bitcode)},
          "pdlabi/math.h"};
}
