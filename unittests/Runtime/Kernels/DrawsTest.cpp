//===- DrawsTest.cpp - Random numbers of samples --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/draws.h"
#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/status.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

/// Samples with their numbers.
struct Draws {
  std::vector<int64_t> samples;
  pdl_draws draws;

  explicit Draws(std::vector<int64_t> numbers, uint64_t seed = 5,
                 int64_t epoch = 2)
      : samples(std::move(numbers)),
        draws{seed, epoch, int64_t(samples.size()), samples.data()} {}
};

std::vector<float> dropRows(const Draws &draws, int64_t width, double rate,
                            const std::vector<int32_t> &splits = {}) {
  const size_t rows =
      splits.empty() ? draws.samples.size() : size_t(splits.back());
  std::vector<float> values(rows * size_t(width));
  std::iota(values.begin(), values.end(), 1.0f);
  std::vector<float> out(values.size(), -1.0f);
  pdlrt_dropout(&draws.draws, 7, PDL_F32, rate, width,
                splits.empty() ? 0 : int64_t(splits.size()) - 1,
                splits.empty() ? nullptr : splits.data(), values.data(),
                out.data());
  return out;
}

std::vector<int64_t> drawIds(const Draws &draws, int32_t distribution,
                             int64_t count, int64_t first, int64_t idsEnd,
                             const double *table = nullptr) {
  std::vector<int64_t> out(draws.samples.size() * size_t(count));
  pdlrt_sample(&draws.draws, 8, distribution, count, first, idsEnd, table,
               out.data());
  return out;
}

TEST(Dropout, IsWhatTheHeaderSays) {
  const Draws draws({3, int64_t(1) << 40, 11});
  const int64_t width = 131; // more than the blocks drawn at once
  const std::vector<float> out = dropRows(draws, width, 0.3);
  const pdlabi::Dropout<float> dropout(0.3);
  const uint64_t key = pdlabi::drawKey(5, 2);
  for (size_t i = 0; i < draws.samples.size(); ++i) {
    std::vector<float> row(width), expected(width);
    std::iota(row.begin(), row.end(), float(int64_t(i) * width + 1));
    pdlabi::dropElements(dropout, key, 7, draws.samples[i], width, row.data(),
                         expected.data());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(),
                           out.begin() + int64_t(i) * width))
        << i;
  }
}

TEST(Dropout, ASampleDoesNotDependOnItsBatch) {
  const std::vector<float> together = dropRows(Draws({4, 9}), 50, 0.5);
  const std::vector<float> swapped = dropRows(Draws({9, 4}), 50, 0.5);
  for (size_t j = 0; j < 50; ++j) {
    EXPECT_EQ(together[j] == 0, swapped[50 + j] == 0);
    EXPECT_EQ(together[50 + j] == 0, swapped[j] == 0);
  }
}

TEST(Dropout, DependsOnSeedEpochAndSample) {
  const std::vector<float> one = dropRows(Draws({4}), 64, 0.5);
  EXPECT_NE(one, dropRows(Draws({5}), 64, 0.5));
  EXPECT_NE(one, dropRows(Draws({4}, 6), 64, 0.5));
  EXPECT_NE(one, dropRows(Draws({4}, 5, 3), 64, 0.5));
  EXPECT_EQ(one, dropRows(Draws({4}), 64, 0.5));
}

TEST(Dropout, DropsAsOftenAsItSays) {
  std::vector<int64_t> samples(1000);
  std::iota(samples.begin(), samples.end(), 0);
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    const std::vector<float> out = dropRows(Draws(samples), 100, rate);
    const double dropped = double(std::count(out.begin(), out.end(), 0.0f));
    // The tolerance is five standard deviations of a binomial distribution.
    EXPECT_NEAR(dropped, 1e5 * rate,
                5 * std::sqrt(1e5 * rate * (1 - rate)) + 0.5);
  }
}

