//===- IdKernelsTest.cpp - Bucketize and crosses --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/status.h"

#include "xxhash.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace {

TEST(BucketizeTest, CountsBoundariesNotAboveTheValue) {
  const double boundaries[] = {18, 25, 30};
  const float values[] = {17.99f, 18.f, 24.f, 25.f, 30.f, 1e30f, -1e30f};
  int64_t out[7];
  pdlrt_bucketize(PDL_F32, 7, values, 3, boundaries, out);
  EXPECT_EQ(std::vector<int64_t>(out, out + 7),
            (std::vector<int64_t>{0, 1, 1, 2, 3, 3, 0}));
}

TEST(BucketizeTest, SearchAndCountAgreeAndNaNIsLast) {
  std::mt19937 random(7);
  for (int64_t size : {0, 1, 31, 32, 33, 200}) {
    std::vector<double> boundaries;
    for (int64_t i = 0; i < size; ++i)
      boundaries.push_back(static_cast<double>(random() % 100));
    std::sort(boundaries.begin(), boundaries.end());
    std::vector<double> values{std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};
    for (int i = 0; i < 300; ++i)
      values.push_back(static_cast<double>(random() % 210) / 2 - 2);
    std::vector<int64_t> out(values.size());
    pdlrt_bucketize(PDL_F64, static_cast<int64_t>(values.size()), values.data(),
                    size, boundaries.data(), out.data());
    EXPECT_EQ(out[0], size);
    for (size_t i = 1; i < values.size(); ++i)
      EXPECT_EQ(out[i], std::count_if(boundaries.begin(), boundaries.end(),
                                      [&](double b) { return b <= values[i]; }))
          << values[i] << " of " << size;
  }
}

TEST(CheckBagsTest, NamesTheFirstBagThatDiffers) {
  const int32_t splits[] = {0, 2, 2, 5}, same[] = {0, 2, 2, 5};
  const int32_t other[] = {0, 2, 3, 5};
  EXPECT_EQ(pdlrt_check_bags(3, splits, same), PDL_OK);
  EXPECT_EQ(pdlrt_check_bags(1, splits, other), PDL_OK);
  EXPECT_EQ(pdlrt_check_bags(0, splits, other), PDL_OK);
  EXPECT_EQ(pdlrt_check_bags(3, splits, other), PDL_INVALID_ARGUMENT);
  EXPECT_STREQ(pdlrt_last_error(),
               "bags that nn.same_bags joins differ in length: bag 1 of the "
               "batch has 0 values, and 1 in the other field; give both fields "
               "as many values in each row");
}

/// Returns xxh64 of the keys, written byte by byte.
int64_t crossOf(const std::vector<int64_t> &keys, uint64_t salt) {
  std::vector<unsigned char> bytes;
  for (int64_t key : keys)
    for (int shift = 0; shift < 64; shift += 8)
      bytes.push_back(
          static_cast<unsigned char>(static_cast<uint64_t>(key) >> shift));
  return static_cast<int64_t>(XXH64(bytes.data(), bytes.size(), salt));
}

TEST(CrossTest, HashesLittleEndianKeysInOperandOrder) {
  const int64_t a[] = {1, -2}, b[] = {3, std::numeric_limits<int64_t>::min()};
  const int64_t *operands[] = {a, b};
  int64_t out[2];
  pdlrt_cross(2, 2, operands, 42, out);
  EXPECT_EQ(out[0], crossOf({1, 3}, 42));
  EXPECT_EQ(out[1], crossOf({a[1], b[1]}, 42));
  EXPECT_NE(out[0], crossOf({3, 1}, 42));
  EXPECT_NE(out[0], crossOf({1, 3}, 43));
}

TEST(CrossTest, ManyOperandsGiveTheSameHash) {
  for (int32_t count : {1, 15, 16, 17, 40}) {
    std::vector<int64_t> keys(static_cast<size_t>(count));
    std::vector<const int64_t *> operands;
    for (int32_t i = 0; i < count; ++i) {
      keys[i] = 1000003 * i + 5;
      operands.push_back(&keys[i]);
    }
    int64_t out;
    pdlrt_cross(1, count, operands.data(), 9, &out);
    EXPECT_EQ(out, crossOf(keys, 9));
  }
}

TEST(CrossTest, RaggedCrossesAreTheProductTheLastOperandFastest) {
  const int64_t a[] = {1, 2, 3}, b[] = {10, 20, 30, 40};
  const int64_t c[] = {100, 200, 300};
  const int32_t aSplits[] = {0, 2, 2, 3}, bSplits[] = {0, 3, 4, 4};
  const int32_t cSplits[] = {0, 2, 3, 3};
  const int64_t *operands[] = {a, b, c};
  const int32_t *splits[] = {aSplits, bSplits, cSplits};
  // Bag 0 is 2 x 3 x 2; each other bag has an empty operand.
  ASSERT_EQ(pdlrt_cross_ragged_count(3, 3, splits), 12);
  std::vector<int64_t> out(12);
  std::vector<int32_t> outSplits(4, -1);
  pdlrt_cross_ragged(3, 3, operands, splits, 7, out.data(), outSplits.data());
  std::vector<int64_t> want;
  for (int64_t x : {1, 2})
    for (int64_t y : {10, 20, 30})
      for (int64_t z : {100, 200})
        want.push_back(crossOf({x, y, z}, 7));
  EXPECT_EQ(out, want);
  EXPECT_EQ(outSplits, (std::vector<int32_t>{0, 12, 12, 12}));
}

TEST(CrossTest, RaggedCountSaturates) {
  const int32_t wide[] = {0, std::numeric_limits<int32_t>::max()};
  const int32_t empty[] = {0, 0};
  const int32_t *huge[] = {wide, wide, wide};
  // In bytes this is still a valid size, which no machine has.
  EXPECT_EQ(pdlrt_cross_ragged_count(1, 3, huge), int64_t(1) << 56);
  const int32_t one[] = {0, 1}, two[] = {0, 2};
  const int32_t *most[] = {wide, one}, *tooMany[] = {wide, two};
  EXPECT_EQ(pdlrt_cross_ragged_count(1, 2, most),
            std::numeric_limits<int32_t>::max());
  EXPECT_EQ(pdlrt_cross_ragged_count(1, 2, tooMany), int64_t(1) << 56);
  const int32_t *none[] = {wide, wide, wide, empty};
  EXPECT_EQ(pdlrt_cross_ragged_count(1, 4, none), 0);
}

} // namespace
