//===- Lanes.h - Summation order of a row -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_LANES_H
#define LIB_INTERPRETER_LANES_H

#include <cstdint>

namespace pdlc::interpreter {

/// Sixteen accumulators for the fixed summation order of a row. Element j of a
/// row is added to lane j mod 16, and a tree 8-4-2-1 joins the lanes. Vectors
/// of 8 and of 16 elements can compute this order with the same result.
template <typename T> class Lanes {
public:
  static constexpr int64_t count = 16;

  /// Starts each lane with `start`.
  explicit Lanes(T start) {
    for (T &lane : lanes)
      lane = start;
  }
  T &laneOf(int64_t element) { return lanes[element % count]; }

  /// Combines the lanes: lane[l] = combine(lane[l], lane[l + half]).
  template <typename Combine> T join(Combine combine) {
    for (int64_t half = count / 2; half >= 1; half /= 2)
      for (int64_t l = 0; l < half; ++l)
        lanes[l] = combine(lanes[l], lanes[l + half]);
    return lanes[0];
  }
  T sum() {
    return join([](T a, T b) { return a + b; });
  }

private:
  T lanes[count];
};

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_LANES_H
