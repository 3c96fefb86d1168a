//===- Products.cpp - Matrix products on a device -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element of a product is one chain of fused multiply-adds in ascending
// order of k. The strict kernels of the CPU use the same order, so results are
// bit-identical.
//
//===----------------------------------------------------------------------===//

#include "Multiply.h"

using namespace pdldevice;

namespace {

/// Factors without conversion.
template <typename T> struct PlainFactors {
  static constexpr bool swapsPairs = false;

  static T left(T x) { return x; }
  static T right(T x) { return x; }
  static constexpr bool areSafe() { return true; }
  static T chain(const Product<T> &, int64_t, int64_t) { return 0; }
  static T operand(T x) { return x; }
  static T result(T x) { return x; }
};

template <typename T>
void multiplyOne(int64_t transposeA, int64_t transposeB, int64_t m, int64_t n,
                 int64_t k, const T *__restrict a, const T *__restrict b,
                 uint64_t posts, const T *bias, const T *mask, T *c,
                 int64_t cStride, int64_t first, int64_t stride) {
  multiply<PlainFactors<T>>(1,
                            Product<T>{transposeA != 0, transposeB != 0, m, n,
                                       k, a, b, posts, bias, mask, c, cStride},
                            first, stride);
}

template <typename T>
void multiplyBatch(int64_t transposeA, int64_t transposeB, int64_t count,
                   int64_t m, int64_t n, int64_t k, const T *__restrict a,
                   const T *__restrict b, T *c, int64_t first, int64_t stride) {
  multiply<PlainFactors<T>>(count,
                            Product<T>{transposeA != 0, transposeB != 0, m, n,
                                       k, a, b, 0, nullptr, nullptr, c, n},
                            first, stride);
}

} // namespace

int64_t pdldevice_product_turns(int64_t, int64_t, int64_t m, int64_t n, int64_t,
                                const void *, const void *, uint64_t,
                                const void *, const void *, void *, int64_t) {
  return turnsOfProducts(1, m, n);
}

void pdldevice_product_f32(int64_t transposeA, int64_t transposeB, int64_t m,
                           int64_t n, int64_t k, const float *__restrict a,
                           const float *__restrict b, uint64_t posts,
                           const float *bias, const float *mask, float *c,
                           int64_t cStride, int64_t first, int64_t stride) {
  multiplyOne(transposeA, transposeB, m, n, k, a, b, posts, bias, mask, c,
              cStride, first, stride);
}

void pdldevice_product_f64(int64_t transposeA, int64_t transposeB, int64_t m,
                           int64_t n, int64_t k, const double *__restrict a,
                           const double *__restrict b, uint64_t posts,
                           const double *bias, const double *mask, double *c,
                           int64_t cStride, int64_t first, int64_t stride) {
  multiplyOne(transposeA, transposeB, m, n, k, a, b, posts, bias, mask, c,
              cStride, first, stride);
}

int64_t pdldevice_batch_product_turns(int64_t, int64_t, int64_t count,
                                      int64_t m, int64_t n, int64_t,
                                      const void *, const void *, void *) {
  return turnsOfProducts(count, m, n);
}

void pdldevice_batch_product_f32(int64_t transposeA, int64_t transposeB,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const float *__restrict a,
                                 const float *__restrict b, float *c,
                                 int64_t first, int64_t stride) {
  multiplyBatch(transposeA, transposeB, count, m, n, k, a, b, c, first, stride);
}

void pdldevice_batch_product_f64(int64_t transposeA, int64_t transposeB,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const double *__restrict a,
                                 const double *__restrict b, double *c,
                                 int64_t first, int64_t stride) {
  multiplyBatch(transposeA, transposeB, count, m, n, k, a, b, c, first, stride);
}
