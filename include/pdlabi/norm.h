//===- norm.h - Squared norms in a fixed order ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The joint squared norm of a clip is the sum of the partial norms of all
// units, added in ascending order of (symbol, unit); symbols are in the order
// of their declaration. Servers have whole units, so the result is bitwise
// equal for any number of servers. Contraction must be off in code that
// includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NORM_H
#define PDLABI_NORM_H

namespace pdlabi {

/// Computes the squared norm of one unit. Of a parameter, a unit is 64
/// consecutive rows (a vector is one unit). Of a table, it is the rows of one
/// logical shard that a step touched, in ascending order of their keys as
/// signed integers. Elements are numbered through the unit. Element j goes to
/// lane j mod 16, and the lanes are reduced in a tree 8-4-2-1.
class SquaredNormUnit {
public:
  /// Adds the next `count` elements. Each is divided by the weight, which is
  /// first rounded to the element type; the quotient is widened and squared.
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

  /// Returns the partial norm of the elements added so far.
  double partial() const { return join(lanes); }

  /// Returns the partial norm for lanes that were added up elsewhere.
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
