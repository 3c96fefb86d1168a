//===- rounding.h - Numbers in 16 bits, rounded at random -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How an f32 becomes a number of 16 bits: to nearest, ties to even, or at
// random: away from zero with the probability of the part that is cut off, so
// that many updates of a row that are smaller than the distance of two numbers
// add up to what they are.
//
// The random bits are Philox. Element e of the row with a given key, of a
// symbol with a given 64-bit id, under a 64-bit seed, in update n of its group
// (1 for the first), takes 16 bits of the block of
//   counter word 0 = low half of the key
//   counter word 1 = high half of the key
//   counter word 2 = e / 8 + 2^17 * (high half of n)
//   counter word 3 = low half of n
//   key            = seed xor symbol id, low half first
// namely of word e mod 8 / 2 the low half if e is even, else the high half.
// Rows have 2^20 elements at most.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_ROUNDING_H
#define PDLABI_ROUNDING_H

#include "pdlabi/abi.h"
#include "pdlabi/math.h"
#include "pdlabi/philox.h"

#include <cstdint>

namespace pdlabi {

/// The upper half of an f32. Conversions are exact, or to nearest, ties to
/// even; NaN stays NaN, and what is beyond the largest finite number becomes
/// infinite.
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

  /// Away from zero if the 16 bits that are cut off, plus `random`, 0 to 2^16 -
  /// 1, are 2^16 or more.
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

/// IEEE 754's binary16, denormal numbers included. Conversions as those of
/// BFloat16.
struct Float16 {
  uint16_t bits = 0;

  static constexpr uint16_t infinity = 0x7c00;

  Float16() = default;
  Float16(float number) {
    const uint32_t all = detail::bitsOf(number), magnitude = all & 0x7fffffff;
    // Below 2^-14 numbers are 2^-24 apart, as those of f32 at 0.5.
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

  /// With f the part of the distance to the next number away from zero, rounded
  /// down to a multiple of 2^-16, that is cut off: away from zero if 2^16 f +
  /// `random` are 2^16 or more.
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
  /// What the exponent of an f32 has more, in place.
  static constexpr uint32_t bias = 112u << 23;
  /// Bits of 2^-14, the smallest normal number, and of 2^16, which is beyond
  /// all finite ones.
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

/// What the random bits of an update depend on beside key and element.
struct RoundingDraws {
  uint64_t seed = 0;
  uint64_t symbolId = 0;
  /// Its number in the group, 1 for the first.
  int64_t update = 1;
};

/// Elements that share a block of random numbers.
inline constexpr int64_t elementsOfRoundingBlock = 8;

/// Rounds `rowCount` rows of `width` elements at random: those of `values`, row
/// by row, `stride` elements apart, go to `rows[i]`, the row of keys[i].
/// Returns whether all that was written is finite. `T`: BFloat16 or Float16.
/// However rows are cut into calls, their bits are the same.
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
  // As many blocks as are computed side by side, of whichever rows.
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
