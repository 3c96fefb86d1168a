//===- RowsTest.cpp - Reductions of device threads ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"
#include "pdlabi/abi/calls.h"

#include "pdlabi/device.h"

using namespace pdltest;

namespace {

template <typename T> class RowsTest : public testing::Test {
protected:
  std::mt19937 random{13};

  void expectSame(int32_t reduction, int64_t rows, int64_t width,
                  Numbers numbers) {
    expectSame(reduction, rows, width,
               anyNumbers<T>(rows * width, numbers, random));
  }
  void expectSame(int32_t reduction, int64_t rows, int64_t width,
                  const std::vector<T> &values) {
    SCOPED_TRACE(testing::Message() << "reduction " << reduction << " of "
                                    << rows << " x " << width);
    std::vector<T> want(static_cast<size_t>(rows), T(-7));
    pdlrt_reduce_rows(typeCode<T>, reduction, rows, width, values.data(),
                      want.data());
    for (int64_t threads : threadCounts)
      for (Fence fence : fences) {
        const auto source = Fenced<T>::input(values, fence);
        const Fenced<T> out(std::vector<T>(want.size(), T(-7)), fence);
        runThreads(threads, random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(T, reduce_rows)
          (reduction, rows, width, source.data(), out.data(), first, stride);
        });
        expectSameBits<T>(out.values(), want);
      }
  }
};
TYPED_TEST_SUITE(RowsTest, ElementTypes);

TYPED_TEST(RowsTest, ReducesInLanesAndATree) {
  for (int32_t reduction : {PDL_REDUCE_SUM, PDL_REDUCE_MEAN, PDL_REDUCE_MAX})
    for (Numbers kind : numbers)
      for (int64_t width : {1, 2, 7, 15, 16, 17, 31, 32, 33, 100, 401})
        this->expectSame(reduction, 1 + width % 5 * 30, width, kind);
}

// A maximum must choose the right one of two equal numbers.
TYPED_TEST(RowsTest, MaximaOfZeros) {
  for (int64_t width : {2, 16, 40}) {
    std::vector<TypeParam> values(static_cast<size_t>(100 * width));
    for (TypeParam &value : values)
      value = TypeParam(this->random() % 2 ? 0.0 : -0.0);
    this->expectSame(PDL_REDUCE_MAX, 100, width, values);
  }
}

TYPED_TEST(RowsTest, RowsOfNothing) {
  // The mean of no elements is 0 / 0.
  for (int32_t reduction : {PDL_REDUCE_SUM, PDL_REDUCE_MEAN, PDL_REDUCE_MAX}) {
    this->expectSame(reduction, 4, 0, Numbers::normal);
    this->expectSame(reduction, 0, 4, Numbers::normal);
  }
}

} // namespace
