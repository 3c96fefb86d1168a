//===- DeviceCode.h - Kernels for a GPU -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TARGET_DEVICECODE_H
#define PDLC_TARGET_DEVICECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace pdlc {
class ObjectCache;

/// A GPU architecture of NVIDIA's, such as `sm_80`, the oldest that code is
/// written for. An error names those that LLVM knows.
llvm::Error checkGpuArchitecture(llvm::StringRef architecture);

/// The name of a kernel's entry in the code of a device, whose names have
/// letters, digits, _ and $ alone: a point is $_, and any other byte $ and its
/// two digits. Kernels of different names have different ones: a driver would
/// give the first for both.
inline std::string entryNameOf(llvm::StringRef kernel) {
  std::string name;
  for (const char byte : kernel)
    if (llvm::isAlnum(byte) || byte == '_')
      name += byte;
    else if (byte == '.')
      name += "$_";
    else
      name += "$" + llvm::utohexstr(uint8_t(byte), /*LowerCase=*/false, 2);
  return name;
}

/// Compiles the kernels that `buildDevicePipeline` has made to PTX: one entry
/// for each, of the kernel's own arguments (`entryNameOf`). Each thread
/// of a grid of any size in one dimension, of blocks of at most 256, does its
/// share of the turns. Rounding is that of strict numerics: nothing is
/// contracted, quotients and roots are rounded, denormals are kept. Needs no
/// CUDA installation. Fails with a sentence where a kernel calls what a GPU has
/// no function for. With a cache they are compiled once.
llvm::Expected<std::string> compileToPtx(mlir::ModuleOp kernels,
                                         llvm::StringRef architecture,
                                         ObjectCache *cache = nullptr);

} // namespace pdlc

#endif // PDLC_TARGET_DEVICECODE_H
