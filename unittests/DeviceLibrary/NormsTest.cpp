//===- NormsTest.cpp - Squared norms of gradients -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"
#include "pdlabi/norm.h"

#include <bit>

using namespace pdltest;

namespace {

template <typename T> class NormsTest : public testing::Test {
protected:
  std::mt19937 random{29};
};
TYPED_TEST_SUITE(NormsTest, ElementTypes);

TYPED_TEST(NormsTest, HasTheBitsOfTheHost) {
  using T = TypeParam;
  for (Numbers kind : numbers)
    for (int64_t unit : {1, 15, 16, 64, 1000})
      for (int64_t count : {1, 17, 64, 999, 3001}) {
        const double weight = 3.0000001;
        const std::vector<T> values = anyNumbers<T>(count, kind, this->random);
        const int64_t units = (count + unit - 1) / unit;
        for (int64_t threads : threadCounts)
          for (Fence fence : fences) {
            const auto source = Fenced<T>::input(values, fence);
            const Fenced<double> lanes(
                std::vector<double>(size_t(units * PDL_DEVICE_LANES), -7.0),
                fence);
            runThreads(threads, this->random,
                       [&](int64_t first, int64_t stride) {
                         PDL_DEVICE_FUNCTION(T, norm_lanes)
                         (count, unit, std::bit_cast<uint64_t>(weight),
                          source.data(), lanes.data(), first, stride);
                       });
            std::vector<double> found, want;
            for (int64_t u = 0; u < units; ++u) {
              found.push_back(pdlabi::SquaredNormUnit::join(
                  lanes.values().data() + u * PDL_DEVICE_LANES));
              pdlabi::SquaredNormUnit host;
              host.add(values.data() + u * unit,
                       std::min(unit, count - u * unit), weight);
              want.push_back(host.partial());
            }
            expectSameBits<double>(found, want);
          }
      }
}

} // namespace
