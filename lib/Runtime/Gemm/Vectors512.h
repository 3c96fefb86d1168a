//===- Vectors512.h - Register tiles of AVX-512 -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `FloatVector` and `DoubleVector` implement the interface `Vector` of
// StrictKernelsImpl.h with AVX-512. They have internal linkage for the reason
// given there.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_VECTORS512_H
#define LIB_RUNTIME_GEMM_VECTORS512_H

#include <cstdint>
#include <immintrin.h>

namespace pdlrt {
namespace {

struct FloatVector {
  using Element = float;
  using Register = __m512;
  using Mask = __mmask16;
  static constexpr int lanes = 16;
  static constexpr int tileRows = 8;
  static constexpr int tileVectors = 3;
  static constexpr int rowVectors = 8;
  static Register zero() { return _mm512_setzero_ps(); }
  static Register load(const float *from) { return _mm512_loadu_ps(from); }
  static Register loadMasked(const float *from, Mask mask) {
    return _mm512_maskz_loadu_ps(mask, from);
  }
  static void store(float *to, Register x) { _mm512_storeu_ps(to, x); }
  static void storeMasked(float *to, Register x, Mask mask) {
    _mm512_mask_storeu_ps(to, mask, x);
  }
  static Register broadcast(const float *from) { return _mm512_set1_ps(*from); }
  static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static Register fma(Register a, Register b, Register c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  static Register zeroWhereNotPositive(Register test, Register x) {
    return _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(test, zero(), _CMP_LE_OQ),
                              zero());
  }
  static bool hasMinusZero(Register x) {
    return _mm512_cmpeq_epi32_mask(_mm512_castps_si512(x),
                                   _mm512_set1_epi32(INT32_MIN)) != 0;
  }
  static Mask maskOf(int count) { return static_cast<Mask>((1u << count) - 1); }
};

struct DoubleVector {
  using Element = double;
  using Register = __m512d;
  using Mask = __mmask8;
  static constexpr int lanes = 8;
  static constexpr int tileRows = 8;
  static constexpr int tileVectors = 3;
  static constexpr int rowVectors = 8;
  static Register zero() { return _mm512_setzero_pd(); }
  static Register load(const double *from) { return _mm512_loadu_pd(from); }
  static Register loadMasked(const double *from, Mask mask) {
    return _mm512_maskz_loadu_pd(mask, from);
  }
  static void store(double *to, Register x) { _mm512_storeu_pd(to, x); }
  static void storeMasked(double *to, Register x, Mask mask) {
    _mm512_mask_storeu_pd(to, mask, x);
  }
  static Register broadcast(const double *from) {
    return _mm512_set1_pd(*from);
  }
  static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  static Register fma(Register a, Register b, Register c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  static Register zeroWhereNotPositive(Register test, Register x) {
    return _mm512_mask_mov_pd(x, _mm512_cmp_pd_mask(test, zero(), _CMP_LE_OQ),
                              zero());
  }
  static bool hasMinusZero(Register x) {
    return _mm512_cmpeq_epi64_mask(_mm512_castpd_si512(x),
                                   _mm512_set1_epi64(INT64_MIN)) != 0;
  }
  static Mask maskOf(int count) { return static_cast<Mask>((1u << count) - 1); }
};

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_VECTORS512_H
