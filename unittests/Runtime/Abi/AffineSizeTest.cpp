//===- AffineSizeTest.cpp - Memory needed for a batch ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/AffineSize.h"

#include <gtest/gtest.h>
#include <limits>

using namespace pdlrt;

namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

/// Two fields with 5 and 7 elements, a lookup with 3 keys and 12 occurrences.
struct Counts {
  pdl_field_data fields[2] = {};
  pdl_lookup lookups[1] = {};
  Counts() {
    fields[0].value_count = 5;
    fields[1].value_count = 7;
    lookups[0].key_count = 3;
    lookups[0].occurrence_count = 12;
  }
  SizeCounts of(int64_t batch) const { return {batch, fields, lookups}; }
};

} // namespace

TEST(AffineSize, AddsAllParts) {
  const Counts counts;
  const int64_t perId[] = {1, 100}, perKey[] = {1000},
                perOccurrence[] = {10000};
  EXPECT_EQ(evaluate({}, counts.of(9)), 0);
  EXPECT_EQ(evaluate({64, 0, 0, nullptr, nullptr, nullptr}, counts.of(9)), 64);
  EXPECT_EQ(evaluate({64, 2, 0, nullptr, nullptr, nullptr}, counts.of(9)), 82);
  EXPECT_EQ(evaluate({64, 2, 4, nullptr, nullptr, nullptr}, counts.of(9)),
            64 + 18 + 4 * 81);
  EXPECT_EQ(evaluate({0, 0, 0, perId, nullptr, nullptr}, counts.of(9)), 705);
  EXPECT_EQ(evaluate({0, 0, 0, nullptr, perKey, nullptr}, counts.of(9)), 3000);
  EXPECT_EQ(evaluate({1, 0, 0, perId, perKey, perOccurrence}, counts.of(9)),
            1 + 705 + 3000 + 120000);
}

TEST(AffineSize, NoticesWhatItCannotHold) {
  const Counts counts;
  const int64_t tooMuch[] = {largest / 5 + 1, 0}, justFits[] = {largest / 5, 0};
  auto ofBatch = [&](int64_t perBatch, int64_t squared, int64_t batch) {
    return evaluate({0, perBatch, squared, nullptr, nullptr, nullptr},
                    counts.of(batch));
  };
  EXPECT_EQ(ofBatch(largest / 2, 0, 2), largest - 1);
  EXPECT_EQ(ofBatch(largest / 2 + 1, 0, 2), std::nullopt);
  EXPECT_EQ(ofBatch(0, 1, int64_t(1) << 31), int64_t(1) << 62);
  EXPECT_EQ(ofBatch(0, 2, int64_t(1) << 31), std::nullopt);
  // Either the square overflows, or its product with one batch.
  EXPECT_EQ(ofBatch(0, 1, int64_t(1) << 40), std::nullopt);
  EXPECT_EQ(ofBatch(0, largest / 2, 3), std::nullopt);
  EXPECT_EQ(evaluate({0, 0, 0, justFits, nullptr, nullptr}, counts.of(1)),
            largest / 5 * 5);
  EXPECT_EQ(evaluate({0, 0, 0, tooMuch, nullptr, nullptr}, counts.of(1)),
            std::nullopt);
  EXPECT_EQ(evaluate({largest, 1, 0, nullptr, nullptr, nullptr}, counts.of(1)),
            std::nullopt);
  EXPECT_EQ(evaluate({0, 0, 0, nullptr, tooMuch, tooMuch}, counts.of(1)),
            std::nullopt);
}

TEST(AffineSize, NoPartIsNegative) {
  const int64_t negative[] = {4, -1}, good[] = {4, 0};
  EXPECT_TRUE(isValid({1, 2, 3, good, good, good}, 2, 2));
  EXPECT_TRUE(isValid({1, 2, 3, nullptr, nullptr, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({-1, 0, 0, nullptr, nullptr, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({0, -1, 0, nullptr, nullptr, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({0, 0, -1, nullptr, nullptr, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({0, 0, 0, negative, nullptr, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({0, 0, 0, nullptr, negative, nullptr}, 2, 2));
  EXPECT_FALSE(isValid({0, 0, 0, nullptr, nullptr, negative}, 2, 2));
  EXPECT_TRUE(isValid({0, 0, 0, negative, negative, negative}, 1, 1));
}
