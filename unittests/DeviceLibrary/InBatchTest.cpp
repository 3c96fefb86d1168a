//===- InBatchTest.cpp - In-batch negatives by device threads -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"
#include "pdlabi/abi/calls.h"

#include "pdlabi/device.h"
#include "pdlrt/Abi/Worker.h"

using namespace pdlrt;
using namespace pdltest;

namespace {

using Floats = Fenced<float>;

/// Batch that is computed on the CPU, and by launches as device.h describes
/// them.
class Batch {
public:
  Batch(int64_t count, int64_t width, bool isCorrected, bool hasIds,
        Numbers numbers, std::mt19937 &random)
      : count(count), width(width), isCorrected(isCorrected), hasIds(hasIds),
        users(anyNumbers<float>(count * width, numbers, random)),
        items(anyNumbers<float>(count * width, numbers, random)),
        correction(anyNumbers<float>(count, numbers, random)),
        cotangent(anyNumbers<float>(count, numbers, random)) {
    for (int64_t i = 0; i < count; ++i)
      ids.push_back(int64_t(random() % 40) << 40);
  }

  void giveAllOneId() { std::fill(ids.begin(), ids.end(), 1); }

  std::vector<float> sumsOnCpu() const {
    Worker worker;
    std::vector<float> scratch(size_t(PDL_IN_BATCH_ROWS * count));
    std::vector<float> out(size_t(count), -7.0f);
    pdlrt_in_batch_log_sum_exp(
        &worker, PDL_F32, PDL_NUMERICS_STRICT, count, width, users.data(),
        items.data(), isCorrected ? correction.data() : nullptr,
        hasIds ? ids.data() : nullptr, scratch.data(), out.data());
    return out;
  }

  std::vector<float> gradientOnCpu(int32_t side,
                                   const std::vector<float> &sums) const {
    Worker worker;
    std::vector<float> scratch(size_t(PDL_IN_BATCH_ROWS * count));
    std::vector<float> out(size_t(count * width), -7.0f);
    pdlrt_in_batch_gradient(&worker, PDL_F32, PDL_NUMERICS_STRICT, side, count,
                            width, users.data(), items.data(),
                            isCorrected ? correction.data() : nullptr,
                            hasIds ? ids.data() : nullptr, sums.data(),
                            cotangent.data(), scratch.data(), out.data());
    return out;
  }

  void expectSame(int64_t threads, Fence fence, std::mt19937 &random) const {
    const std::vector<float> sums = sumsOnCpu();
    const Device device(*this, threads, fence, random);
    {
      SCOPED_TRACE("sums");
      const Floats out(std::vector<float>(sums.size(), -7.0f), fence);
      device.logSumExp(out.data());
      expectSameBits<float>(out.values(), sums);
    }
    for (int32_t side : {PDL_SIDE_USERS, PDL_SIDE_ITEMS}) {
      SCOPED_TRACE(testing::Message() << "side " << side);
      const std::vector<float> want = gradientOnCpu(side, sums);
      const Floats out(std::vector<float>(want.size(), -7.0f), fence);
      device.gradient(side, Floats::input(sums, fence).data(), out.data());
      expectSameBits<float>(out.values(), want);
    }
  }

private:
  /// Inputs of the launches.
  struct Device {
    Device(const Batch &batch, int64_t threads, Fence fence,
           std::mt19937 &random)
        : batch(batch), threads(threads), random(random),
          users(Floats::input(batch.users, fence)),
          items(Floats::input(batch.items, fence)),
          corrections(Floats::input(batch.correction, fence)),
          cotangent(Floats::input(batch.cotangent, fence)),
          idsOfBatch(Fenced<int64_t>::input(batch.ids, fence)),
          scores(elements(smaller(batch.count) * batch.count), fence),
          maxima(elements(smaller(batch.count) * PDL_DEVICE_LANES), fence),
          laneSums(elements(smaller(batch.count) * PDL_DEVICE_LANES), fence),
          correction(batch.isCorrected ? corrections.data() : nullptr),
          ids(batch.hasIds ? idsOfBatch.data() : nullptr) {}

    void logSumExp(float *out) const {
      forBlocks([&](int64_t block, int64_t rows) {
        score(users, items, block, rows);
        launch([&](int64_t first, int64_t stride) {
          pdldevice_in_batch_maxima_f32(block, rows, batch.count, correction,
                                        ids, scores.data(), maxima.data(),
                                        first, stride);
        });
        launch([&](int64_t first, int64_t stride) {
          pdldevice_in_batch_exponentials_f32(rows, batch.count, scores.data(),
                                              maxima.data(), laneSums.data(),
                                              first, stride);
        });
        launch([&](int64_t first, int64_t stride) {
          pdldevice_in_batch_logarithms_f32(rows, batch.count, maxima.data(),
                                            laneSums.data(), out + block, first,
                                            stride);
        });
      });
    }

