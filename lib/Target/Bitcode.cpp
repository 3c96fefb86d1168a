//===- Bitcode.cpp - Embedded bitcode -------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bitcode.h"

using namespace llvm;

// Bitcode consists of 4-byte words.
alignas(4) static const unsigned char math[] = {
#include "MathShim.inc"
};
alignas(4) static const unsigned char deviceLibrary[] = {
#include "DeviceLibrary.inc"
};

template <size_t size>
static MemoryBufferRef view(const unsigned char (&bytes)[size],
                            StringRef name) {
  return {{reinterpret_cast<const char *>(bytes), size}, name};
}

MemoryBufferRef pdlc::getMathBitcode() { return view(math, "pdlabi/math.h"); }

MemoryBufferRef pdlc::getDeviceLibraryBitcode() {
  return view(deviceLibrary, "pdlabi/device.h");
}
