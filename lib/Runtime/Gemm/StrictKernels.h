//===- StrictKernels.h - Kernels of strict products -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_STRICTKERNELS_H
#define LIB_RUNTIME_GEMM_STRICTKERNELS_H

#include "pdlabi/abi/calls.h"

namespace pdlrt {

/// One strict product with elements of T. A plain struct: sources for different
/// instruction sets include this header and must not share inline functions.
template <typename T> struct StrictArguments {
  bool transposeA, transposeB;
  int64_t m, n, k;
  const T *a;
  const T *b;
  T *c;
  /// Distances between rows of a, of b (as stored in memory) and of c.
  int64_t aStride, bStride, cStride;
  int64_t postCount;
  const pdl_post *posts;
  /// 1: bias[column]; 0: the single element bias[0] for every column.
  int64_t biasStride;
  /// b, packed by `packF32` or `packF64` of the same kernels; b itself is then
  /// not read. Null: not packed.
  const T *packed;
  /// True if all of `packed` is finite, so that zeros of a may be skipped.
  bool skipsZeros;
};

/// `count` products of one shape with consecutive factors and results.
template <typename T> struct StrictBatch {
  StrictArguments<T> first;
  int64_t count;
};

/// The kernels of one instruction set.
struct StrictKernels {
  /// Bytes of 64-byte aligned scratch memory of a product.
  int64_t scratchBytes;
  void (*f32)(const StrictArguments<float> &arguments, void *scratch);
  void (*f64)(const StrictArguments<double> &arguments, void *scratch);
  void (*batchF32)(const StrictBatch<float> &batch, void *scratch);
  void (*batchF64)(const StrictBatch<double> &batch, void *scratch);
  /// Packs b for products with any m, a, c and posts. Returns the number of
  /// elements. If `out` is null, only counts them.
  int64_t (*packF32)(const StrictArguments<float> &arguments, float *out);
  int64_t (*packF64)(const StrictArguments<double> &arguments, double *out);
};

extern const StrictKernels strictKernelsV3;
extern const StrictKernels strictKernelsV4;
/// Packs factors like `strictKernelsV4`.
extern const StrictKernels strictKernelsV4Prefetching;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_STRICTKERNELS_H
