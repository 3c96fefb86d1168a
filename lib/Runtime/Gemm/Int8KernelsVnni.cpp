//===- Int8KernelsVnni.cpp - int8 weights with AVX512-VNNI ----------------===//
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

/// The instruction multiplies numbers without sign by numbers with sign. 128 is
/// added to the rows of A, and 128 times the sum of a column subtracted.
struct Int8KernelVnni {
  void multiply(const int8_t *a, int64_t rows, int64_t depth, const int8_t *b,
                int64_t tiles, const int32_t *shifts, int32_t *sums) const {
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4)
      tiles == 2 ? addRows<4, 2>(a + i * depth, depth, b, shifts,
                                 sums + i * int8BlockSize)
                 : addRows<4, 1>(a + i * depth, depth, b, shifts,
                                 sums + i * int8BlockSize);
    for (; i < rows; ++i)
      tiles == 2 ? addRows<1, 2>(a + i * depth, depth, b, shifts,
                                 sums + i * int8BlockSize)
                 : addRows<1, 1>(a + i * depth, depth, b, shifts,
                                 sums + i * int8BlockSize);
  }

  template <int rows, int tiles>
  static void addRows(const int8_t *a, int64_t depth, const int8_t *b,
                      const int32_t *shifts, int32_t *sums) {
    const __m512i signs = _mm512_set1_epi8(char(-128));
    __m512i all[rows][tiles];
    for (int i = 0; i < rows; ++i)
      for (int tile = 0; tile < tiles; ++tile)
        all[i][tile] =
            _mm512_sub_epi32(_mm512_setzero_si512(),
                             _mm512_loadu_si512(shifts + tile * int8TileSize));
    for (int64_t p = 0; p < depth; p += 4) {
      __m512i right[tiles];
      for (int tile = 0; tile < tiles; ++tile)
        right[tile] =
            _mm512_loadu_si512(b + tile * int8TileSize * depth + 16 * p);
      for (int i = 0; i < rows; ++i) {
        int32_t four;
        std::memcpy(&four, a + i * depth + p, sizeof(four));
        const __m512i left = _mm512_xor_si512(_mm512_set1_epi32(four), signs);
        for (int tile = 0; tile < tiles; ++tile)
          all[i][tile] = _mm512_dpbusd_epi32(all[i][tile], left, right[tile]);
      }
    }
    for (int i = 0; i < rows; ++i)
      for (int tile = 0; tile < tiles; ++tile)
        _mm512_storeu_si512(sums + i * int8BlockSize + tile * int8TileSize,
                            all[i][tile]);
  }
};

} // namespace

const Int8Kernels int8KernelsVnni = {sizeof(Int8Scratch),
                                     multiplyInInt8<Int8KernelVnni>};

} // namespace pdlrt
