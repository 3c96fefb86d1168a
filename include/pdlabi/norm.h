//===- norm.h - Squared norms in a fixed order ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The joint squared norm of a clip is the sum of the partial norms of all
// units, added in ascending order of (symbol, unit). Symbols have the order of
// their declaration. Each unit is on one server, so the result is bitwise equal
// for any number of servers. Code that includes this file must be compiled
// without contraction.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NORM_H
#define PDLABI_NORM_H

namespace pdlabi {

/// Computes the squared norm of one unit. A unit of a parameter is 64
/// consecutive rows; a vector is one unit. A unit of a table is the rows of one
/// logical shard that a step updates, in ascending order of their keys as
/// signed integers. The elements of a unit are numbered. The square of element
/// j is added to lane j mod 16. Then the 16 lanes are added in a tree, with
/// distances 8, 4, 2, 1.
class SquaredNormUnit {
public:
  /// Adds the next `count` elements. Each is divided by `weight`, which is
  /// first rounded to the element type. The quotient is converted to f64 and
  /// squared.
  template <typename T>
  void add(const T *gradient, long long count, double weight) {
    const T divisor = static_cast<T>(weight);
    long long i = 0;
    while (i < count && position != 0)
      addOne(gradient[i++], divisor);
    // Lanes are independent, so full rounds can be vectorized.
    for (; count - i >= laneCount; i += laneCount)
      for (int lane = 0; lane < laneCount; ++lane) {
        const T quotient = gradient[i + lane] / divisor;
        const double wide = static_cast<double>(quotient);
        lanes[lane] += wide * wide;
      }
    while (i < count)
      addOne(gradient[i++], divisor);
  }

  /// Returns the partial norm: the squared norm of the elements that were added
  /// so far.
  double partial() const { return join(lanes); }

  /// Returns the partial norm for lanes that other code has summed, such as a
  /// device.
  static double join(const double *lanes) {
    double sums[8];
    for (int i = 0; i < 8; ++i)
      sums[i] = lanes[i] + lanes[i + 8];
    for (int half = 4; half > 0; half /= 2)
      for (int i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    return sums[0];
  }

private:
  static constexpr int laneCount = 16;

  template <typename T> void addOne(T gradient, T divisor) {
    const T quotient = gradient / divisor;
    const double wide = static_cast<double>(quotient);
    lanes[position] += wide * wide;
    position = (position + 1) % laneCount;
  }

  double lanes[laneCount] = {};
  int position = 0;
};

/// Number of rows of a parameter in one unit.
inline constexpr long long rowsInNormUnit = 64;

} // namespace pdlabi

#endif // PDLABI_NORM_H
