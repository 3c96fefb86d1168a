//===- math.h - Scalar functions with fixed results -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scalar functions with one implementation for interpreter, runtime and
// generated code, which links it as bitcode and inlines it
// (lib/ABI/MathShim.cpp). So all three compute bitwise equal results on every
// machine. FMAs are only used where the source has one: code that includes this
// file must be compiled without contraction. Rounding is to nearest, and
// denormals are kept. No library function is called. The builtins are FMA,
// square root and sign operations, whose results IEEE 754 defines exactly.
//
// The f32 functions have no branches and no tables, so compilers can vectorize
// loops over them. Their error is at most 2 ulp for all 2^32 floats, which the
// test FloatSweep checks. Odd functions keep the sign of zero. NaN gives NaN,
// with unspecified payload and sign. Polynomials are minimax approximations on
// the intervals in the comments, with coefficients rounded to f32.
//
// The f64 functions are used by schedules and by the `once` regions of rules.
// They use Taylor polynomials.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_MATH_H
#define PDLABI_MATH_H

#include <cstdint>

namespace pdlabi {

namespace detail {

inline float floatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t bitsOf(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
inline double doubleOf(uint64_t bits) {
  return __builtin_bit_cast(double, bits);
}
inline uint64_t bitsOf(double value) {
  return __builtin_bit_cast(uint64_t, value);
}

inline constexpr float infinity = __builtin_inff();
inline constexpr float notANumber = __builtin_nanf("");

/// 1.5 * 2^23: adding it to a small float rounds the float to an integer, which
/// is then in the low bits of the sum.
inline constexpr float roundingShift = 12582912.0f;

/// Returns log(1 + f). f must be in about [-1/3, 1/3].
inline float logNearOne(float f) {
  float p = -0x1.10c966p-3f;
  p = __builtin_fmaf(p, f, 0x1.1efc8ep-3f);
  p = __builtin_fmaf(p, f, -0x1.eea4aep-4f);
  p = __builtin_fmaf(p, f, 0x1.1eb5fcp-3f);
  p = __builtin_fmaf(p, f, -0x1.55cdd8p-3f);
  p = __builtin_fmaf(p, f, 0x1.99d272p-3f);
  p = __builtin_fmaf(p, f, -0x1.fffd66p-3f);
  p = __builtin_fmaf(p, f, 0x1.5555p-2f);
  p = __builtin_fmaf(p, f, -0.5f);
  return __builtin_fmaf(f * f, p, f);
}

/// The bits of 2/3. If they are subtracted from the bits of a positive normal
/// number x, the exponent field of the difference is the e for which x * 2^-e
/// is in [2/3, 4/3).
inline constexpr uint32_t twoThirdsBits = 0x3f2aaaab;

inline constexpr float logOfTwo = 0x1.62e43p-1f;

} // namespace detail

//===----------------------------------------------------------------------===//
// f32
//===----------------------------------------------------------------------===//

/// Returns e^x. The result is +infinity on overflow, and a denormal or +0 on
/// underflow.
inline float exp(float x) {
  using namespace detail;
  // Outside of these bounds the result is +0 or infinity; NaN passes both.
  float y = x < -104.0f ? -104.0f : x;
  y = y > 89.0f ? 89.0f : y;
  // y = n log 2 + r, with log 2 in two parts.
  const float shifted = __builtin_fmaf(y, 0x1.715476p+0f, roundingShift);
  const float n = shifted - roundingShift;
  const float reduced = __builtin_fmaf(n, -0x1.62e4p-1f, y);
  const float r = __builtin_fmaf(n, -0x1.7f7d1cp-20f, reduced);
  float p = 0x1.6a23d6p-10f;
  p = __builtin_fmaf(p, r, 0x1.123a2p-7f);
  p = __builtin_fmaf(p, r, 0x1.5558f2p-5f);
  p = __builtin_fmaf(p, r, 0x1.555492p-3f);
  p = __builtin_fmaf(p, r, 0x1.fffffcp-2f);
  // Below 1 an ulp is half as large, so the rounding errors of r and 1 + r
  // matter there.
  const float head = 1.0f + r;
  const float lost = (1.0f - head) + r;
  const float tail = __builtin_fmaf(n, -0x1.7f7d1cp-20f, reduced - r) + lost;
  p = head + __builtin_fmaf(r * r, p, tail);
  // 2^n in two factors: neither overflows and only the last product rounds.
  const int32_t exponent =
      static_cast<int32_t>(bitsOf(shifted) - bitsOf(roundingShift));
  const int32_t half = exponent >> 1;
  const int32_t rest = exponent - half;
  const float scale = floatOf(static_cast<uint32_t>(half + 127) << 23);
  const float restScale = floatOf(static_cast<uint32_t>(rest + 127) << 23);
  return p * scale * restScale;
}

/// Returns the natural logarithm. The result is -infinity for +0 and -0, and
/// NaN for negative numbers.
inline float log(float x) {
  using namespace detail;
  const bool denormal = x < 0x1p-126f;
  const uint32_t bits = bitsOf(denormal ? x * 0x1p+23f : x);
  const uint32_t offset = bits - twoThirdsBits;
  const int32_t e = static_cast<int32_t>(offset) >> 23;
  const float m = floatOf((offset & 0x007fffffu) + twoThirdsBits);
  const float exponent = static_cast<float>(e) - (denormal ? 23.0f : 0.0f);
  float result = __builtin_fmaf(exponent, logOfTwo, logNearOne(m - 1.0f));
  result = x > 0.0f ? result : notANumber;
  result = x == 0.0f ? -infinity : result;
  return x == infinity ? infinity : result;
}

/// Returns log(1 + x). The result is -infinity for x = -1, and NaN for x < -1.
inline float log1p(float x) {
  using namespace detail;
  // e comes from the rounded 1 + x, but (1 + x) 2^-e - 1 is then computed from
  // x itself: x 2^-e + (2^-e - 1), where every operation except the last
  // addition is exact. A denormal x has e = 0, so adding to the exponent field
  // is a multiplication.
  const uint32_t offset = bitsOf(1.0f + x) - twoThirdsBits;
  const int32_t e = static_cast<int32_t>(offset) >> 23;
  const float scaled = floatOf(bitsOf(x) - (static_cast<uint32_t>(e) << 23));
  const int32_t bounded = e < 126 ? e : 126;
  const float power = floatOf(static_cast<uint32_t>(127 - bounded) << 23);
  const float f = scaled + (power - 1.0f);
  float result = __builtin_fmaf(static_cast<float>(e), logOfTwo, logNearOne(f));
  result = x > -1.0f ? result : notANumber;
  result = x == -1.0f ? -infinity : result;
  result = x == infinity ? infinity : result;
  return x == 0.0f ? x : result;
}

/// Returns the hyperbolic tangent.
inline float tanh(float x) {
  using namespace detail;
  const float magnitude = floatOf(bitsOf(x) & 0x7fffffffu);
  const float z = x * x;
  float p = 0x1.195888p-9f;
  p = __builtin_fmaf(p, z, -0x1.0c181p-7f);
  p = __builtin_fmaf(p, z, 0x1.63931p-6f);
  p = __builtin_fmaf(p, z, -0x1.b9ef56p-5f);
  p = __builtin_fmaf(p, z, 0x1.11106ap-3f);
  p = __builtin_fmaf(p, z, -0x1.555554p-2f);
  const float small = __builtin_fmaf(magnitude * z, p, magnitude);
  const float large = 1.0f - 2.0f / (exp(2.0f * magnitude) + 1.0f);
  const float result = magnitude < 0.625f ? small : large;
  return floatOf(bitsOf(result) | (bitsOf(x) & 0x80000000u));
}

/// Returns 1 / (1 + e^-x).
inline float sigmoid(float x) {
  using namespace detail;
  // e^-|x| cannot overflow. For x < 0 the quotient is accurate, unlike a
  // difference from 1.
  const float decay = exp(floatOf(bitsOf(x) | 0x80000000u));
  const float numerator = x < 0.0f ? decay : 1.0f;
  const float divisor = 1.0f + decay;
  const float lost = (1.0f - divisor) + decay;
  const float inverse = 1.0f / divisor;
  const float quotient = numerator * inverse;
  // One Newton step, with the divisor before rounding.
  float remainder = __builtin_fmaf(-quotient, divisor, numerator);
  remainder = __builtin_fmaf(-quotient, lost, remainder);
  return __builtin_fmaf(remainder, inverse, quotient);
}

namespace detail {

/// Returns sin(2 pi r) for |r| <= 1/8.
inline float sinOfEighth(float r) {
  const float z = r * r;
  float p = 0x1.4be566p+5f;
  p = __builtin_fmaf(p, z, -0x1.32cb2p+6f);
  p = __builtin_fmaf(p, z, 0x1.466bbcp+6f);
  p = __builtin_fmaf(p, z, -0x1.4abbcep+5f);
  // 2 pi in two parts, because the leading term must be rounded only once.
  const float tail = __builtin_fmaf(p * z, r, -0x1.777a5cp-23f * r);
  return __builtin_fmaf(r, 0x1.921fb6p+2f, tail);
}

/// Returns cos(2 pi r) for |r| <= 1/8.
inline float cosOfEighth(float r) {
  const float z = r * r;
  float p = 0x1.d9f5b6p+5f;
  p = __builtin_fmaf(p, z, -0x1.55c65ep+6f);
  p = __builtin_fmaf(p, z, 0x1.03c1dep+6f);
  p = __builtin_fmaf(p, z, -0x1.3bd3ccp+4f);
  return __builtin_fmaf(p, z, 1.0f);
}

/// Returns cos(2 pi turns - quadrants * pi / 2), |turns| <= 2^20.
inline float cosOfTurns(float turns, uint32_t quadrants) {
  const float shifted = 4.0f * turns + roundingShift;
  const float quarter = shifted - roundingShift;
  // Exact: the operands are nearly equal multiples of the same power of two.
  const float r = __builtin_fmaf(quarter, -0.25f, turns);
  const uint32_t quadrant = bitsOf(shifted) - quadrants;
  const float magnitude = (quadrant & 1u) ? sinOfEighth(r) : cosOfEighth(r);
  // cos is negative in the second and third quadrants.
  return floatOf(bitsOf(magnitude) ^ (((quadrant + 1u) & 2u) << 30));
}

} // namespace detail

/// Returns cos(2 pi turns) for |turns| <= 2^20, absolute error at most 2^-23.
inline float cosTurns(float turns) { return detail::cosOfTurns(turns, 0); }

/// Returns sin(2 pi turns) for |turns| <= 2^20, absolute error at most 2^-23.
inline float sinTurns(float turns) { return detail::cosOfTurns(turns, 1); }

//===----------------------------------------------------------------------===//
// f64
//===----------------------------------------------------------------------===//

namespace detail {

inline constexpr double roundingShift64 = 0x1.8p+52;

/// A number as an unevaluated sum of two doubles, where |low| is at most half
/// an ulp of high.
struct DoublePair {
  double high, low;
};

/// Returns the exact sum of a and b.
inline DoublePair twoSum(double a, double b) {
  const double sum = a + b;
  const double fromB = sum - a;
  return {sum, (a - (sum - fromB)) + (b - fromB)};
}

/// Returns the exact sum of a and b. |a| >= |b| must hold, or a must be 0.
inline DoublePair fastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// Returns the product of two pairs, relative error about 2^-100.
inline DoublePair multiply(DoublePair a, DoublePair b) {
  const double high = a.high * b.high;
  double low = __builtin_fma(a.high, b.high, -high);
  low = __builtin_fma(a.high, b.low, low);
  low = __builtin_fma(a.low, b.high, low);
  return fastTwoSum(high, low);
}

/// Returns log x for a finite x > 0, relative error below 2^-64.
inline DoublePair logOfPositive(double x) {
  int64_t exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p+54;
    exponent = -54;
  }
  // x = m 2^exponent, m in about [sqrt(1/2), sqrt(2)).
  const uint64_t offset = bitsOf(x) - 0x3fe6a09e667f3bcdull;
  exponent += static_cast<int64_t>(offset) >> 52;
  const double m =
      doubleOf((offset & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
  // log m = 2 atanh s = 2 s + 2/3 s^3 + 2/5 s^5 + ..., s = (m - 1) / (m + 1).
  const double f = m - 1.0;
  const DoublePair divisor = twoSum(m, 1.0);
  DoublePair s;
  s.high = f / divisor.high;
  double remainder = __builtin_fma(-s.high, divisor.high, f);
  remainder = __builtin_fma(-s.high, divisor.low, remainder);
  s.low = remainder / divisor.high;
  const DoublePair square = multiply(s, s);
  const DoublePair cube = multiply(square, s);
  const DoublePair twoThirds = {2.0 / 3.0, 0x1.5555555555555p-55};
  const DoublePair third = multiply(cube, twoThirds);
  const double z = square.high;
  double tail = 2.0 / 29.0;
  for (int k = 27; k >= 5; k -= 2)
    tail = __builtin_fma(tail, z, 2.0 / k);
  tail = tail * z * cube.high;
  DoublePair result = fastTwoSum(2.0 * s.high, third.high);
  result.low += 2.0 * s.low + third.low + tail;
  result = fastTwoSum(result.high, result.low);
  // The high part of log 2 has 42 bits, so its product with the exponent is
  // exact.
  const double e = static_cast<double>(exponent);
  const DoublePair sum = twoSum(e * 0x1.62e42fefa38p-1, result.high);
  const double low =
      __builtin_fma(e, 0x1.ef35793c7673p-45, sum.low + result.low);
  return fastTwoSum(sum.high, low);
}

/// Returns e^(high + low), rounded once. |low| must be small compared to an ulp
/// of 1.
inline double expOfPair(DoublePair x) {
  if (x.high > 710.0)
    return __builtin_inf();
  if (x.high < -746.0)
    return 0.0;
  const double shifted =
      __builtin_fma(x.high, 0x1.71547652b82fep+0, roundingShift64);
  const double n = shifted - roundingShift64;
  const DoublePair r = twoSum(__builtin_fma(n, -0x1.62e42fefa38p-1, x.high),
                              __builtin_fma(n, -0x1.ef35793c7673p-45, x.low));
  double factorial = 6227020800.0; // 13!
  double p = 1.0 / factorial;
  for (int k = 13; k >= 3; --k) {
    factorial /= k;
    p = __builtin_fma(p, r.high, 1.0 / factorial);
  }
  // p = 1/2 + r/6 + ...; e^r = 1 + (r + (low + r^2 p)).
  const double quadratic = r.high * r.high * p;
  const DoublePair head = fastTwoSum(1.0, r.high);
  const double value =
      head.high + (head.low + __builtin_fma(r.low, 1.0 + r.high, quadratic));
  const int64_t exponent =
      static_cast<int64_t>(bitsOf(shifted) - bitsOf(roundingShift64));
  const int64_t half = exponent >> 1;
  const double scale = doubleOf(static_cast<uint64_t>(half + 1023) << 52);
  const double restScale =
      doubleOf(static_cast<uint64_t>(exponent - half + 1023) << 52);
  return value * scale * restScale;
}

} // namespace detail

/// Returns x^y, with an error of at most 1 ulp if the result is normal. Special
/// cases are those of C's `pow` (Annex F).
inline double pow(double x, double y) {
  using namespace detail;
  if (y == 0.0 || x == 1.0)
    return 1.0;
  if (x != x || y != y)
    return x + y;
  const double magnitude = __builtin_fabs(x);
  const double absoluteY = __builtin_fabs(y);
  bool odd = false;
  bool integer = absoluteY >= 0x1p+53;
  if (!integer) {
    const auto truncated = static_cast<int64_t>(y);
    integer = static_cast<double>(truncated) == y;
    odd = integer && (truncated & 1);
  }
  const bool negativeResult = odd && (bitsOf(x) >> 63);
  if (magnitude == 0.0 || magnitude == __builtin_inf()) {
    const double result =
        (magnitude == 0.0) == (y > 0.0) ? 0.0 : __builtin_inf();
    return negativeResult ? -result : result;
  }
  if (absoluteY == __builtin_inf()) {
    if (magnitude == 1.0)
      return 1.0;
    return (magnitude > 1.0) == (y > 0.0) ? __builtin_inf() : 0.0;
  }
  if (x < 0.0 && !integer)
    return __builtin_nan("");
  const DoublePair logarithm = logOfPositive(magnitude);
  DoublePair product = {y * logarithm.high, 0.0};
  // If the product is out of range, its low part would be NaN or irrelevant.
  if (__builtin_fabs(product.high) < 1024.0)
    product.low = __builtin_fma(
        y, logarithm.low, __builtin_fma(y, logarithm.high, -product.high));
  const double result = expOfPair(product);
  return negativeResult ? -result : result;
}

namespace detail {

/// Returns cos(x - quadrants * pi / 2). For |x| <= 2^24, the error is at most 1
/// ulp or 2^-80. For larger |x|, returns NaN.
inline double cosOfQuadrants(double x, uint64_t quadrants) {
  if (!(__builtin_fabs(x) <= 0x1p+24))
    return __builtin_nan("");
  // x = n pi/2 + r. The first two parts of pi/2 have so few bits that their
  // products with n are exact; the third represents the rest.
  const double shifted =
      __builtin_fma(x, 0x1.45f306dc9c883p-1, roundingShift64);
  const double n = shifted - roundingShift64;
  const double first = __builtin_fma(n, -0x1.921fb54p+0, x);
  const DoublePair second = twoSum(first, n * -0x1.10b4611p-30);
  const double third = n * -0x1.4c4c6628b80dcp-59;
  const DoublePair r = fastTwoSum(second.high, second.low + third);
  const uint64_t quadrant = (bitsOf(shifted) - quadrants) & 3;
  const double z = r.high * r.high;
  double value;
  if (quadrant & 1) {
    double p = 0.0, factorial = 121645100408832000.0; // 19!
    for (int k = 19; k >= 3; k -= 2) {
      p = __builtin_fma(p, z, ((k / 2) & 1 ? -1.0 : 1.0) / factorial);
      factorial /= static_cast<double>(k) * (k - 1);
    }
    // sin(r + low) = r + (r^3 p + low cos r).
    const double low = r.low * __builtin_fma(z, -0.5, 1.0);
    value = r.high + __builtin_fma(r.high * z, p, low);
  } else {
    double p = 0.0, factorial = 2432902008176640000.0; // 20!
    for (int k = 20; k >= 4; k -= 2) {
      p = __builtin_fma(p, z, ((k / 2) & 1 ? -1.0 : 1.0) / factorial);
      factorial /= static_cast<double>(k) * (k - 1);
    }
    // cos(r + low) = 1 - z/2 + (z^2 p - low r); the rounding error of 1 - z/2
    // is added back.
    const double half = 0.5 * z;
    const double head = 1.0 - half;
    const double rounded = (1.0 - head) - half;
    value = head + (rounded + __builtin_fma(z * z, p, -r.low * r.high));
  }
  return quadrant == 1 || quadrant == 2 ? -value : value;
}

/// Like cosOfQuadrants above, for f32. Computes in f64 and rounds once.
inline float cosOfQuadrants(float x, uint64_t quadrants) {
  const double angle = x;
  const double shifted =
      __builtin_fma(angle, 0x1.45f306dc9c883p-1, roundingShift64);
  const double n = shifted - roundingShift64;
  double r = __builtin_fma(n, -0x1.921fb54p+0, angle);
  r = __builtin_fma(n, -0x1.10b4611p-30, r);
  r = __builtin_fma(n, -0x1.4c4c6628b80dcp-59, r);
  const uint64_t quadrant = bitsOf(shifted) - quadrants;
  const double z = r * r;
  double p = -1.0 / 39916800.0;
  p = __builtin_fma(p, z, 1.0 / 362880.0);
  p = __builtin_fma(p, z, -1.0 / 5040.0);
  p = __builtin_fma(p, z, 1.0 / 120.0);
  p = __builtin_fma(p, z, -1.0 / 6.0);
  const double sine = __builtin_fma(r * z, p, r);
  double q = 1.0 / 479001600.0;
  q = __builtin_fma(q, z, -1.0 / 3628800.0);
  q = __builtin_fma(q, z, 1.0 / 40320.0);
  q = __builtin_fma(q, z, -1.0 / 720.0);
  q = __builtin_fma(q, z, 1.0 / 24.0);
  q = __builtin_fma(q, z, -0.5);
  const double cosine = __builtin_fma(q, z, 1.0);
  const float magnitude = static_cast<float>((quadrant & 1u) ? sine : cosine);
  // cos is negative in the second and third quadrants.
  const uint32_t sign = static_cast<uint32_t>((quadrant + 1u) & 2u) << 30;
  const float result = floatOf(bitsOf(magnitude) ^ sign);
  return __builtin_fabsf(x) <= 0x1p+24f ? result : notANumber;
}

} // namespace detail

/// Returns cos x for |x| <= 2^24, and NaN for larger |x|, because consecutive
/// floats of that size are too far apart to be useful as angles.
inline double cos(double x) { return detail::cosOfQuadrants(x, 0); }
inline float cos(float x) { return detail::cosOfQuadrants(x, 0); }

/// Returns sin x for |x| <= 2^24, and NaN for larger |x|.
inline double sin(double x) {
  return x == 0.0 ? x : detail::cosOfQuadrants(x, 1);
}
inline float sin(float x) {
  return x == 0.0f ? x : detail::cosOfQuadrants(x, 1);
}

} // namespace pdlabi

#endif // PDLABI_MATH_H
