//===- Int8Kernels.h - Kernels of products with int8 weights ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The packed factor B: for each 16 columns, for each four terms, 16 columns of
// four numbers. Terms are padded with 0 to a multiple of 64, and columns to a
// multiple of 16. Then follow the scales of all columns, and 128 times the sums
// of all columns, for instructions whose left factor has no sign.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_INT8KERNELS_H
#define LIB_RUNTIME_GEMM_INT8KERNELS_H

#include "StrictKernels.h"

namespace pdlrt {

/// Maximum number of terms. The sum of so many products of int8 with any 8-bit
/// number is below 2^31.
inline constexpr int64_t maxInt8Depth = 16384;

/// An implementation of products with int8 weights. All give bitwise equal
/// results.
struct Int8Kernels {
  /// Bytes of 64-byte aligned scratch memory of a product.
  int64_t scratchBytes;
  /// Computes a product. `packed` must be set. `transposeA`, `biasStride` and
  /// `skipsZeros` are ignored.
  void (*multiply)(const StrictArguments<float> &arguments, void *scratch);
};

/// Kernels for CPUs with AVX2.
extern const Int8Kernels int8KernelsV3;
/// Kernels for CPUs with AVX512-VNNI.
extern const Int8Kernels int8KernelsVnni;
/// Kernels for CPUs with AMX-INT8, in threads that may use tiles
/// (AmxPermission.h).
extern const Int8Kernels int8KernelsAmx;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_INT8KERNELS_H
