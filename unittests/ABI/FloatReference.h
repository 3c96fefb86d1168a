//===- FloatReference.h - True values of the f32 functions ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of pdlabi/math.h in double, computed by the C library, with an
// error far below an ulp of f32. For arguments with a trivial result (nine
// tenths of all floats), a truncated series replaces the library, so that all
// 2^32 floats take only a minute.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_ABI_FLOATREFERENCE_H
#define PDL_UNITTESTS_ABI_FLOATREFERENCE_H

#include "pdlabi/math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace pdltest {

inline double referenceExp(double x) {
  if (std::fabs(x) < 0x1p-20)
    return 1 + (x + x * x / 2);
  if (x > 90)
    return std::numeric_limits<double>::infinity();
  return x < -105 ? 0.0 : std::exp(x);
}

inline double referenceLog(double x) { return std::log(x); }

inline double referenceLog1p(double x) {
  // The next term is below x 2^-57.
  if (std::fabs(x) < 0x1p-19)
    return x - x * x * (0.5 - x / 3);
  return std::log1p(x);
}

inline double referenceTanh(double x) {
  // The next term is below x 2^-50.
  if (std::fabs(x) < 0x1p-12)
    return x - x * x * x / 3;
  if (std::fabs(x) > 20)
    return std::copysign(1.0, x);
  return std::tanh(x);
}

inline double referenceSigmoid(double x) {
  if (x < 0) {
    const double decay = referenceExp(x);
    return decay / (1 + decay);
  }
  return 1 / (1 + referenceExp(-x));
}

/// Angles above 2^24 are not supported.
inline double referenceSin(double x) {
  return std::fabs(x) <= 0x1p+24 ? std::sin(x)
                                 : std::numeric_limits<double>::quiet_NaN();
}

inline double referenceCos(double x) {
  return std::fabs(x) <= 0x1p+24 ? std::cos(x)
                                 : std::numeric_limits<double>::quiet_NaN();
}

/// Returns the distance of `value` from the true `reference`, in units of the
/// spacing of f32 at `reference` (or of denormals, below the smallest normal
/// number). Returns infinity if only one of them is NaN, or if only one of them
/// overflows f32. Has no branches, so that loops over it are vectorized.
inline double ulpsOff(float value, double reference) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  // Numbers that round to infinity in f32 are infinite.
  constexpr double overflow = 0x1.ffffffp+127;
  const double wide = value;
  const int64_t exponentBits =
      std::bit_cast<int64_t>(reference) & 0x7ff0000000000000;
  constexpr int64_t minNormal = int64_t(1023 - 126) << 52;
  const int64_t bounded = std::max(exponentBits, minNormal);
  const double inverseSpacing =
      std::bit_cast<double>((int64_t(2046 + 23) << 52) - bounded);
  double ulps = std::fabs(wide - reference) * inverseSpacing;
  const bool largeValue = std::fabs(wide) > 0x1.fffffep+127;
  const bool largeReference = std::fabs(reference) >= overflow;
  const bool sameSign = (wide > 0) == (reference > 0);
  ulps = (largeValue | largeReference) ? wrong : ulps;
  ulps = (largeValue & largeReference & sameSign) ? 0 : ulps;
  const bool nanValue = value != value;
  const bool nanReference = reference != reference;
  ulps = (nanValue | nanReference) ? wrong : ulps;
  return (nanValue & nanReference) ? 0 : ulps;
}

/// Function under test with its reference. `compute` applies the function to an
/// array, as loops of generated code do.
struct FloatFunction {
  const char *name;
  void (*compute)(const float *in, float *out, int64_t count);
  double (*reference)(double);
  /// True if f(-x) = -f(x), which also determines the sign of zero.
  bool odd;
};

template <float (*function)(float)>
void computeLoop(const float *in, float *out, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = function(in[i]);
}

inline constexpr FloatFunction floatFunctions[] = {
    {"exp", computeLoop<pdlabi::exp>, referenceExp, false},
    {"log", computeLoop<pdlabi::log>, referenceLog, false},
    {"log1p", computeLoop<pdlabi::log1p>, referenceLog1p, true},
    {"tanh", computeLoop<pdlabi::tanh>, referenceTanh, true},
    {"sigmoid", computeLoop<pdlabi::sigmoid>, referenceSigmoid, false},
    {"sin", computeLoop<pdlabi::sin>, referenceSin, true},
    {"cos", computeLoop<pdlabi::cos>, referenceCos, false},
};

/// Error bound that math.h promises, in ulp.
inline constexpr double ulpBound = 2.0;

} // namespace pdltest

#endif // PDL_UNITTESTS_ABI_FLOATREFERENCE_H