    void gradient(int32_t side, const float *sums, float *out) const {
      const Floats &own = side == PDL_SIDE_USERS ? users : items;
      const Floats &others = side == PDL_SIDE_USERS ? items : users;
      forBlocks([&](int64_t block, int64_t rows) {
        score(own, others, block, rows);
        launch([&](int64_t first, int64_t stride) {
          pdldevice_in_batch_weights_f32(
              side, block, rows, batch.count, correction, ids, sums,
              cotangent.data(), scores.data(), first, stride);
        });
        launch([&](int64_t first, int64_t stride) {
          pdldevice_product_f32(0, 0, rows, batch.width, batch.count,
                                scores.data(), others.data(), 0, nullptr,
                                nullptr, out + block * batch.width, batch.width,
                                first, stride);
        });
      });
    }

  private:
    static int64_t smaller(int64_t count) {
      return std::min<int64_t>(PDL_IN_BATCH_ROWS, count);
    }
    static std::vector<float> elements(int64_t count) {
      return std::vector<float>(size_t(count),
                                std::numeric_limits<float>::quiet_NaN());
    }
    template <typename Body> void launch(Body body) const {
      runThreads(threads, random, body);
    }
    template <typename Body> void forBlocks(Body body) const {
      for (int64_t first = 0; first < batch.count; first += PDL_IN_BATCH_ROWS)
        body(first, smaller(batch.count - first));
    }
    void score(const Floats &own, const Floats &others, int64_t block,
               int64_t rows) const {
      launch([&](int64_t first, int64_t stride) {
        pdldevice_product_f32(0, 1, rows, batch.count, batch.width,
                              own.data() + block * batch.width, others.data(),
                              0, nullptr, nullptr, scores.data(), batch.count,
                              first, stride);
      });
    }

    const Batch &batch;
    int64_t threads;
    std::mt19937 &random;
    Floats users, items, corrections, cotangent;
    Fenced<int64_t> idsOfBatch;
    Floats scores, maxima, laneSums;
    const float *correction;
    const int64_t *ids;
  };

  int64_t count, width;
  bool isCorrected, hasIds;
  std::vector<float> users, items, correction, cotangent;
  std::vector<int64_t> ids;
};

// Fewer rows than lanes, one block, and several blocks with a short last one.
TEST(InBatch, LaunchesGiveTheBitsOfTheCpu) {
  std::mt19937 random(19);
  int round = 0;
  for (int64_t count : {1, 2, 15, 16, 17, 100, 128, 129, 300})
    for (int options = 0; options < 4; ++options) {
      const int64_t width = 1 + random() % 20;
      ++round;
      const Batch batch(count, width, options & 1, options & 2,
                        numbers[round % 3], random);
      SCOPED_TRACE(testing::Message()
                   << count << " x " << width << ", options " << options);
      for (int64_t threads : threadCounts)
        batch.expectSame(threads, fences[round % 2], random);
    }
}

// All scores of a row except its own may be minus infinity.
TEST(InBatch, NoSampleHasANegative) {
  std::mt19937 random(23);
  Batch batch(40, 5, true, true, Numbers::normal, random);
  batch.giveAllOneId();
  batch.expectSame(3, Fence::after, random);
}

TEST(InBatch, TurnsReadNoMemory) {
  auto *elsewhere = reinterpret_cast<int64_t *>(8);
  EXPECT_EQ(pdldevice_in_batch_maxima_turns(0, 7, 3, elsewhere, elsewhere,
                                            elsewhere, elsewhere),
            7 * PDL_DEVICE_LANES);
  EXPECT_EQ(pdldevice_in_batch_exponentials_turns(7, 3, elsewhere, elsewhere,
                                                  elsewhere),
            7 * PDL_DEVICE_LANES);
  EXPECT_EQ(pdldevice_in_batch_logarithms_turns(7, 3, elsewhere, elsewhere,
                                                elsewhere),
            7);
  EXPECT_EQ(pdldevice_in_batch_weights_turns(0, 0, 7, 3, elsewhere, elsewhere,
                                             elsewhere, elsewhere, elsewhere),
            21);
}

} // namespace
