//===- AddTest.cpp - Sums of gradients ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"

using namespace pdltest;

namespace {

template <typename T> class AddTest : public testing::Test {
protected:
  std::mt19937 random{19};
};
TYPED_TEST_SUITE(AddTest, ElementTypes);

TYPED_TEST(AddTest, AddsEachNumberOnce) {
  using T = TypeParam;
  for (int64_t count : {0, 1, 31, 1000})
    for (Numbers kind : numbers) {
      const std::vector<T> values = anyNumbers<T>(count, kind, this->random);
      const std::vector<T> before = anyNumbers<T>(count, kind, this->random);
      std::vector<T> want(before);
      for (size_t i = 0; i < want.size(); ++i)
        want[i] = before[i] + values[i];
      for (int64_t threads : threadCounts)
        for (Fence fence : fences) {
          const auto source = Fenced<T>::input(values, fence);
          const Fenced<T> sum(before, fence);
          runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
            PDL_DEVICE_FUNCTION(T, add)
            (count, source.data(), sum.data(), first, stride);
          });
          expectSameBits<T>(sum.values(), want);
        }
    }
}

} // namespace
