//===- BFloat16ProductsTest.cpp - Products of bf16 factors, bit for bit ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"
#include "pdlrt/Gemm/Gemm.h"

#include <array>

using namespace pdlrt;
using namespace pdltest;

namespace {

/// Kinds of factors of a product.
enum class Factors {
  normal,
  extreme,
  anyBits,
  smallSums, ///< products about the least normal number
  smallTerms ///< as large as sums of small ones, now and then
};
constexpr Factors kindsOfFactors[] = {Factors::normal, Factors::extreme,
                                      Factors::anyBits, Factors::smallSums,
                                      Factors::smallTerms};

std::vector<float> numbersOf(Factors kind, int64_t count,
                             std::mt19937 &random) {
  if (kind == Factors::normal || kind == Factors::extreme)
    return anyNumbers<float>(
        count, kind == Factors::normal ? Numbers::normal : Numbers::extreme,
        random);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values) {
    auto bits = static_cast<uint32_t>(random());
    const uint32_t exponent = kind == Factors::smallSums
                                  ? 60 + random() % 8
                                  : random() % 3 + (random() % 2 ? 126 : 0);
    if (kind != Factors::anyBits)
      bits = (bits & 0x807fffff) | exponent << 23;
    value = std::bit_cast<float>(bits);
  }
  return values;
}

class BFloat16Products : public testing::TestWithParam<BFloat16Isa> {
protected:
  void SetUp() override {
    if (!isSupported(GetParam()))
      GTEST_SKIP() << "this CPU has no AVX512-BF16";
  }

  void expectSame(int transposes, int64_t m, int64_t n, int64_t k, Factors kind,
                  std::span<const int64_t> threadCounts) {
    SCOPED_TRACE(testing::Message()
                 << m << " x " << n << " x " << k << ", transposed "
                 << transposes << ", factors " << int(kind));
    const bool transposeA = transposes & 1, transposeB = transposes & 2;
    const auto a = numbersOf(kind, m * k, random);
    const auto b = numbersOf(kind, k * n, random);
    const auto bias = anyNumbers<float>(n, Numbers::tiny, random);
    const auto mask = anyNumbers<float>(m * n, Numbers::tiny, random);
    const int64_t stride = n + int64_t(random() % 3);
    const std::vector<float> before(size_t((m - 1) * stride + n), -77.0f);
    const uint64_t posts = listsOfPosts[random() % std::size(listsOfPosts)];
    std::vector<pdl_post> list;
    for (uint64_t rest = posts; rest; rest >>= 4)
      list.push_back({int32_t(rest & 15), (rest & 15) == PDL_POST_BIAS
                                              ? bias.data()
                                              : mask.data()});
    std::vector<float> want = before;
    bfloat16Gemm(GetParam(), workspace,
                 {PDL_F32, transposeA, transposeB, m, n, k, a.data(), b.data(),
                  want.data(), stride, int32_t(list.size()), list.data()});
    for (int64_t threads : threadCounts) {
      const auto left = Fenced<float>::input(a, Fence::after);
      const auto right = Fenced<float>::input(b, Fence::after);
      const Fenced<float> c(before, Fence::after);
      runThreads(threads, random, [&](int64_t first, int64_t threadCount) {
        pdldevice_bf16_product_f32(
            transposeA, transposeB, m, n, k, left.data(), right.data(), posts,
            bias.data(), mask.data(), c.data(), stride, first, threadCount);
      });
      expectSameBits<float>(c.values(), want);
    }
  }

  static constexpr uint64_t listsOfPosts[] = {0, 0x1, 0x21, 0x3, 0x2, 0x213};
  std::mt19937 random{29};
  GemmWorkspace workspace;
};

INSTANTIATE_TEST_SUITE_P(, BFloat16Products,
                         testing::Values(BFloat16Isa::emulated,
                                         BFloat16Isa::native),
                         [](const auto &info) {
                           return info.param == BFloat16Isa::native
                                      ? "native"
                                      : "emulated";
                         });

TEST_P(BFloat16Products, SmallShapes) {
  for (int round = 0; round < 400; ++round)
    expectSame(round % 4, 1 + int64_t(random() % 20),
               1 + int64_t(random() % 20), int64_t(random() % 40),
               kindsOfFactors[round % 5], threadCounts);
}

TEST_P(BFloat16Products, MiddleTiles) {
  const int64_t shapes[][3] = {{256, 256, 8}, {259, 263, 7}, {258, 257, 6}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes)
      for (Factors kind : kindsOfFactors)
        expectSame(transposes, m, n, k, kind, std::array<int64_t, 1>{7});
}

TEST_P(BFloat16Products, LargeTiles) {
  const int64_t shapes[][3] = {{1024, 1536, 4}, {1259, 1253, 3}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes)
      expectSame(transposes, m, n, k, kindsOfFactors[1 + transposes],
                 std::array<int64_t, 1>{7});
}

// Factors that are just large enough, or just too small, for all sums to be
// multiples of the smallest normal number: 129 * 129 - 128 * 130 is 1.
TEST_P(BFloat16Products, SumsAtTheSmallestNormalNumber) {
  for (int unit = -130; unit <= -120; ++unit)
    for (int left : {-100, -63, -20}) {
      const float a[] = {std::ldexp(129.0f, left), std::ldexp(128.0f, left)};
      const float b[] = {std::ldexp(129.0f, unit - left),
                         std::ldexp(-130.0f, unit - left)};
      float want = -7, got = -7;
      bfloat16Gemm(
          GetParam(), workspace,
          {PDL_F32, false, false, 1, 1, 2, a, b, &want, 1, 0, nullptr});
      pdldevice_bf16_product_f32(0, 0, 1, 1, 2, a, b, 0, nullptr, nullptr, &got,
                                 1, 0, 1);
      EXPECT_TRUE(sameBits(got, want))
          << "2^" << unit << ": " << got << ", not " << want;
      EXPECT_EQ(got, unit < -126 ? 0.0f : std::ldexp(1.0f, unit));
    }
}

// A result below the smallest normal number before rounding is zero, even if
// rounding would give the smallest normal number.
TEST_P(BFloat16Products, ResultsRoundedUpToTheSmallestNormalNumber) {
  const float least = std::numeric_limits<float>::min();
  // Along k 1, 0: 2^-126, then less 2^-150, 2^-151 and 2^-152.
  for (int exponent : {-75, -76, -77})
    for (float sign : {1.0f, -1.0f}) {
      const float a[] = {std::ldexp(sign, -75), sign * least};
      const float b[] = {-std::ldexp(1.0f, exponent), 1.0f};
      float want = -7, got = -7;
      bfloat16Gemm(
          GetParam(), workspace,
          {PDL_F32, false, false, 1, 1, 2, a, b, &want, 1, 0, nullptr});
      pdldevice_bf16_product_f32(0, 0, 1, 1, 2, a, b, 0, nullptr, nullptr, &got,
                                 1, 0, 1);
      EXPECT_TRUE(sameBits(got, want)) << got << ", not " << want;
      EXPECT_EQ(std::abs(got), exponent == -75 ? 0.0f : least);
    }
}

} // namespace
