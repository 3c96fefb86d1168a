//===- StrictKernels.h - What the dispatcher calls --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_STRICTKERNELS_H
#define LIB_RUNTIME_GEMM_STRICTKERNELS_H

#include "pdlabi/abi.h"

namespace pdlrt {

/// One strict product in elements of T. Plain data: this header is read by
/// sources of different instruction sets, which must share no inline function.
template <typename T> struct StrictArguments {
  bool transposeA, transposeB;
  int64_t m, n, k;
  const T *a;
  const T *b;
  T *c;
  /// From row to row of a, of b (as they lie in memory) and of c.
  int64_t aStride, bStride, cStride;
  int64_t postCount;
  const pdl_post *posts;
  /// 1: bias[column]; 0: the one element bias[0] for every column.
  int64_t biasStride;
  /// What `packF32` or `packF64` of the same kernels made of b, which then is
  /// not read; null: nothing.
  const T *packed;
  /// With `packed`: all of b is finite, so that zeros of a may be left out.
  bool skipsZeros;
};

/// `count` products of one shape whose factors and results stand one behind the
/// other.
template <typename T> struct StrictBatch {
  StrictArguments<T> first;
  int64_t count;
};

/// The kernels of one instruction set.
struct StrictKernels {
  /// Bytes of 64-byte aligned scratch that a product needs.
  int64_t scratchBytes;
  void (*f32)(const StrictArguments<float> &arguments, void *scratch);
  void (*f64)(const StrictArguments<double> &arguments, void *scratch);
  void (*batchF32)(const StrictBatch<float> &batch, void *scratch);
  void (*batchF64)(const StrictBatch<double> &batch, void *scratch);
  /// Lays b out as products read it, whatever their m, a, c and posts are; how
  /// many elements that takes. Null `out`: counts only.
  int64_t (*packF32)(const StrictArguments<float> &arguments, float *out);
  int64_t (*packF64)(const StrictArguments<double> &arguments, double *out);
};

extern const StrictKernels strictKernelsV3;
extern const StrictKernels strictKernelsV4;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_STRICTKERNELS_H
