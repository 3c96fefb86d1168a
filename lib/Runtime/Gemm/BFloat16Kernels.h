//===- BFloat16Kernels.h - What the dispatcher calls ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_BFLOAT16KERNELS_H
#define LIB_RUNTIME_GEMM_BFLOAT16KERNELS_H

#include "StrictKernels.h"

namespace pdlrt {

/// One way to compute products of bf16 factors; all give the same bits. An
/// instruction set with another order of sums may not stand here.
struct BFloat16Kernels {
  /// Bytes of 64-byte aligned scratch that a product needs.
  int64_t scratchBytes;
  void (*multiply)(const StrictArguments<float> &arguments, void *scratch);
};

/// For CPUs with AVX512-BF16.
extern const BFloat16Kernels bfloat16KernelsNative;
/// For CPUs with AVX2 and FMA: tests only, at about a third of the speed of
/// f32.
extern const BFloat16Kernels bfloat16KernelsEmulated;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_BFLOAT16KERNELS_H
