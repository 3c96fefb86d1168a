//===- RoundingTest.cpp - Numbers in 16 bits ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/rounding.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

using pdlabi::BFloat16;
using pdlabi::Float16;

namespace {

template <typename T> T ofBits(uint32_t bits) {
  T number;
  number.bits = static_cast<uint16_t>(bits);
  return number;
}

/// Returns the value by the definition of the format, from its bit fields, in
/// f64.
template <typename T> double valueOf(uint32_t bits) {
  const int mantissaBits = std::is_same_v<T, BFloat16> ? 7 : 10;
  const int bias = std::is_same_v<T, BFloat16> ? 127 : 15;
  const auto magnitude = static_cast<int>(bits & 0x7fff);
  const int exponent = magnitude >> mantissaBits;
  const int mantissa = magnitude & ((1 << mantissaBits) - 1);
  // The number after the largest finite one has the value that it would have
  // without infinity.
  const double amount = exponent == 0
                            ? std::ldexp(mantissa, 1 - bias - mantissaBits)
                            : std::ldexp(mantissa + (1 << mantissaBits),
                                         exponent - bias - mantissaBits);
  return bits & 0x8000 ? -amount : amount;
}

/// Returns floats of all exponents and both signs, with few and many digits.
std::vector<float> someFloats() {
  std::vector<float> floats;
  for (uint32_t exponent = 0; exponent < 255; ++exponent)
    for (uint32_t i = 0; i < 200; ++i) {
      const uint32_t mantissa =
          i < 48 ? i % 2 == 0 ? 1u << (i / 2 % 24) : (1u << (i / 2 % 24)) - 1
                 : i * 2654435761u;
      floats.push_back(pdlabi::detail::floatOf((i % 3 == 0 ? 0x80000000u : 0u) |
                                               exponent << 23 |
                                               (mantissa & 0x7fffff)));
    }
  return floats;
}

template <typename T> class RoundingTest : public testing::Test {};
using Formats = testing::Types<BFloat16, Float16>;
TYPED_TEST_SUITE(RoundingTest, Formats);

TYPED_TEST(RoundingTest, AllNumbersAreWidenedExactlyAndNarrowedAgain) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float wide = ofBits<TypeParam>(bits);
    const uint32_t magnitude = bits & 0x7fff;
    if (magnitude > TypeParam::infinity) {
      EXPECT_TRUE(std::isnan(wide)) << bits;
      EXPECT_TRUE(std::isnan(float(TypeParam(wide)))) << bits;
      EXPECT_TRUE(std::isnan(float(TypeParam::atRandom(wide, 0xffff)))) << bits;
      continue;
    }
    if (magnitude < TypeParam::infinity) {
      ASSERT_EQ(double(wide), valueOf<TypeParam>(bits)) << bits;
    } else {
      ASSERT_TRUE(std::isinf(wide)) << bits;
    }
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << bits;
    ASSERT_EQ(TypeParam(wide).bits, bits);
    // A number that fits into 16 bits is not changed by any random bits.
    for (uint32_t random : {0u, 1u, 0x8000u, 0xffffu})
      ASSERT_EQ(TypeParam::atRandom(wide, random).bits, bits);
  }
}

TYPED_TEST(RoundingTest, NearestIsNearestAndTiesAreEven) {
  for (const float number : someFloats()) {
    const TypeParam rounded(number);
    const uint32_t sign = rounded.bits & 0x8000;
    ASSERT_EQ(sign != 0, std::signbit(number)) << number;
    // Infinity is one step above the largest finite number.
    const uint32_t magnitude = rounded.bits & 0x7fff;
    ASSERT_LE(magnitude, TypeParam::infinity) << number;
    const double amount = std::fabs(double(number));
    const double here = valueOf<TypeParam>(magnitude);
    if (magnitude == TypeParam::infinity) {
      const double below = valueOf<TypeParam>(magnitude - 1);
      ASSERT_GE(amount, (below + here) / 2) << number;
      continue;
    }
    const double above = (here + valueOf<TypeParam>(magnitude + 1)) / 2;
    const bool isEven = magnitude % 2 == 0;
    ASSERT_TRUE(isEven ? amount <= above : amount < above) << number;
    if (magnitude > 0) {
      const double below = (here + valueOf<TypeParam>(magnitude - 1)) / 2;
      ASSERT_TRUE(isEven ? amount >= below : amount > below) << number;
    }
  }
}

/// Uses the neighbors towards zero and away from zero, and the part that is cut
/// off.
TYPED_TEST(RoundingTest, AtRandomIsAwayFromZeroByThePartThatIsCutOff) {
  for (const float number : someFloats()) {
    const double amount = std::fabs(double(number));
    const uint32_t below =
        TypeParam::atRandom(std::fabs(number), 0).bits & 0x7fff;
    uint32_t threshold = 0;
    if (below < TypeParam::infinity) {
      const double step =
          valueOf<TypeParam>(below + 1) - valueOf<TypeParam>(below);
      const double part = (amount - valueOf<TypeParam>(below)) / step;
      ASSERT_GE(part, 0) << number;
      ASSERT_LT(part, 1) << number;
      threshold = static_cast<uint32_t>(std::floor(part * 65536));
    } else {
      ASSERT_GE(amount, valueOf<TypeParam>(TypeParam::infinity)) << number;
    }
    const uint32_t sign = std::signbit(number) ? 0x8000 : 0;
    for (uint32_t random : {0u, 1u, 0x1234u, 0x7fffu, 0x8000u, 0xffffu,
                            0xffffu - threshold, 0x10000u - threshold}) {
      if (random > 0xffff)
        continue;
      const bool isAway = threshold + random >= 0x10000;
      ASSERT_EQ(TypeParam::atRandom(number, random).bits,
                sign | (below + (isAway ? 1 : 0)))
          << number << " " << random;
    }
  }
}

