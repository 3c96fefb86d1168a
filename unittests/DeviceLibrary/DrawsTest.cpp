//===- DrawsTest.cpp - Dropout of device threads, bit for bit -------------===//
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

template <typename T> class DropoutTest : public testing::Test {
protected:
  std::mt19937 random{17};

  /// If `splits` is null, each sample has one row.
  void expectSame(int64_t sampleCount, int64_t width, double rate,
                  const std::vector<int32_t> *splits, Numbers numbers) {
    std::vector<int64_t> samples(static_cast<size_t>(sampleCount));
    for (int64_t &sample : samples)
      sample = int64_t(random()) << (random() % 32);
    const auto rows =
        splits ? int64_t(splits->back() - splits->front()) : sampleCount;
    const auto bags = splits ? int64_t(splits->size()) - 1 : 0;
    const auto values = anyNumbers<T>(rows * width, numbers, random);
    const pdl_draws draws = {0x123456789abcdefull, 5, sampleCount,
                             samples.data()};
    // Streams have 32 bits.
    const int64_t stream = 0x1fedcba98;
    std::vector<T> want(values.size(), T(-7));
    pdlrt_dropout(&draws, stream, typeCode<T>, rate, width, bags,
                  splits ? splits->data() : nullptr, values.data(),
                  want.data());
    for (int64_t threads : threadCounts)
      for (Fence fence : fences) {
        const auto numbersOf = Fenced<int64_t>::input(samples, fence);
        const auto source = Fenced<T>::input(values, fence);
        const auto ends = Fenced<int32_t>::input(
            splits ? *splits : std::vector<int32_t>(), fence);
        const Fenced<T> out(std::vector<T>(want.size(), T(-7)), fence);
        runThreads(threads, random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(T, dropout)
          (draws.seed, draws.epoch, sampleCount, numbersOf.data(), stream, rate,
           width, bags, splits ? ends.data() : nullptr, source.data(),
           out.data(), first, stride);
        });
        expectSameBits<T>(out.values(), want);
      }
  }
};
TYPED_TEST_SUITE(DropoutTest, ElementTypes);

constexpr double rates[] = {0, 0.1, 0.5, 0.97};

TYPED_TEST(DropoutTest, RowsOfSamples) {
  int round = 0;
  for (int64_t width : {1, 2, 3, 4, 5, 8, 16, 67, 131})
    for (double rate : rates) {
      ++round;
      this->expectSame(1 + round % 30, width, rate, nullptr,
                       numbers[round % 3]);
    }
  this->expectSame(0, 5, 0.5, nullptr, Numbers::normal);
}

// Random blocks continue from bag to bag of a sample, wherever a bag starts in
// them.
TYPED_TEST(DropoutTest, BagsOfSamples) {
  int round = 0;
  for (int64_t width : {1, 2, 3, 4, 7, 8, 20})
    for (int64_t bagsOfSample : {1, 3})
      for (double rate : rates) {
        ++round;
        const int64_t samples = 1 + this->random() % 12;
        // The first split gives the first row.
        std::vector<int32_t> splits = {int32_t(round % 2 * 5)};
        for (int64_t bag = 0; bag < samples * bagsOfSample; ++bag)
          splits.push_back(splits.back() + int32_t(this->random() % 6));
        this->expectSame(samples, width, rate, &splits, numbers[round % 3]);
      }
}

TEST(Dropout, TurnsReadNoMemory) {
  const auto *elsewhere = reinterpret_cast<const int32_t *>(8);
  EXPECT_EQ(pdldevice_dropout_turns(1, 2, 6, nullptr, 3, 0.5, 9, 12, elsewhere,
                                    nullptr, nullptr),
            12 * 3);
  EXPECT_EQ(pdldevice_dropout_turns(1, 2, 6, nullptr, 3, 0.5, 9, 0, nullptr,
                                    nullptr, nullptr),
            6 * 3);
}

} // namespace
