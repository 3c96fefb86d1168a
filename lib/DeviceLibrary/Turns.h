//===- Turns.h - Common code of device functions ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The code of this folder, and all code that it includes, has no static data,
// calls no library and allocates nothing, because a GPU supports none of this.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_TURNS_H
#define LIB_DEVICELIBRARY_TURNS_H

#include <cstdint>

namespace pdldevice {

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

struct Division {
  int64_t quotient, remainder;
};

/// Divides a nonnegative by a positive number. Uses 32 bits if both numbers
/// fit, because a GPU divides 64 bits with several times as many instructions.
inline Division divide(int64_t number, int64_t divisor) {
  if (((number | divisor) >> 32) == 0) {
    const auto low = static_cast<uint32_t>(number);
    const auto by = static_cast<uint32_t>(divisor);
    const uint32_t quotient = low / by;
    return {quotient, low - quotient * by};
  }
  const int64_t quotient = number / divisor;
  return {quotient, number - quotient * divisor};
}

/// Returns the number of parts of `size` elements for `count` elements.
inline int64_t partsOf(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

/// Calls body(turn) for each iteration of a thread.
template <typename Body>
inline void forTurns(int64_t turns, int64_t first, int64_t stride, Body body) {
  for (int64_t turn = first; turn < turns; turn += stride)
    body(turn);
}

inline float multiplyAdd(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double multiplyAdd(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline float squareRoot(float x) { return __builtin_sqrtf(x); }
inline double squareRoot(double x) { return __builtin_sqrt(x); }

/// Computes relu (of a number and itself), or its gradient; NaN is kept.
template <typename T> inline T zeroWhereNotPositive(T test, T x) {
  return test <= 0 ? T(0) : x;
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_TURNS_H
