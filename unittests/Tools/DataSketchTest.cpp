//===- DataSketchTest.cpp - Summaries of pdl-data -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sketch.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace {

TEST(DataSketchTest, DistinctValuesAreExactFirstAndCloseLater) {
  for (const int64_t count : {0, 1, 2048, 2049, 20000, 300000}) {
    DistinctCounter counter;
    for (int64_t i = 0; i < count; ++i)
      for (int repeat = 0; repeat < 2; ++repeat)
        counter.add(hashOfValue("value " + std::to_string(i)));
    EXPECT_EQ(counter.isExact(), count <= int64_t(DistinctCounter::exactLimit));
    if (counter.isExact())
      EXPECT_EQ(counter.count(), count);
    else
      EXPECT_NEAR(double(counter.count()), double(count),
                  3 * DistinctCounter::relativeError * double(count));
  }
}

TEST(DataSketchTest, FrequentValuesAreWithinTheirError) {
  FrequentTexts frequent;
  std::map<std::string, int64_t> counts;
  uint64_t state = 1;
  constexpr int64_t values = 200000;
  for (int64_t i = 0; i < values; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    // Value k has a share of about 1 / k.
    const double uniform = double(state >> 11) * 0x1p-53;
    const std::string text =
        std::to_string(int64_t(std::exp(uniform * std::log(50000.0))));
    frequent.add(text);
    ++counts[text];
  }
  EXPECT_LE(frequent.size(), FrequentTexts::maxCounters);
  EXPECT_GT(frequent.error(), 0);
  // The median of 1,024 counters is at most a share of 1 / 512.
  EXPECT_LE(frequent.error(), values / 512);
  for (const auto &[text, count] : frequent.top(FrequentTexts::maxCounters)) {
    EXPECT_LE(count, counts[text]);
    EXPECT_GE(count + frequent.error(), counts[text]);
  }
  const auto most = std::ranges::max_element(
      counts, {}, [](const auto &entry) { return entry.second; });
  EXPECT_EQ(frequent.top(1).at(0).first, most->first);
}

TEST(DataSketchTest, FewValuesAreCountedExactly) {
  FrequentTexts frequent;
  for (int i = 0; i < 3000; ++i)
    frequent.add(std::to_string(i % 1000));
  EXPECT_EQ(frequent.error(), 0);
  for (const auto &[text, count] : frequent.top(1000))
    EXPECT_EQ(count, 3);
  EXPECT_EQ(frequent.top(2).at(0).first, "0");
}

TEST(DataSketchTest, NumbersHaveTheirRangeAndASample) {
  NumberSummary numbers;
  constexpr int64_t count = 100000;
  for (int64_t i = 0; i < count; ++i)
    numbers.add(double(i * 7919 % count));
  EXPECT_EQ(numbers.min(), 0);
  EXPECT_EQ(numbers.max(), count - 1);
  EXPECT_DOUBLE_EQ(numbers.mean(), (count - 1) / 2.0);
  const auto sample = numbers.sorted();
  ASSERT_EQ(sample.size(), NumberSummary::sampleSize);
  EXPECT_NEAR(sample[sample.size() / 2], count / 2.0, 0.04 * count);
  EXPECT_NEAR(sample[sample.size() / 10], count / 10.0, 0.03 * count);
}

} // namespace
