//===- TileKernelsImpl.h - Parts of products in tiles -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the native and the emulated kernels share. Internal linkage, for the
// reason given in StrictKernelsImpl.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_TILEKERNELSIMPL_H
#define LIB_RUNTIME_GEMM_TILEKERNELSIMPL_H

#include "TileKernels.h"

#include <cstdint>

namespace pdlrt {
namespace {

/// Rows and columns of a tile of C, and depth of a tile of a factor.
constexpr int64_t tileSize = 16, tileDepth = 32;

constexpr int64_t tilesOf(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

constexpr int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/// Returns the number of tiles along k. Without terms, there is a tile of +0.
constexpr int64_t depthTilesOf(int64_t k) {
  return k > 0 ? tilesOf(k, tileDepth) : 1;
}

/// The posts of a product, if they are a subsequence of bias, relu, relu
/// gradient. Other lists are applied one post at a time.
struct TilePosts {
  const float *bias = nullptr;
  bool relu = false;
  const float *mask = nullptr;

  /// Takes posts from number `first` on as long as they are in order. Returns
  /// the number of the first one that was not taken.
  int64_t take(const StrictArguments<float> &g, int64_t first) {
    for (int32_t last = 0; first < g.postCount; ++first) {
      const pdl_post &post = g.posts[first];
      if (post.kind <= last)
        break;
      last = post.kind;
      if (post.kind == PDL_POST_BIAS)
        bias = static_cast<const float *>(post.operand);
      else if (post.kind == PDL_POST_RELU)
        relu = true;
      else
        mask = static_cast<const float *>(post.operand);
    }
    return first;
  }
};

/// Returns the strict sum of one element, for elements that parts cannot
/// represent.
[[maybe_unused]] float exactElement(const StrictArguments<float> &g,
                                    int64_t row, int64_t column) {
  const float *a = g.a + (g.transposeA ? row : row * g.aStride);
  const float *b = g.b + (g.transposeB ? column * g.bStride : column);
  const int64_t aStep = g.transposeA ? g.aStride : 1;
  const int64_t bStep = g.transposeB ? 1 : g.bStride;
  float sum = 0;
  for (int64_t p = 0; p < g.k; ++p)
    sum = __builtin_fmaf(a[p * aStep], b[p * bStep], sum);
  return sum;
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_TILEKERNELSIMPL_H
