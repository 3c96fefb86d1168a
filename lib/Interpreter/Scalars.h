//===- Scalars.h - Scalar functions of both element types -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In 32 bits the functions of `pdlabi/math.h`, which compiled programs inline
// too; in 64 bits those of the C library.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_SCALARS_H
#define LIB_INTERPRETER_SCALARS_H

#include "pdlabi/math.h"

#include <cmath>

namespace pdlc::interpreter {

inline float exponential(float x) { return pdlabi::exp(x); }
inline double exponential(double x) { return std::exp(x); }

inline float logarithm(float x) { return pdlabi::log(x); }
inline double logarithm(double x) { return std::log(x); }

inline float logarithm1p(float x) { return pdlabi::log1p(x); }
inline double logarithm1p(double x) { return std::log1p(x); }

inline float hyperbolicTangent(float x) { return pdlabi::tanh(x); }
inline double hyperbolicTangent(double x) { return std::tanh(x); }

inline float sigmoid(float x) { return pdlabi::sigmoid(x); }
inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// x <= 0 ? +0 : x; NaN survives.
template <typename T> T relu(T x) { return x <= T(0) ? T(0) : x; }

/// The larger; NaN if either is NaN; +0 is larger than -0.
template <typename T> T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

/// The smaller; NaN if either is NaN; -0 is smaller than +0.
template <typename T> T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_SCALARS_H
