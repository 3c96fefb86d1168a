//===- EventSummaryTest.cpp - Tests of values for TensorBoard -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EventSummary.h"

#include "Data/WireFormat.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace pdlrt;

namespace {

using Fields = std::multimap<uint64_t, WireReader::Field>;

/// Returns the fields of a message.
Fields fieldsOf(std::string_view message) {
  WireReader reader(message);
  Fields fields;
  for (WireReader::Field field; reader.next(field);)
    fields.emplace(field.number, field);
  EXPECT_FALSE(reader.isDamaged());
  return fields;
}

/// Returns the values of a summary by tag.
std::map<std::string, Fields> valuesOf(const EventSummary &summary) {
  std::map<std::string, Fields> values;
  for (const auto &[number, field] : fieldsOf(summary.message())) {
    EXPECT_EQ(number, 1u);
    Fields fields = fieldsOf(field.bytes);
    values.emplace(fields.find(1)->second.bytes, std::move(fields));
  }
  return values;
}

double realOf(const Fields &fields, uint64_t number) {
  return std::bit_cast<double>(fields.find(number)->second.integer);
}

template <typename T>
std::vector<T> packedIn(const Fields &fields, uint64_t number) {
  const std::string_view bytes = fields.find(number)->second.bytes;
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

} // namespace

TEST(EventSummary, HasTheNumbersOfFigures) {
  EventSummary summary;
  summary.addFigures("test", {{"loss", 0.5},
                              {"has_ended", true},
                              {"samples", 12},
                              {"metrics", {{"auc", 0.75}, {"gauc", NAN}}},
                              {"bad", nullptr}});
  const std::map<std::string, Fields> values = valuesOf(summary);
  ASSERT_EQ(values.size(), 3u);
  for (const auto &[tag, expected] :
       std::map<std::string, float>{{"test/loss", 0.5f},
                                    {"test/samples", 12},
                                    {"test/metrics/auc", .75}})
    EXPECT_EQ(
        std::bit_cast<float>(uint32_t(values.at(tag).find(2)->second.integer)),
        expected);
}

TEST(EventSummary, CountsValuesInBuckets) {
  EventSummary summary;
  const double values[] = {0, 30, 30, 14.5, NAN, INFINITY};
  summary.addHistogram("h", values);
  const std::map<std::string, Fields> all = valuesOf(summary);
  const Fields histogram = fieldsOf(all.at("h").find(5)->second.bytes);
  EXPECT_EQ(realOf(histogram, 1), 0);
  EXPECT_EQ(realOf(histogram, 2), 30);
  EXPECT_EQ(realOf(histogram, 3), 4);
  EXPECT_EQ(realOf(histogram, 4), 74.5);
  EXPECT_EQ(realOf(histogram, 5), 1800 + 14.5 * 14.5);
  const auto counts = packedIn<double>(histogram, 7);
  ASSERT_EQ(counts.size(), 30u);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[14], 1);
  EXPECT_EQ(counts[29], 2);
  EXPECT_EQ(packedIn<double>(histogram, 6)[29], 30);
}

TEST(EventSummary, CountsEqualValues) {
  EventSummary summary;
  const double values[] = {2, 2, 2};
  summary.addHistogram("h", values);
  const std::map<std::string, Fields> all = valuesOf(summary);
  const Fields histogram = fieldsOf(all.at("h").find(5)->second.bytes);
  EXPECT_EQ(packedIn<double>(histogram, 7)[0], 3);
  EXPECT_EQ(packedIn<double>(histogram, 6)[29], 2);
}

TEST(EventSummary, CountsExtremeValues) {
  EventSummary summary;
  // Their difference is not finite.
  const double values[] = {-1e308, 0, 1e308};
  summary.addHistogram("h", values);
  const std::map<std::string, Fields> all = valuesOf(summary);
  const Fields histogram = fieldsOf(all.at("h").find(5)->second.bytes);
  const auto limits = packedIn<double>(histogram, 6);
  const auto counts = packedIn<double>(histogram, 7);
  EXPECT_EQ(limits[14], 0);
  EXPECT_EQ(limits[29], 1e308);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[15], 1);
  EXPECT_EQ(counts[29], 1);
}

TEST(EventSummary, LeavesOutEmptyHistograms) {
  EventSummary summary;
  const double values[] = {NAN};
  summary.addHistogram("h", values);
  summary.addHistogram("none", std::span<const double>());
  EXPECT_TRUE(summary.isEmpty());
}

TEST(EventSummary, ComputesPrecisionAndRecall) {
  EventSummary summary;
  // With two buckets, predictions below and above 1/2. 3 of 4 negatives are
  // below, and 5 of 6 positives above.
  const double buckets[] = {3, 1, 1, 5};
  summary.addPrecisionRecall("curve", buckets);
  const std::map<std::string, Fields> all = valuesOf(summary);
  const Fields tensor = fieldsOf(all.at("curve").find(8)->second.bytes);
  const auto numbers = packedIn<float>(tensor, 5);
  constexpr size_t thresholds = 201;
  ASSERT_EQ(numbers.size(), 6 * thresholds);
  const auto column = [&](size_t threshold) {
    std::vector<float> column;
    for (size_t row = 0; row < 6; ++row)
      column.push_back(numbers[row * thresholds + threshold]);
    return column;
  };
  // True and false positives, true and false negatives, precision, recall.
  EXPECT_EQ(column(0), (std::vector<float>{6, 4, 0, 0, 0.6f, 1}));
  EXPECT_EQ(column(150),
            (std::vector<float>{5, 1, 3, 1, float(5.0 / 6), float(5.0 / 6)}));
}