TYPED_TEST(RoundingTest, WhatIsNotFiniteStaysSo) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (uint32_t random : {0u, 0xffffu}) {
    EXPECT_EQ(TypeParam::atRandom(infinity, random).bits, TypeParam::infinity);
    EXPECT_EQ(TypeParam::atRandom(-infinity, random).bits,
              0x8000 | TypeParam::infinity);
  }
  EXPECT_EQ(TypeParam(infinity).bits, TypeParam::infinity);
}

TYPED_TEST(RoundingTest, RowsTakeTheDocumentedBits) {
  for (const int64_t width : {1, 7, 8, 10, 16, 64, 67}) {
    for (const int64_t update : {int64_t(1), int64_t(0x1234567890)}) {
      const pdlabi::RoundingDraws draws = {0x299f31d0a4093822,
                                           0x1122334403707344, update};
      constexpr int64_t rows = 5;
      const std::vector<int64_t> keys = {0, -1, 5, int64_t(1) << 40, 17};
      const int64_t stride = width + 3;
      std::vector<float> values(rows * stride);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = 0.37f * std::sin(float(i)) - 0.01f;
      std::vector<TypeParam> out(rows * width);
      std::vector<void *> places;
      for (int64_t row = 0; row < rows; ++row)
        places.push_back(out.data() + row * width);
      EXPECT_TRUE(pdlabi::roundRows<TypeParam>(draws, rows, width, stride,
                                               keys.data(), values.data(),
                                               places.data()));
      for (int64_t row = 0; row < rows; ++row) {
        const auto key = static_cast<uint64_t>(keys[row]);
        for (int64_t e = 0; e < width; ++e) {
          const uint32_t third =
              uint32_t(e / 8) + (uint32_t(uint64_t(update) >> 32) << 17);
          const pdlabi::PhiloxBlock block = pdlabi::philox(
              {{uint32_t(key), uint32_t(key >> 32), third, uint32_t(update)}},
              draws.seed ^ draws.symbolId);
          const uint32_t word = block.words[e % 8 / 2];
          const uint32_t random = e % 2 == 0 ? word & 0xffff : word >> 16;
          ASSERT_EQ(out[row * width + e].bits,
                    TypeParam::atRandom(values[row * stride + e], random).bits)
              << width << " " << row << " " << e;
        }
      }
      // Compute row by row, in another order.
      std::vector<TypeParam> again(width);
      void *place = again.data();
      for (int64_t row = rows - 1; row >= 0; --row) {
        pdlabi::roundRows<TypeParam>(draws, 1, width, width, &keys[row],
                                     values.data() + row * stride, &place);
        for (int64_t e = 0; e < width; ++e)
          ASSERT_EQ(again[e].bits, out[row * width + e].bits);
      }
    }
  }
}

TYPED_TEST(RoundingTest, RowsSayWhetherAllIsFinite) {
  const int64_t key = 3;
  for (const float bad : {std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::infinity()})
    for (size_t at : {0u, 7u, 8u, 10u}) {
      std::vector<float> values(11, 1.0f);
      std::vector<TypeParam> out(11);
      void *place = out.data();
      EXPECT_TRUE(pdlabi::roundRows<TypeParam>({}, 1, 11, 11, &key,
                                               values.data(), &place));
      values[at] = bad;
      EXPECT_FALSE(pdlabi::roundRows<TypeParam>({}, 1, 11, 11, &key,
                                                values.data(), &place));
    }
}

/// Many small updates add up. Rounding to nearest would leave the value
/// unchanged; the mean of this walk equals the sum of its steps, within its
/// standard deviation.
TYPED_TEST(RoundingTest, SmallUpdatesAddUp) {
  constexpr int64_t width = 4096, updates = 400;
  const int64_t key = 11;
  std::vector<TypeParam> row(width, TypeParam(1.0f));
  std::vector<float> values(width);
  void *place = row.data();
  const float step = 1e-5f;
  ASSERT_EQ(TypeParam(1.0f + step).bits, TypeParam(1.0f).bits);
  for (int64_t update = 1; update <= updates; ++update) {
    for (int64_t e = 0; e < width; ++e)
      values[e] = float(row[e]) + step;
    pdlabi::roundRows<TypeParam>({7, 9, update}, 1, width, width, &key,
                                 values.data(), &place);
  }
  double sum = 0;
  for (const TypeParam &number : row)
    sum += double(float(number)) - 1.0;
  const double expected = updates * double(step);
  // The variance of an update is at most the step times the distance of
  // numbers.
  const double distance =
      float(ofBits<TypeParam>(TypeParam(1.0f).bits + 1)) - 1;
  const double deviation = std::sqrt(updates * step * distance / width);
  EXPECT_NEAR(sum / width, expected, 5 * deviation);
}

} // namespace
