//===- MatrixProduct.cpp - Chains of fused multiply-adds ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"

#include <cmath>

using namespace pdlc::interpreter;

// A machine without FMA instructions calls the C library's fma, which gives the
// same bits, only slowly.
#if defined(__x86_64__)
#define PDLC_WITH_FMA                                                          \
  __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PDLC_WITH_FMA
#endif

namespace {

/// The loop over n is innermost: chains of different elements do not meet, so
/// that the compiler may put them side by side.
template <typename T>
[[gnu::always_inline]] inline void
multiplyChains(const ProductShape &shape, const T *lhs, const T *rhs, T *out) {
  const int64_t m = shape.m, n = shape.n, k = shape.k;
  for (int64_t row = 0; row < m; ++row) {
    T *sums = out + row * n;
    for (int64_t column = 0; column < n; ++column)
      sums[column] = T(0);
    for (int64_t i = 0; i < k; ++i) {
      const T a = shape.transposeLhs ? lhs[i * m + row] : lhs[row * k + i];
      if (shape.transposeRhs)
        for (int64_t column = 0; column < n; ++column)
          sums[column] = std::fma(a, rhs[column * k + i], sums[column]);
      else
        for (int64_t column = 0; column < n; ++column)
          sums[column] = std::fma(a, rhs[i * n + column], sums[column]);
    }
  }
}

} // namespace

PDLC_WITH_FMA void multiplyF32InClones(const ProductShape &shape,
                                       const float *lhs, const float *rhs,
                                       float *out) {
  multiplyChains(shape, lhs, rhs, out);
}

PDLC_WITH_FMA void multiplyF64InClones(const ProductShape &shape,
                                       const double *lhs, const double *rhs,
                                       double *out) {
  multiplyChains(shape, lhs, rhs, out);
}

void pdlc::interpreter::multiply(const ProductShape &shape, const float *lhs,
                                 const float *rhs, float *out) {
  multiplyF32InClones(shape, lhs, rhs, out);
}

void pdlc::interpreter::multiply(const ProductShape &shape, const double *lhs,
                                 const double *rhs, double *out) {
  multiplyF64InClones(shape, lhs, rhs, out);
}
