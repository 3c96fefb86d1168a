//===- BFloat16Products.cpp - bf16 products on a device -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emulates the CPU instructions `vdpbf16ps` and `vcvtne2ps2bf16`
// (docs/Numerics.md), which treat denormal numbers as zeros. A multiply-add of
// a GPU is not guaranteed to do so. This rarely matters: a bf16 number has
// eight significant bits, so one of at least 2^e is a multiple of 2^(e - 7). If
// all nonzero factors of a tile are large enough, each of its sums is a
// multiple of the smallest normal number, and is therefore never denormal. Only
// other tiles need the slow emulation.
//
//===----------------------------------------------------------------------===//

#include "Multiply.h"

#include "pdlabi/math.h"

using namespace pdldevice;

namespace {

using pdlabi::detail::bitsOf;
using pdlabi::detail::floatOf;

constexpr uint32_t signBit = 0x80000000, minNormal = 0x00800000;

/// Returns the nearest bf16, ties to even; zero for denormal numbers.
inline float roundToBFloat16(float x) {
  const uint32_t bits = bitsOf(x), magnitude = bits & ~signBit;
  const uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
  const uint32_t result = magnitude > 0x7f800000  ? bits | 0x00400000
                          : magnitude < minNormal ? bits & signBit
                                                  : nearest;
  return floatOf(result & 0xffff0000);
}

inline float zeroWhereDenormal(float x) {
  const uint32_t bits = bitsOf(x);
  return (bits & ~signBit) < minNormal ? floatOf(bits & signBit) : x;
}

/// Computes a * b + c. Returns zero if the result is below the smallest normal
/// number when it is rounded to 24 bits with an unlimited exponent.
inline float multiplyAddWithoutDenormals(float a, float b, float c) {
  const float result = multiplyAdd(a, b, c);
  const uint32_t bits = bitsOf(result), magnitude = bits & ~signBit;
  if (magnitude > minNormal)
    return result;
  if (magnitude == minNormal) {
    // The result may be a denormal number that was rounded up to the smallest
    // normal number. Decide with the sum in f64: it is exact, or so close to
    // the smallest normal number that its error does not matter.
    const double sum = multiplyAdd(
        static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
    if (__builtin_fabs(sum) >= 0x1.ffffffp-127)
      return result;
  }
  return floatOf(bits & signBit);
}

/// Factors rounded to bf16.
class RoundedFactors {
public:
  static constexpr bool swapsPairs = true;

  float left(float x) { return note(roundToBFloat16(x), minLeft); }
  float right(float x) { return note(roundToBFloat16(x), minRight); }

  bool areSafe() const {
    // The smallest product of factors 2^e and 2^f has the unit 2^(e + f - 14).
    return exponentOf(minLeft) + exponentOf(minRight) - 2 * 127 - 14 >= -126;
  }

  static float chain(const Product<float> &product, int64_t row,
                     int64_t column) {
    float sum = 0;
    const float *a = product.a + (product.transposeA ? row : row * product.k);
    const float *b =
        product.b + (product.transposeB ? column * product.k : column);
    const int64_t aStride = product.transposeA ? product.m : 1;
    const int64_t bStride = product.transposeB ? 1 : product.n;
    auto add = [&](int64_t p) {
      if (p == product.k)
        sum += 0.0f;
      else
        sum = multiplyAddWithoutDenormals(roundToBFloat16(a[p * aStride]),
                                          roundToBFloat16(b[p * bStride]), sum);
    };
    for (int64_t p = 0; p < product.k; p += 2) {
      add(p + 1);
      add(p);
    }
    return sum;
  }

  static float operand(float x) { return zeroWhereDenormal(x); }
  /// Replaces denormal sums by zeros. They are exact, so this is sufficient.
  static float result(float x) { return zeroWhereDenormal(x); }

private:
  /// Smallest nonzero factors of A and B, as 2 * (bits of the magnitude) - 1.
  /// The bits of zero wrap around to the largest number, so that zeros are
  /// ignored.
  uint32_t minLeft = 0xffffffff, minRight = 0xffffffff;

  static float note(float x, uint32_t &least) {
    const uint32_t bits = 2 * bitsOf(x) - 1;
    least = bits < least ? bits : least;
    return x;
  }
  /// Returns the biased exponent; 256 for zeros.
  static int exponentOf(uint32_t least) {
    return static_cast<int>((uint64_t(least) + 1) >> 24);
  }
};

} // namespace

int64_t pdldevice_bf16_product_turns(int64_t, int64_t, int64_t m, int64_t n,
                                     int64_t, const void *, const void *,
                                     uint64_t, const void *, const void *,
                                     void *, int64_t) {
  return turnsOfProducts(1, m, n);
}

void pdldevice_bf16_product_f32(int64_t transposeA, int64_t transposeB,
                                int64_t m, int64_t n, int64_t k,
                                const float *__restrict a,
                                const float *__restrict b, uint64_t posts,
                                const float *bias, const float *mask, float *c,
                                int64_t cStride, int64_t first,
                                int64_t stride) {
  multiply<RoundedFactors>(1,
                           Product<float>{transposeA != 0, transposeB != 0, m,
                                          n, k, a, b, posts, bias, mask, c,
                                          cStride},
                           first, stride);
}
