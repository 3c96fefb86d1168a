//===- PhiloxTest.cpp - Random numbers and initial values ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/philox.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

/// Known answers that the authors of Philox publish with Random123.
TEST(PhiloxTest, KnownAnswers) {
  struct Answer {
    std::array<uint32_t, 4> counter;
    uint64_t key;
    std::array<uint32_t, 4> result;
  };
  const Answer responses[] = {
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       0xffffffffffffffff,
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       0x299f31d0a4093822,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (const Answer &response : responses) {
    const auto &c = response.counter;
    const pdlabi::PhiloxBlock block =
        pdlabi::philox({{c[0], c[1], c[2], c[3]}}, response.key);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(block.words[i], response.result[static_cast<size_t>(i)]);
  }
}

std::vector<float> initialValues(const pdl_initializer &initializer,
                                 uint64_t seed, uint64_t symbol, uint64_t key,
                                 int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  pdlabi::fillInitialValues(initializer, seed, symbol, key, count,
                            values.data());
  return values;
}

TEST(InitialValuesTest, CounterLayoutIsAsDocumented) {
  const uint64_t seed = 0x299f31d0a4093822, key = 0x85a308d3243f6a88;
  const uint64_t symbol = 0x1122334403707344;
  const pdl_initializer uniform = {PDL_INIT_UNIFORM, -1, 3};
  const std::vector<float> values =
      initialValues(uniform, seed, symbol, key, 7);
  for (uint32_t element = 0; element < 7; ++element) {
    const pdlabi::PhiloxBlock block = pdlabi::philox(
        {{0x243f6a88, 0x85a308d3, element / 4, 0x03707344}}, seed);
    const double unit = (block.words[element % 4] >> 8) / 16777216.0;
    EXPECT_EQ(values[element], static_cast<float>(-1 + 4 * unit));
  }
}

TEST(InitialValuesTest, EveryPartOfTheKeyMatters) {
  const pdl_initializer uniform = {PDL_INIT_UNIFORM, 0, 1};
  const std::vector<float> base = initialValues(uniform, 1, 2, 3, 4);
  EXPECT_EQ(base, initialValues(uniform, 1, 2, 3, 4));
  EXPECT_NE(base, initialValues(uniform, 9, 2, 3, 4));
  EXPECT_NE(base, initialValues(uniform, 1 | uint64_t(1) << 40, 2, 3, 4));
  EXPECT_NE(base, initialValues(uniform, 1, 9, 3, 4));
  EXPECT_NE(base, initialValues(uniform, 1, 2, 9, 4));
  EXPECT_NE(base, initialValues(uniform, 1, 2, 3 | uint64_t(1) << 63, 4));
}

TEST(InitialValuesTest, ConstantAndWidenedValues) {
  const pdl_initializer constant = {PDL_INIT_CONSTANT, 0.1, 0};
  EXPECT_EQ(initialValues(constant, 1, 2, 3, 2),
            (std::vector<float>{0.1f, 0.1f}));
  const pdl_initializer normal = {PDL_INIT_NORMAL, 0.5, 0.01};
  const std::vector<float> narrow = initialValues(normal, 1, 2, 3, 9);
  double wide[9];
  pdlabi::fillInitialValues(normal, 1, 2, 3, 9, wide);
  for (int i = 0; i < 9; ++i)
    EXPECT_EQ(wide[i], static_cast<double>(narrow[static_cast<size_t>(i)]));
}

TEST(InitialValuesTest, UniformStaysInsideAndIsUniform) {
  // Near 1, f32 is coarser below the end than 24 bits of [1, 2) can hit.
  for (const auto &[a, b] : {std::pair{1.0, 2.0}, std::pair{-1.0, 0.0},
                             std::pair{-2.0, -1.0}, std::pair{-0.01, 0.01}}) {
    const pdl_initializer uniform = {PDL_INIT_UNIFORM, a, b};
    const pdlabi::PhiloxBlock last = {{0xffffffff, 0, 0, 0}};
    const float top = pdlabi::initialValueOfBlock(uniform, last, 0);
    EXPECT_LT(top, static_cast<float>(b));
    EXPECT_GE(pdlabi::initialValueOfBlock(uniform, last, 1),
              static_cast<float>(a));
    const std::vector<float> values = initialValues(uniform, 5, 6, 7, 100000);
    int counts[10] = {};
    for (float value : values) {
      ASSERT_GE(value, static_cast<float>(a));
      ASSERT_LT(value, static_cast<float>(b));
      ++counts[std::min(9, static_cast<int>(10 * (value - a) / (b - a)))];
    }
    for (int count : counts)
      EXPECT_NEAR(count, 10000, 5 * std::sqrt(9000.0));
  }
}

TEST(InitialValuesTest, NormalIsBoxMuller) {
  const pdl_initializer normal = {PDL_INIT_NORMAL, 2, 3};
  const int64_t count = 200000;
  const std::vector<float> values = initialValues(normal, 5, 6, 7, count);
  double sum = 0, squares = 0, fourth = 0;
  for (int64_t i = 0; i < count; ++i) {
    const pdlabi::PhiloxBlock block =
        pdlabi::philox({{7, 0, static_cast<uint32_t>(i / 4), 6}}, 5);
    const int pair = static_cast<int>(i % 4) & ~1;
    const double u = ((block.words[pair] >> 8) + 1.0) / 16777216.0;
    const double angle = 2 * M_PI * (block.words[pair + 1] >> 8) / 16777216.0;
    const double expected = std::sqrt(-2 * std::log(u)) *
                            (i % 2 ? std::sin(angle) : std::cos(angle));
    const double standard = (values[static_cast<size_t>(i)] - 2.0) / 3;
    ASSERT_NEAR(standard, expected, 2e-6);
    sum += standard;
    squares += standard * standard;
    fourth += standard * standard * standard * standard;
  }
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2.0 / count));
  EXPECT_NEAR(fourth / count, 3, 5 * std::sqrt(96.0 / count));
}

