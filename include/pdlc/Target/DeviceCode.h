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

/// Checks the name of an NVIDIA GPU architecture, such as `sm_80`. The code
/// runs on this architecture and on newer ones. The error message lists the
/// names that LLVM knows.
llvm::Error checkGpuArchitecture(llvm::StringRef architecture);

/// Returns the name of a kernel's entry in device code. There, names may only
/// contain letters, digits, _ and $. A point becomes $_, and any other byte
/// becomes $ and its two hexadecimal digits. Different kernels therefore get
/// different names; with equal names, a driver would return the first kernel
/// for both.
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

/// Compiles the kernels made by `buildDevicePipeline` to PTX. Each kernel
/// becomes one entry with the kernel's own arguments, named by `entryNameOf`. A
/// kernel can be launched on a one-dimensional grid of any size, with blocks of
/// at most 256 threads; each thread does its share of the iterations.
///
/// Rounding follows strict numerics: no contraction, correctly rounded
/// quotients and roots, and denormals are kept. Needs no CUDA installation.
/// Fails with an error message if a kernel calls a function that a GPU does not
/// have. With a cache, kernels are compiled only once.
llvm::Expected<std::string> compileToPtx(mlir::ModuleOp kernels,
                                         llvm::StringRef architecture,
                                         ObjectCache *cache = nullptr);

} // namespace pdlc

#endif // PDLC_TARGET_DEVICECODE_H
