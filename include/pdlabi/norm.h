//===- norm.h - Squared norms in the settled order --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The joint squared norm that a clip sees is the sum of one partial for each
// unit, added in ascending order of (symbol, unit); symbols in the order of
// their declaration. Servers hold whole units, so the number of servers cannot
// change a bit. Contraction must be off where this is included.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NORM_H
#define PDLABI_NORM_H

namespace pdlabi {

/// The squared norm of one unit: 64 consecutive rows of a parameter (a vector
/// is one unit), or what a step touched of one logical shard of a table, keys
/// ascending as signed integers. Elements are numbered through the unit;
/// element j goes to lane j mod 16, and the lanes are joined by a tree 8-4-2-1.
class SquaredNormUnit {
public:
  /// Adds the next `count` elements. Each is divided by the weight, which is
  /// rounded to the element type first; the quotient is widened and squared.
  template <typename T>
  void add(const T *gradient, long long count, double weight) {
    const T divisor = static_cast<T>(weight);
    long long i = 0;
    while (i < count && position != 0)
      addOne(gradient[i++], divisor);
    // Lanes do not meet, so that whole rounds may share vectors.
    for (; count - i >= laneCount; i += laneCount)
      for (int lane = 0; lane < laneCount; ++lane) {
        const T quotient = gradient[i + lane] / divisor;
        const double wide = static_cast<double>(quotient);
        lanes[lane] += wide * wide;
      }
    while (i < count)
      addOne(gradient[i++], divisor);
  }

  /// The partial of the elements so far.
  double partial() const { return join(lanes); }

  /// That of lanes that somebody else has added up.
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

/// Rows of a parameter in one unit.
inline constexpr long long rowsInNormUnit = 64;

} // namespace pdlabi

#endif // PDLABI_NORM_H
