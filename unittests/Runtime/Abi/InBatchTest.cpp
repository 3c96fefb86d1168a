//===- InBatchTest.cpp - Rows of a batch as negatives ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Abi/Worker.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>
#include <vector>

using namespace pdlrt;

namespace {

/// A batch with its losses and gradients, computed slowly and by PDL.
struct Batch {
  int64_t count, width;
  bool corrected, masked;
  std::vector<double> users, items, correction, cotangent;
  std::vector<int64_t> ids;

  Batch(int64_t count, int64_t width, bool corrected, bool masked)
      : count(count), width(width), corrected(corrected), masked(masked) {
    std::mt19937 random(unsigned(count * 7 + width));
    auto fill = [&](std::vector<double> &values, int64_t size) {
      for (int64_t i = 0; i < size; ++i)
        values.push_back(double(random() % 2001) / 1000 - 1);
    };
    fill(users, count * width);
    fill(items, count * width);
    fill(correction, count);
    fill(cotangent, count);
    for (int64_t i = 0; i < count; ++i)
      ids.push_back(int64_t(random() % 40));
  }

  double score(int64_t i, int64_t j) const {
    if (masked && i != j && ids[size_t(i)] == ids[size_t(j)])
      return -INFINITY;
    double sum = corrected ? -correction[size_t(j)] : 0.0;
    for (int64_t k = 0; k < width; ++k)
      sum += users[size_t(i * width + k)] * items[size_t(j * width + k)];
    return sum;
  }
  double logSumExp(int64_t i) const {
    double sum = 0;
    for (int64_t j = 0; j < count; ++j)
      sum += std::exp(score(i, j));
    return std::log(sum);
  }
};

template <typename T> void check(const Batch &batch, int32_t numerics) {
  constexpr int32_t type = sizeof(T) == sizeof(float) ? PDL_F32 : PDL_F64;
  const double tolerance = sizeof(T) == sizeof(float) ? 2e-5 : 1e-12;
  Worker worker;
  auto converted = [](const std::vector<double> &values) {
    return std::vector<T>(values.begin(), values.end());
  };
  const std::vector<T> users = converted(batch.users);
  const std::vector<T> items = converted(batch.items);
  const std::vector<T> correction = converted(batch.correction);
  const std::vector<T> cotangent = converted(batch.cotangent);
  const T *corrections = batch.corrected ? correction.data() : nullptr;
  const int64_t *ids = batch.masked ? batch.ids.data() : nullptr;
  std::vector<T> scratch(size_t(PDL_IN_BATCH_ROWS * batch.count));
  std::vector<T> sums(size_t(batch.count));
  pdlrt_in_batch_log_sum_exp(&worker, type, numerics, batch.count, batch.width,
                             users.data(), items.data(), corrections, ids,
                             scratch.data(), sums.data());
  for (int64_t i = 0; i < batch.count; ++i)
    ASSERT_NEAR(double(sums[size_t(i)]), batch.logSumExp(i), tolerance) << i;
  std::vector<double> weights(size_t(batch.count * batch.count));
  for (int64_t i = 0; i < batch.count; ++i) {
    const double sum = batch.logSumExp(i);
    for (int64_t j = 0; j < batch.count; ++j)
      weights[size_t(i * batch.count + j)] =
          batch.cotangent[size_t(i)] * std::exp(batch.score(i, j) - sum);
  }
  for (const int32_t side : {PDL_SIDE_USERS, PDL_SIDE_ITEMS}) {
    std::vector<T> out(size_t(batch.count * batch.width));
    pdlrt_in_batch_gradient(&worker, type, numerics, side, batch.count,
                            batch.width, users.data(), items.data(),
                            corrections, ids, sums.data(), cotangent.data(),
                            scratch.data(), out.data());
    const std::vector<double> &others =
        side == PDL_SIDE_USERS ? batch.items : batch.users;
    for (int64_t i = 0; i < batch.count; ++i)
      for (int64_t k = 0; k < batch.width; ++k) {
        double expected = 0;
        for (int64_t j = 0; j < batch.count; ++j)
          expected +=
              weights[size_t(side == PDL_SIDE_USERS ? i * batch.count + j
                                                    : j * batch.count + i)] *
              others[size_t(j * batch.width + k)];
        ASSERT_NEAR(double(out[size_t(i * batch.width + k)]), expected,
                    tolerance)
            << side << " " << i << " " << k;
      }
  }
}

TEST(InBatch, EqualsTheSlowWay) {
  // Test one sample, less than a block, one block, and a block with a part of
  // another one.
  for (const int64_t count : {1, 5, 128, 300})
    for (const bool corrected : {false, true})
      for (const bool masked : {false, true}) {
        const Batch batch(count, 9, corrected, masked);
        check<double>(batch, PDL_NUMERICS_STRICT);
        check<float>(batch, PDL_NUMERICS_STRICT);
        check<float>(batch, PDL_NUMERICS_FAST);
      }
}

TEST(InBatch, LargeScoresDoNotOverflow) {
  Worker worker;
  const std::vector<float> users = {1000, 1000}, items = {1000, -1000};
  std::vector<float> scratch(size_t(PDL_IN_BATCH_ROWS) * 2), sums(2);
  pdlrt_in_batch_log_sum_exp(&worker, PDL_F32, PDL_NUMERICS_STRICT, 2, 1,
                             users.data(), items.data(), nullptr, nullptr,
                             scratch.data(), sums.data());
  EXPECT_EQ(sums, (std::vector<float>{1e6f, 1e6f}));
}

} // namespace
