//===- TileKernels.h - Products of bf16 parts in tiles ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of a product in tiles (docs/Numerics.md). Each factor x is a sum of
// bf16 parts: part 0 is x rounded to bf16, and part p is the rest after the
// parts before it, rounded. k is padded with +0 to blocks of 32. For each block
// in ascending order, and for each term (tileTerms), two f32 chains of fused
// multiply-adds start at +0, one over even and one over odd k. Their sum is
// added to the element. This is the order of the instruction TDPBF16PS.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_TILEKERNELS_H
#define LIB_RUNTIME_GEMM_TILEKERNELS_H

#include "StrictKernels.h"

namespace pdlrt {

/// Maximum number of parts of a factor.
inline constexpr int maxTileParts = 3;

/// A term of a product: the numbers of the parts that are multiplied.
struct TileTerm {
  int8_t a, b;
};

/// The terms for one, two and three parts, in the order of their addition,
/// smallest first. There are 1, 3 and 6.
inline constexpr TileTerm tileTerms[maxTileParts][6] = {
    {{0, 0}},
    {{1, 0}, {0, 1}, {0, 0}},
    {{2, 0}, {1, 1}, {0, 2}, {0, 1}, {1, 0}, {0, 0}}};

constexpr int tileTermCount(int parts) { return parts * (parts + 1) / 2; }

/// An implementation of products in tiles. All give bitwise equal results.
struct TileKernels {
  /// Bytes of 64-byte aligned scratch memory of a product.
  int64_t scratchBytes;
  /// Computes a product of factors of `parts` parts (1 to 3). Posts follow in
  /// f32. `biasStride` and `skipsZeros` are ignored. With two or three parts,
  /// an element whose sum is not finite is replaced by the strict one.
  void (*multiply)(const StrictArguments<float> &arguments, int parts,
                   void *scratch);
  /// Packs b as `StrictArguments::packed` for products with any m, a, c and
  /// posts. Returns the number of bytes. If `out` is null, only counts them.
  int64_t (*pack)(const StrictArguments<float> &arguments, int parts,
                  void *out);
};

/// Kernels for CPUs with AMX-BF16, in threads that may use tiles
/// (AmxPermission.h).
extern const TileKernels tileKernelsNative;
/// Kernels for CPUs with AVX2 and FMA.
extern const TileKernels tileKernelsEmulated;

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_TILEKERNELS_H
