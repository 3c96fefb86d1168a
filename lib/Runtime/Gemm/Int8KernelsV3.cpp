//===- Int8KernelsV3.cpp - int8 weights with AVX2 -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Int8KernelsImpl.h"

#include <immintrin.h>

namespace pdlrt {
namespace {

/// Widens to 16 bits, because products of 8 bits with signs have no
/// instruction that cannot saturate.
struct Int8KernelV3 {
  void multiply(const int8_t *a, int64_t rows, int64_t depth, const int8_t *b,
                int64_t tiles, const int32_t *, int32_t *sums) const {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t tile = 0; tile < tiles; ++tile)
        addRow(a + i * depth, depth, b + tile * int8TileSize * depth,
               sums + i * int8BlockSize + tile * int8TileSize);
  }

  static void addRow(const int8_t *a, int64_t depth, const int8_t *b,
                     int32_t *sums) {
    // Each has four columns, with two sums each.
    __m256i all[4] = {};
    for (int64_t p = 0; p < depth; p += 4, b += 64) {
      const __m256i left =
          _mm256_broadcastq_epi64(_mm_cvtepi8_epi16(_mm_loadu_si32(a + p)));
      for (int part = 0; part < 4; ++part) {
        const __m256i right = _mm256_cvtepi8_epi16(
            _mm_loadu_si128(reinterpret_cast<const __m128i *>(b + 16 * part)));
        all[part] = _mm256_add_epi32(all[part], _mm256_madd_epi16(left, right));
      }
    }
    for (int part = 0; part < 4; ++part) {
      alignas(32) int32_t halves[8];
      _mm256_store_si256(reinterpret_cast<__m256i *>(halves), all[part]);
      for (int column = 0; column < 4; ++column)
        sums[4 * part + column] = halves[2 * column] + halves[2 * column + 1];
    }
  }
};

} // namespace

const Int8Kernels int8KernelsV3 = {sizeof(Int8Scratch),
                                   multiplyInInt8<Int8KernelV3>};

} // namespace pdlrt
