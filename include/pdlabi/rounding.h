//===- rounding.h - 16-bit numbers and stochastic rounding ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion of an f32 to a 16-bit number: to nearest (ties to even), or by
// stochastic rounding. Stochastic rounding rounds away from zero with a
// probability equal to the fraction that is cut off. So many updates of a row
// that are smaller than the distance between two 16-bit numbers still add up
// correctly on average.
//
// The random bits come from Philox. They depend on the key of the row, the
// 64-bit id of its symbol, and a 64-bit seed. They also depend on the index e
// of the element in the row, and on the number n of the group's update (1 for
// the first). They are 16 bits of the block with:
//
//   Counter word 0: low half of the key.
//   Counter word 1: high half of the key.
//   Counter word 2: e / 8 + 2^17 * (high half of n).
//   Counter word 3: low half of n.
//   Key:            seed xor symbol id, low half first.
//
// The bits are in word (e mod 8) / 2 of the block: its low half if e is even,
// otherwise its high half. Rows have at most 2^20 elements.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_ROUNDING_H
#define PDLABI_ROUNDING_H

#include "pdlabi/math.h"
#include "pdlabi/philox.h"

#include <cstdint>

namespace pdlabi {

/// A bf16 number: the upper half of an f32. Conversion to f32 is exact.
/// Conversion from f32 rounds to nearest, ties to even; NaN stays NaN, and
/// numbers beyond the largest finite number become infinite.
struct BFloat16 {
  uint16_t bits = 0;

  static constexpr uint16_t infinity = 0x7f80;

  BFloat16() = default;
  BFloat16(float number) {
    const uint32_t all = detail::bitsOf(number);
    bits = isNan(all) ? quiet(all)
                      : uint16_t((all + 0x7fff + (all >> 16 & 1)) >> 16);
  }
  operator float() const { return detail::floatOf(uint32_t(bits) << 16); }

  /// Rounds stochastically. `random` must be in [0, 2^16). Rounds away from
  /// zero if the 16 bits that are cut off, as a number, plus `random` are at
  /// least 2^16. Otherwise rounds toward zero.
  static BFloat16 atRandom(float number, uint32_t random) {
    const uint32_t all = detail::bitsOf(number);
    BFloat16 result;
    result.bits = isNan(all) ? quiet(all) : uint16_t((all + random) >> 16);
    return result;
  }

private:
  static bool isNan(uint32_t all) { return (all & 0x7fffffff) > 0x7f800000; }
  static uint16_t quiet(uint32_t all) { return uint16_t(all >> 16 | 0x40); }
};

/// An IEEE 754 binary16 number, with denormal numbers. Conversions are like
/// those of BFloat16.
struct Float16 {
  uint16_t bits = 0;

  static constexpr uint16_t infinity = 0x7c00;