TEST(Dropout, RowsOfBagsAreThoseOfTheirSample) {
  // Two samples of two bags each: three rows and none; two rows and one.
  const std::vector<float> rows =
      dropRows(Draws({4, 9}), 10, 0.5, {0, 3, 3, 5, 6});
  const std::vector<float> whole = dropRows(Draws({4, 9}), 30, 0.5);
  for (size_t j = 0; j < 60; ++j)
    EXPECT_EQ(rows[j] == 0, whole[j] == 0) << j;
}

TEST(Sample, StaysWithinItsRange) {
  std::vector<int64_t> samples(500);
  std::iota(samples.begin(), samples.end(), 0);
  for (const int32_t distribution :
       {PDL_DISTRIBUTION_UNIFORM, PDL_DISTRIBUTION_LOG_UNIFORM})
    for (const int64_t size : {1, 2, 7, 1 << 20}) {
      for (const int64_t id :
           drawIds(Draws(samples), distribution, 3, -5, size - 5)) {
        EXPECT_GE(id, -5);
        EXPECT_LT(id, size - 5);
      }
    }
}

/// The definition, with the power function of schedules.
uint64_t logUniformByDefinition(uint64_t size, uint64_t bits) {
  const double unit = double(bits >> 11) * 0x1p-53;
  const double power = pdlabi::pow(double(size) + 1, unit);
  return std::min(uint64_t(power) - 1, size - 1);
}

TEST(Sample, LogUniformNumbersFollowTheirDefinition) {
  std::mt19937_64 random(3);
  for (uint64_t size : {uint64_t(1), uint64_t(2), uint64_t(400), uint64_t(1023),
                        uint64_t(1) << 40, ~uint64_t(0)}) {
    const pdlabi::LogUniform draw(size);
    for (uint64_t bits : {uint64_t(0), uint64_t(1) << 11, ~uint64_t(0)})
      EXPECT_EQ(draw(bits), logUniformByDefinition(size, bits)) << size;
    for (int i = 0; i < 20000; ++i) {
      const uint64_t bits = random();
      ASSERT_EQ(draw(bits), logUniformByDefinition(size, bits)) << size;
    }
    // Draws next to the border between two numbers.
    for (uint64_t k = 1; k < std::min<uint64_t>(size, 1000); ++k) {
      const auto border = uint64_t(std::log2(double(k) + 1) /
                                   std::log2(double(size) + 1) * 0x1p53);
      for (uint64_t near = border - 3; near <= border + 3; ++near)
        ASSERT_EQ(draw(near << 11), logUniformByDefinition(size, near << 11))
            << size << " " << k;
    }
  }
}

TEST(Sample, HasTheProbabilitiesThatItSays) {
  std::vector<int64_t> samples(20000);
  std::iota(samples.begin(), samples.end(), 0);
  const int64_t size = 10;
  const int64_t seen[size] = {40, 1000, 3, 70, 70, 9, 500, 33, 2, 12};
  std::vector<double> table(2 * size), ofCounts(size);
  pdlabi::writeDrawTable(seen, size, 0.5, table.data());
  pdlabi::logProbabilitiesOfCounts(seen, size, 0.5, ofCounts.data());
  for (const int32_t distribution :
       {PDL_DISTRIBUTION_UNIFORM, PDL_DISTRIBUTION_LOG_UNIFORM,
        PDL_DISTRIBUTION_COUNTS}) {
    std::vector<int64_t> counts(size), ids(size);
    for (const int64_t id : drawIds(Draws(samples), distribution, 5, 100,
                                    100 + size, table.data()))
      ++counts[size_t(id - 100)];
    std::iota(ids.begin(), ids.end(), 100);
    std::vector<double> logarithms(size);
    ASSERT_EQ(pdlrt_log_probability(PDL_F64, distribution, 100, 100 + size,
                                    ofCounts.data(), size, ids.data(),
                                    logarithms.data()),
              PDL_OK);
    double sum = 0, square = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      const double expected = 1e5 * std::exp(logarithms[i]);
      sum += std::exp(logarithms[i]);
      const double difference = double(counts[i]) - expected;
      square += difference * difference / expected;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    // The 1e-5 quantile of chi-square with nine degrees of freedom is 38.
    EXPECT_LT(square, 38);
  }
}

