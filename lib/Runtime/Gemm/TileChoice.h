//===- TileChoice.h - Choice of the kernels of bf16 products ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_TILECHOICE_H
#define LIB_RUNTIME_GEMM_TILECHOICE_H

#include "pdlrt/Gemm/Gemm.h"

#include <cstdint>

namespace pdlrt {

/// Kernels of products whose factors are rounded or split.
enum class PartKernels {
  f32,   ///< numerics fast in f32, without rounding
  pairs, ///< `vdpbf16ps`
  tiles  ///< AMX
};

/// Types of CPUs that the table distinguishes.
enum class PartCpu {
  amx,   ///< the process can use AMX
  pairs, ///< `vdpbf16ps` has twice the throughput of FMAs
  plain  ///< `vdpbf16ps` is missing, or has half the throughput of FMAs
};

/// Returns the type of this CPU.
PartCpu nativePartCpu();

/// Returns the kernels for a product of numerics fast with factors of `parts`
/// bf16 parts (1 to 3) on a CPU. Depends only on the sizes of the product.
PartKernels choosePartKernels(PartCpu cpu, int parts, const GemmCall &call);

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_TILECHOICE_H
