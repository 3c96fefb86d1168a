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
    for (long long i = 0; i < count; ++i) {
      const T quotient = gradient[i] / divisor;
      const double wide = static_cast<double>(quotient);
      lanes[position] += wide * wide;
      position = (position + 1) % 16;
    }
  }

  /// The partial of the elements so far.
  double partial() const {
    double sums[8];
    for (int i = 0; i < 8; ++i)
      sums[i] = lanes[i] + lanes[i + 8];
    for (int half = 4; half > 0; half /= 2)
      for (int i = 0; i < half; ++i)
        sums[i] += sums[i + half];
    return sums[0];
  }

private:
  double lanes[16] = {};
  int position = 0;
};

/// Rows of a parameter in one unit.
inline constexpr long long rowsInNormUnit = 64;

} // namespace pdlabi

#endif // PDLABI_NORM_H
