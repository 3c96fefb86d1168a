//===- BFloat16Kernels.h - Kernels of bf16 products -------------*- C++ -*-===//
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

/// An implementation of products of bf16 factors. All give bitwise equal
/// results, so an instruction set with another order of sums cannot be used.
struct BFloat16Kernels {
  /// Bytes of 64-byte aligned scratch memory of a product.
  int64_t scratchBytes;
  void (*multiply)(const StrictArguments<float> &arguments, void *scratch);
};

/// Kernels for CPUs with AVX512-BF16.
extern const BFloat16Kernels bfloat16KernelsNative;
/// Kernels for CPUs with AVX2 and FMA: only for tests, at about a third of the
/// speed of f32.
extern const BFloat16Kernels bfloat16KernelsEmulated;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_BFLOAT16KERNELS_H
