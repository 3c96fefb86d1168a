//===- BFloat16KernelsNative.cpp - By AVX512-BF16 -------------------------===//
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
    const __m512i places = _mm512_set_epi16(
        31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
        6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    for (int64_t i = 0; i < count; i += lanes) {
      const __mmask16 mask = firstOf(count - i);
      const Register low = loadMasked(even + i, mask);
      const Register high = odd ? loadMasked(odd + i, mask) : zero();
      const __m512i both =
          reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
      store(to + i,
            _mm512_castsi512_ps(_mm512_permutexvar_epi16(places, both)));
    }
  }
};

} // namespace

const BFloat16Kernels bfloat16KernelsNative = kernelsOf<PairVector>;

} // namespace pdlrt
