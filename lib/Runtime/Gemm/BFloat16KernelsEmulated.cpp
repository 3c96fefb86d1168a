//===- BFloat16KernelsEmulated.cpp - bf16 products with AVX2 --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BFloat16KernelsImpl.h"
#include "Vectors256.h"

namespace pdlrt {
namespace {

/// Emulates `vdpbf16ps` and `vcvtne2ps2bf16`. The product of two bf16 numbers
/// is exact in f32, so each step of a pair is one fused multiply-add.
struct PairVector : FloatVector {
  static Register odd(Register pairs) {
    return _mm256_and_ps(
        pairs, _mm256_castsi256_ps(_mm256_set1_epi32(int32_t(0xffff0000))));
  }
  static Register even(Register pairs) {
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_castps_si256(pairs), 16));
  }
  static Register fma(Register a, Register b, Register c) {
    return FloatVector::fma(even(a), even(b),
                            FloatVector::fma(odd(a), odd(b), c));
  }
  /// Returns the nearest bf16, ties to even, in the upper half of each lane.
  static __m256i round(Register x) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i sign = _mm256_set1_epi32(int32_t(0x80000000));
    const __m256i magnitude = _mm256_andnot_si256(sign, bits);
    const __m256i last =
        _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i nearest = _mm256_add_epi32(
        bits, _mm256_add_epi32(last, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
    const __m256i isNan =
        _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(0x7f800000));
    const __m256i isDenormal =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(0x00800000), magnitude);
    __m256i result = _mm256_blendv_epi8(nearest, quiet, isNan);
    result =
        _mm256_blendv_epi8(result, _mm256_and_si256(bits, sign), isDenormal);
    return _mm256_and_si256(result, _mm256_set1_epi32(int32_t(0xffff0000)));
  }
  static uint32_t roundOf(const float *from, int64_t i, int64_t count) {
    return i < count
               ? static_cast<uint32_t>(_mm_cvtsi128_si32(
                     _mm256_castsi256_si128(round(_mm256_set1_ps(from[i])))))
               : 0;
  }
  static int64_t roundUp(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
  }
  static void storePair(uint32_t even, uint32_t odd, float *to) {
    const uint32_t pair = even >> 16 | odd;
    __builtin_memcpy(to, &pair, sizeof(pair));
  }
  static void roundRow(const float *from, int64_t count, float *to) {
    for (int64_t i = 0; i < roundUp(count, 2 * lanes); i += 2)
      storePair(roundOf(from, i, count), roundOf(from, i + 1, count),
                to + i / 2);
  }
  static void roundRows(const float *even, const float *odd, int64_t count,
                        float *to) {
    for (int64_t i = 0; i < roundUp(count, lanes); ++i)
      storePair(roundOf(even, i, count), roundOf(odd, i, odd ? count : 0),
                to + i);
  }
};

} // namespace

const BFloat16Kernels bfloat16KernelsEmulated = kernelsOfPairs<PairVector>;

} // namespace pdlrt
