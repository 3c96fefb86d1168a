//===- FiniteTest.cpp - Checks for NaN and infinity -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"

#include <limits>

using namespace pdltest;

namespace {

template <typename T> class FiniteTest : public testing::Test {
protected:
  std::mt19937 random{17};

  void expectFound(const std::vector<T> &values, int32_t want) {
    const auto count = static_cast<int64_t>(values.size());
    for (int64_t threads : threadCounts)
      for (Fence fence : fences) {
        const auto source = Fenced<T>::input(values, fence);
        const Fenced<int32_t> found(std::vector<int32_t>{0}, fence);
        runThreads(threads, random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(T, check_finite)
          (count, source.data(), found.data(), first, stride);
        });
        EXPECT_EQ(found.values().front(), want);
      }
  }
};
TYPED_TEST_SUITE(FiniteTest, ElementTypes);

TYPED_TEST(FiniteTest, FindsOneOfMany) {
  using Limits = std::numeric_limits<TypeParam>;
  for (size_t count : {1, 2, 63, 1000}) {
    std::vector<TypeParam> values(count, Limits::max());
    values.front() = Limits::denorm_min();
    this->expectFound(values, 0);
    for (TypeParam bad :
         {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()})
      for (size_t place : {size_t(0), count / 2, count - 1}) {
        std::vector<TypeParam> with = values;
        with[place] = bad;
        this->expectFound(with, 1);
      }
  }
}

TYPED_TEST(FiniteTest, FindsNothingInNothing) { this->expectFound({}, 0); }

} // namespace