TEST(InitialValuesTest, TruncatedNormalIsItsInverse) {
  const pdl_initializer truncated = {PDL_INIT_TRUNCATED_NORMAL, 2, 3};
  const double inside = std::erf(M_SQRT2);
  // Distribution function of the standard normal between -2 and 2.
  const auto below = [&](double z) {
    return (std::erf(z / M_SQRT2) + inside) / (2 * inside);
  };
  // Each value is the quantile of its own word.
  const int64_t count = 100000;
  std::vector<float> values = initialValues(truncated, 5, 6, 7, count);
  for (int64_t i = 0; i < count; ++i) {
    const pdlabi::PhiloxBlock block =
        pdlabi::philox({{7, 0, static_cast<uint32_t>(i / 4), 6}}, 5);
    const double middle = ((block.words[i % 4] >> 8) + 0.5) / 16777216.0;
    ASSERT_NEAR(below((values[static_cast<size_t>(i)] - 2.0) / 3), middle,
                1e-7);
  }
  // Kolmogorov-Smirnov distance, with the quantile of 1e-6.
  std::sort(values.begin(), values.end());
  double distance = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double share = below((values[static_cast<size_t>(i)] - 2.0) / 3);
    distance = std::max({distance, share - static_cast<double>(i) / count,
                         static_cast<double>(i + 1) / count - share});
  }
  EXPECT_LT(distance, 2.7 / std::sqrt(count));
  // The extremes are inside, as far from the mean as 2^-25 is from 0.
  for (const auto &[word, sign] :
       {std::pair{0u, -1.0}, std::pair{0xffffffffu, 1.0}}) {
    const double extreme = pdlabi::truncatedNormalOfWord(word);
    EXPECT_LT(sign * extreme, 2);
    EXPECT_NEAR(below(-sign * extreme) * 16777216.0, 0.5, 1e-2);
    EXPECT_EQ(extreme, -pdlabi::truncatedNormalOfWord(~word));
  }
  // Values near the mean are not lost in a sum of unequal magnitudes.
  const double smallest = pdlabi::truncatedNormalOfWord(0x80000000u);
  EXPECT_NEAR(smallest, inside * 0x1p-24 / 2 * std::sqrt(2 * M_PI), 1e-15);
}

} // namespace
