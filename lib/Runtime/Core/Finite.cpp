//===- Finite.cpp - Values that are not finite ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Finite.h"

#include "pdlabi/abi/codes.h"

#include <cmath>
#include <cstring>

using namespace pdlrt;

/// Returns true if no element has an exponent with all bits set, so that all
/// elements are finite. A loop over integers is vectorized without relaxing
/// floating-point rules.
template <typename Bits>
static bool exponentsBelow(int64_t count, const void *values, Bits exponent) {
  auto *bytes = static_cast<const char *>(values);
  Bits found = 0;
  for (int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
    found |= Bits((bits & exponent) == exponent);
  }
  return found == 0;
}

bool pdlrt::allFinite(int32_t type, int64_t count, const void *values) {
  return type == PDL_F32
             ? exponentsBelow<uint32_t>(count, values, 0x7f800000u)
             : exponentsBelow<uint64_t>(count, values, 0x7ff0000000000000u);
}

int64_t pdlrt::firstNonFinite(int32_t type, int64_t count, const void *values) {
  if (allFinite(type, count, values))
    return count;
  const int64_t size = type == PDL_F32 ? sizeof(float) : sizeof(double);
  int64_t first = 0;
  while (allFinite(type, 1, static_cast<const char *>(values) + first * size))
    ++first;
  return first;
}

template <typename T>
static bool quotientsFinite(int64_t count, const void *values, T weight) {
  auto *elements = static_cast<const T *>(values);
  bool finite = true;
  for (int64_t i = 0; i < count; ++i)
    finite &= std::isfinite(elements[i] / weight);
  return finite;
}

bool pdlrt::allQuotientsFinite(int32_t type, int64_t count, const void *values,
                               double weight) {
  return type == PDL_F32
             ? quotientsFinite(count, values, static_cast<float>(weight))
             : quotientsFinite(count, values, weight);
}
