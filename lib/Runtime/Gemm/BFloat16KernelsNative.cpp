//===- BFloat16KernelsNative.cpp - bf16 products with AVX512-BF16 ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BFloat16KernelsImpl.h"
#include "Vectors512.h"

namespace pdlrt {
namespace {

struct PairVector : FloatVector {
  static Register fma(Register a, Register b, Register c) {
    return _mm512_dpbf16_ps(c, reinterpret_cast<__m512bh>(a),
                            reinterpret_cast<__m512bh>(b));
  }
  static __mmask16 firstOf(int64_t count) {
    return count < lanes ? maskOf(static_cast<int>(count)) : __mmask16(0xffff);
  }
  /// Returns pairs of the row's next 16 elements, of which `count` exist.
  static __m256i roundPairs(const float *from, int64_t count) {
    if (count >= 16)
      return reinterpret_cast<__m256i>(_mm256_cvtne2ps_pbh(
          _mm256_loadu_ps(from + 8), _mm256_loadu_ps(from)));
    return reinterpret_cast<__m256i>(
        _mm512_cvtneps_pbh(loadMasked(from, firstOf(count))));
  }
  static void roundEightRows(const float *from, int64_t stride, int64_t count,
                             float *to, int64_t toStride) {
    for (int64_t i = 0; i < count; i += 16, from += 16) {
      __m256i row[8], pair[8];
      for (int r = 0; r < 8; ++r)
        row[r] = roundPairs(from + r * stride, count - i);
      // Transpose within 128 bits first, then the 128-bit parts.
      for (int r = 0; r < 8; r += 2) {
        pair[r] = _mm256_unpacklo_epi32(row[r], row[r + 1]);
        pair[r + 1] = _mm256_unpackhi_epi32(row[r], row[r + 1]);
      }
      for (int r = 0; r < 8; r += 4) {
        row[r] = _mm256_unpacklo_epi64(pair[r], pair[r + 2]);
        row[r + 1] = _mm256_unpackhi_epi64(pair[r], pair[r + 2]);
        row[r + 2] = _mm256_unpacklo_epi64(pair[r + 1], pair[r + 3]);
        row[r + 3] = _mm256_unpackhi_epi64(pair[r + 1], pair[r + 3]);
      }
      for (int r = 0; r < 4; ++r) {
        pair[r] = _mm256_permute2x128_si256(row[r], row[r + 4], 0x20);
        pair[r + 4] = _mm256_permute2x128_si256(row[r], row[r + 4], 0x31);
      }
      for (int p = 0; p < 8 && i + 2 * p < count; ++p, to += toStride)
        _mm256_storeu_ps(to, _mm256_castsi256_ps(pair[p]));
    }
  }
  static __m512i interleave(Register even, Register odd) {
    const __m512i places = _mm512_set_epi16(
        31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
        6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(
        places, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
  }
  static void roundTwoPanels(const float *even, const float *odd, float *first,
                             float *second) {
    const __m512i pairs = interleave(load(even), load(odd));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u *>(first),
                        _mm512_castsi512_si256(pairs));
    _mm256_storeu_si256(reinterpret_cast<__m256i_u *>(second),
                        _mm512_extracti64x4_epi64(pairs, 1));
  }
  static void roundRow(const float *from, int64_t count, float *to) {
    for (int64_t i = 0; i < count; i += 2 * lanes, to += lanes) {
      const int64_t rest = count - i;
      const Register low = loadMasked(from + i, firstOf(rest));
      const Register high =
          rest > lanes ? loadMasked(from + i + lanes, firstOf(rest - lanes))
                       : zero();
      store(to, reinterpret_cast<Register>(_mm512_cvtne2ps_pbh(high, low)));
    }
  }
  static void roundRows(const float *even, const float *odd, int64_t count,
                        float *to) {
    int64_t i = 0;
    for (; odd && i + lanes <= count; i += lanes)
      store(to + i,
            _mm512_castsi512_ps(interleave(load(even + i), load(odd + i))));
    for (; i < count; i += lanes) {
      const __mmask16 mask = firstOf(count - i);
      store(to + i, _mm512_castsi512_ps(
                        interleave(loadMasked(even + i, mask),
                                   odd ? loadMasked(odd + i, mask) : zero())));
    }
  }
};

} // namespace

const BFloat16Kernels bfloat16KernelsNative = kernelsOfPairs<PairVector>;

} // namespace pdlrt
