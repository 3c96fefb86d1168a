//===- Vectors256.h - Register tiles of AVX2 --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `FloatVector` and `DoubleVector` implement the interface `Vector` of
// StrictKernelsImpl.h with AVX2. They have internal linkage for the reason
// given there.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_VECTORS256_H
#define LIB_RUNTIME_GEMM_VECTORS256_H

#include <cstdint>
#include <immintrin.h>

namespace pdlrt {
namespace {

struct FloatVector {
  using Element = float;
  using Register = __m256;
  using Mask = __m256i;
  static constexpr int lanes = 8;
  static constexpr int tileRows = 4;
  static constexpr int tileVectors = 3;
  static constexpr int rowVectors = 8;
  static Register zero() { return _mm256_setzero_ps(); }
  static Register load(const float *from) { return _mm256_loadu_ps(from); }
  static Register loadMasked(const float *from, Mask mask) {
    return _mm256_maskload_ps(from, mask);
  }
  static void store(float *to, Register x) { _mm256_storeu_ps(to, x); }
  static void storeMasked(float *to, Register x, Mask mask) {
    _mm256_maskstore_ps(to, mask, x);
  }
  static Register broadcast(const float *from) {
    return _mm256_broadcast_ss(from);
  }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register fma(Register a, Register b, Register c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  static Register zeroWhereNotPositive(Register test, Register x) {
    return _mm256_andnot_ps(_mm256_cmp_ps(test, zero(), _CMP_LE_OQ), x);
  }
  static bool hasMinusZero(Register x) {
    return _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(
               _mm256_castps_si256(x), _mm256_set1_epi32(INT32_MIN)))) != 0;
  }
  static Mask maskOf(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

struct DoubleVector {
  using Element = double;
  using Register = __m256d;
  using Mask = __m256i;
  static constexpr int lanes = 4;
  static constexpr int tileRows = 4;
  static constexpr int tileVectors = 3;
  static constexpr int rowVectors = 8;
  static Register zero() { return _mm256_setzero_pd(); }
  static Register load(const double *from) { return _mm256_loadu_pd(from); }
  static Register loadMasked(const double *from, Mask mask) {
    return _mm256_maskload_pd(from, mask);
  }
  static void store(double *to, Register x) { _mm256_storeu_pd(to, x); }
  static void storeMasked(double *to, Register x, Mask mask) {
    _mm256_maskstore_pd(to, mask, x);
  }
  static Register broadcast(const double *from) {
    return _mm256_broadcast_sd(from);
  }
  static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  static Register fma(Register a, Register b, Register c) {
    return _mm256_fmadd_pd(a, b, c);
  }
  static Register zeroWhereNotPositive(Register test, Register x) {
    return _mm256_andnot_pd(_mm256_cmp_pd(test, zero(), _CMP_LE_OQ), x);
  }
  static bool hasMinusZero(Register x) {
    return _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(
               _mm256_castpd_si256(x), _mm256_set1_epi64x(INT64_MIN)))) != 0;
  }
  static Mask maskOf(int count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count),
                              _mm256_setr_epi64x(0, 1, 2, 3));
  }
};

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_VECTORS256_H
