//===- Lanes.h - Lanes and tree of a row reduction --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixed order of sums and maxima over a row, see pdlrt_reduce_rows.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_LANES_H
#define LIB_DEVICELIBRARY_LANES_H

#include "pdlabi/device.h"

#include <cstdint>

namespace pdldevice {

inline constexpr int laneCount = PDL_DEVICE_LANES;

template <typename T> constexpr T infinity() { return T(__builtin_inf()); }

struct Sum {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};

/// Returns the larger number. If one of them is NaN, returns NaN. If they are
/// equal, returns the second one, which matters for zeros of different sign.
struct Maximum {
  template <typename T> T operator()(T a, T b) const {
    return (a > b || a != a) ? a : b;
  }
};

/// Reduces the lanes in a tree; overwrites them.
template <typename T, typename Combine>
inline T joinLanes(T (&lane)[laneCount], Combine combine) {
#pragma clang loop unroll(full)
  for (int half = laneCount / 2; half >= 1; half /= 2)
#pragma clang loop unroll(full)
    for (int l = 0; l < half; ++l)
      lane[l] = combine(lane[l], lane[l + half]);
  return lane[0];
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_LANES_H