TEST(Sample, FindsTheFirstSumAboveADraw) {
  // Start the search anywhere, with draws at and near the borders.
  for (uint64_t size = 1; size < 40; ++size)
    for (uint64_t kind = 0; kind < 4; ++kind) {
      std::vector<int64_t> counts(size);
      for (uint64_t k = 0; k < size; ++k)
        counts[k] = kind == 0   ? 1
                    : kind == 1 ? int64_t(k == size / 2)
                    : kind == 2 ? int64_t(k * k % 5)
                                : int64_t(1000000 / (k + 1));
      counts[size / 2] += kind == 2;
      std::vector<double> table(2 * size);
      pdlabi::writeDrawTable(counts.data(), size, 0.75, table.data());
      const auto end = table.begin() + ptrdiff_t(size);
      for (uint64_t part = 0; part < size; ++part)
        for (uint64_t near = 0; near < 9; ++near) {
          const uint64_t bits =
              part * (~uint64_t(0) / size) + (near - 4) * 0x400;
          const uint64_t number = pdlabi::drawnNumber(PDL_DISTRIBUTION_COUNTS,
                                                      size, table.data(), bits);
          const auto above = std::upper_bound(
              table.begin(), end, pdlabi::shareOf(bits, *(end - 1)));
          EXPECT_EQ(ptrdiff_t(number), above - table.begin());
          EXPECT_GT(counts[number], 0) << size << " " << bits;
        }
    }
}

TEST(Sample, NeverDrawsWhatWasNotCounted) {
  // The largest draw, with sums whose products round up or down.
  for (int64_t count = 1; count < 2000; ++count) {
    const int64_t counts[] = {0, count, 0};
    double table[6];
    pdlabi::writeDrawTable(counts, 3, 0.75, table);
    for (const uint64_t bits : {uint64_t(0), ~uint64_t(0)})
      EXPECT_EQ(pdlabi::drawnNumber(PDL_DISTRIBUTION_COUNTS, 3, table, bits),
                1u)
          << count;
  }
}

TEST(Sample, PowersOfCountsAreWhatTheySay) {
  const int64_t counts[] = {16, 0, 81, 1};
  double sums[4];
  pdlabi::sumWeights(counts, 4, 1, sums);
  EXPECT_THAT(sums, testing::ElementsAre(16, 16, 97, 98));
  pdlabi::sumWeights(counts, 4, 0.75, sums);
  EXPECT_THAT(sums, testing::ElementsAre(8, 8, 35, 36));
  pdlabi::sumWeights(counts, 4, 0, sums);
  EXPECT_THAT(sums, testing::ElementsAre(1, 1, 2, 3));
}

TEST(LogProbability, RefusesWhatIsNeverDrawn) {
  const int64_t ids[] = {3, 12};
  float out[2];
  ASSERT_EQ(pdlrt_log_probability(PDL_F32, PDL_DISTRIBUTION_UNIFORM, 3, 12,
                                  nullptr, 2, ids, out),
            PDL_INVALID_ARGUMENT);
  EXPECT_THAT(pdlrt_last_error(),
              testing::HasSubstr("meets the id 12, which nn.sample never draws "
                                 "from 3 below 12"));
  const int64_t counts[] = {5, 0};
  double table[2];
  pdlabi::logProbabilitiesOfCounts(counts, 2, 0.75, table);
  const int64_t seen[] = {11, 12};
  ASSERT_EQ(pdlrt_log_probability(PDL_F32, PDL_DISTRIBUTION_COUNTS, 11, 13,
                                  table, 2, seen, out),
            PDL_INVALID_ARGUMENT);
  EXPECT_EQ(out[0], 0);
  EXPECT_THAT(pdlrt_last_error(),
              testing::HasSubstr("meets the id 12, whose count is 0, so that "
                                 "nn.sample never draws it; give it a count of "
                                 "1, or take the id out of the data"));
}

} // namespace