  Float16() = default;
  Float16(float number) {
    const uint32_t all = detail::bitsOf(number), magnitude = all & 0x7fffffff;
    // Below 2^-14, numbers are 2^-24 apart, like those of f32 at 0.5.
    const uint32_t small =
        detail::bitsOf(detail::floatOf(magnitude) + 0.5f) - 0x3f000000;
    const uint32_t normal =
        (magnitude + 0xfff + (magnitude >> 13 & 1) - bias) >> 13;
    bits = join(all, magnitude, small, normal);
  }
  operator float() const {
    const uint32_t sign = uint32_t(bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff, shifted = magnitude << 13;
    const float small =
        detail::floatOf(0x3f000000 + magnitude) - 0.5f; // a denormal number
    const uint32_t all = magnitude < 0x400      ? detail::bitsOf(small)
                         : magnitude < infinity ? shifted + bias
                                                : shifted | 0x7f800000;
    return detail::floatOf(all | sign);
  }

  /// Rounds stochastically. `random` must be in [0, 2^16). `number` lies
  /// between two neighboring binary16 numbers. Let f be its distance from the
  /// one nearer to zero, divided by the distance of the two, rounded down to a
  /// multiple of 2^-16. Rounds away from zero if 2^16 f + `random` is at least
  /// 2^16, otherwise toward zero.
  static Float16 atRandom(float number, uint32_t random) {
    const uint32_t all = detail::bitsOf(number), magnitude = all & 0x7fffffff;
    const uint32_t small =
        (uint32_t(int32_t(detail::floatOf(magnitude < least ? magnitude : 0) *
                          0x1p40f)) +
         random) >>
        16;
    const uint32_t normal = (magnitude + (random >> 3) - bias) >> 13;
    Float16 result;
    result.bits = join(all, magnitude, small, normal);
    return result;
  }

private:
  /// Difference of the exponent biases of f32 and binary16, shifted to the
  /// exponent field.
  static constexpr uint32_t bias = 112u << 23;
  /// Bits of 2^-14, the smallest normal number, and of 2^16, which is larger
  /// than all finite numbers.
  static constexpr uint32_t least = 113u << 23, beyond = 143u << 23;

  static uint16_t join(uint32_t all, uint32_t magnitude, uint32_t small,
                       uint32_t normal) {
    const uint32_t large = magnitude > 0x7f800000 ? 0x7e00 : infinity;
    const uint32_t result = magnitude < least    ? small
                            : magnitude < beyond ? normal
                                                 : large;
    return uint16_t(result | (all >> 16 & 0x8000));
  }
};

/// Numbers on which the random bits of an update depend, in addition to key and
/// element.
struct RoundingDraws {
  uint64_t seed = 0;
  uint64_t symbolId = 0;
  /// Number of the group's update, 1 for the first.
  int64_t update = 1;
};

/// Number of consecutive elements that use the same Philox block.
inline constexpr int64_t elementsOfRoundingBlock = 8;

/// Rounds `rowCount` rows of `width` elements stochastically. Row i begins at
/// values + i * stride, has the key keys[i], and is written to rows[i]. `T` is
/// BFloat16 or Float16. The result does not depend on the division of rows into
/// calls. Returns true if all written numbers are finite.
template <typename T>
inline bool roundRows(const RoundingDraws &draws, int64_t rowCount,
                      int64_t width, int64_t stride, const int64_t *keys,
                      const float *values, void *const *rows) {
  const uint64_t seed = draws.seed ^ draws.symbolId;
  const auto update = static_cast<uint64_t>(draws.update);
  const uint32_t high = static_cast<uint32_t>(update >> 32) << 17;
  const auto low = static_cast<uint32_t>(update);
  const int64_t blocks =
      (width + elementsOfRoundingBlock - 1) / elementsOfRoundingBlock;
  uint32_t largest = 0;
  // As many blocks as are computed in parallel, from any rows.
  int64_t row = 0, block = 0;
  while (row < rowCount) {
    int64_t rowOf[philoxLanes], blockOf[philoxLanes];
    PhiloxCounters counters = {};
    int lanes = 0;
    for (; lanes < philoxLanes && row < rowCount; ++lanes) {
      rowOf[lanes] = row;
      blockOf[lanes] = block;
      const auto key = static_cast<uint64_t>(keys[row]);
      counters.words[0][lanes] = key & 0xffffffff;
      counters.words[1][lanes] = key >> 32;
      counters.words[2][lanes] = static_cast<uint32_t>(block) + high;
      counters.words[3][lanes] = low;
      if (++block == blocks) {
        block = 0;
        ++row;
      }
    }
    uint32_t words[4 * philoxLanes];
    philoxBlocks(counters, seed, words);
    for (int lane = 0; lane < lanes; ++lane) {
      const int64_t begin = blockOf[lane] * elementsOfRoundingBlock;
      const float *from = values + rowOf[lane] * stride + begin;
      T *to = static_cast<T *>(rows[rowOf[lane]]) + begin;
      const uint32_t *random = words + 4 * lane;
      auto roundTo = [&](int64_t i) {
        to[i] = T::atRandom(from[i], random[i / 2] >> (i % 2 * 16) & 0xffff);
        const uint32_t magnitude = to[i].bits & 0x7fff;
        largest = magnitude > largest ? magnitude : largest;
      };
      if (begin + elementsOfRoundingBlock <= width)
        for (int64_t i = 0; i < elementsOfRoundingBlock; ++i)
          roundTo(i);
      else
        for (int64_t i = 0; i < width - begin; ++i)
          roundTo(i);
    }
  }
  return largest < T::infinity;
}

} // namespace pdlabi

#endif // PDLABI_ROUNDING_H
