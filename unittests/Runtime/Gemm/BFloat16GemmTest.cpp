//===- BFloat16GemmTest.cpp - Products of bf16 factors, bit for bit -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Sched/Scheduler.h"

#include "gtest/gtest.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace pdlrt;

namespace {

bool sameBits(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

/// Returns the nearest number with eight mantissa bits, ties to even, computed
/// in double. `x` must be normal and finite.
float nearestBFloat16(float x) {
  int exponent;
  const double mantissa = std::frexp(static_cast<double>(x), &exponent);
  return static_cast<float>(
      std::ldexp(std::nearbyint(mantissa * 256), exponent - 8));
}

std::vector<float> normals(int64_t count, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(random);
  return values;
}

/// Returns random bit patterns, or numbers near the smallest normal one, or
/// sums with very different exponents.
std::vector<float> anything(int64_t count, std::mt19937 &random) {
  std::vector<float> values(static_cast<size_t>(count));
  const uint32_t kind = random() % 3;
  for (float &value : values) {
    uint32_t bits = static_cast<uint32_t>(random());
    if (kind > 0) {
      const uint32_t exponent = kind == 1
                                    ? random() % 3 + (random() % 2 ? 126 : 0)
                                    : 60 + random() % 8;
      bits = (bits & 0x807fffff) | exponent << 23;
    }
    value = std::bit_cast<float>(bits);
  }
  return values;
}

struct Product {
  bool transposeA, transposeB;
  int64_t m, n, k;
  std::vector<float> a, b, bias, mask;
  std::vector<pdl_post> posts;

  template <typename Fill>
  Product(int transposes, int64_t m, int64_t n, int64_t k, Fill fill,
          std::mt19937 &random)
      : transposeA(transposes & 1), transposeB(transposes & 2), m(m), n(n),
        k(k), a(fill(m * k, random)), b(fill(k * n, random)),
        bias(fill(n, random)), mask(fill(m * n, random)) {}

  /// 1: bias, relu; 2: relu gradient.
  void usePosts(int kind) {
    posts.clear();
    if (kind == 1)
      posts = {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}};
    if (kind == 2)
      posts = {{PDL_POST_RELU_GRADIENT, mask.data()}};
  }

  GemmCall call(std::vector<float> &c) const {
    c.assign(static_cast<size_t>(m * n),
             std::numeric_limits<float>::quiet_NaN());
    return {PDL_F32,
            transposeA,
            transposeB,
            m,
            n,
            k,
            a.data(),
            b.data(),
            c.data(),
            n,
            static_cast<int32_t>(posts.size()),
            posts.data()};
  }

  float left(int64_t i, int64_t p) const {
    return a[size_t(transposeA ? p * m + i : i * k + p)];
  }
  float right(int64_t p, int64_t j) const {
    return b[size_t(transposeB ? j * k + p : p * n + j)];
  }

  /// Returns one element by the definition, for factors that are bf16.
  float element(int64_t i, int64_t j) const {
    float sum = 0;
    for (int64_t pair = 0; pair < k; pair += 2)
      for (int64_t p : {pair + 1, pair})
        if (p < k)
          sum = std::fma(left(i, p), right(p, j), sum);
    for (const pdl_post &post : posts) {
      if (post.kind == PDL_POST_BIAS)
        sum += bias[size_t(j)];
      else if (post.kind == PDL_POST_RELU)
        sum = sum <= 0 ? 0.0f : sum;
      else
        sum = mask[size_t(i * n + j)] <= 0 ? 0.0f : sum;
    }
    return sum;
  }

  /// Returns the same product with factors rounded to bf16.
  Product rounded() const {
    Product result = *this;
    for (std::vector<float> *factor : {&result.a, &result.b})
      for (float &value : *factor)
        value = nearestBFloat16(value);
    return result;
  }
};

class BFloat16Gemm : public testing::TestWithParam<BFloat16Isa> {
protected:
  void SetUp() override {
    if (!isSupported(GetParam()))
      GTEST_SKIP() << "this CPU has no AVX512-BF16";
  }

  std::vector<float> multiply(const Product &product) {
    std::vector<float> c;
    bfloat16Gemm(GetParam(), workspace, product.call(c));
    return c;
  }

  GemmWorkspace workspace;
};

INSTANTIATE_TEST_SUITE_P(
    , BFloat16Gemm, testing::Values(BFloat16Isa::emulated, BFloat16Isa::native),
    [](const auto &info) {
      return info.param == BFloat16Isa::native ? "native" : "emulated";
    });

TEST_P(BFloat16Gemm, EveryTileAndBlock) {
  std::mt19937 random(3);
  std::vector<std::array<int64_t, 3>> shapes = {
      {97, 481, 515}, {100, 40, 1030}, {3, 49, 2051}, {9, 33, 0}};
  for (int64_t m : {1, 2, 5, 8, 17})
    for (int64_t n : {1, 7, 16, 25, 50})
      for (int64_t k : {1, 2, 9, 31, 32, 33, 64})
        shapes.push_back({m, n, k});
  int kind = 0;
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      Product product(transposes, m, n, k, normals, random);
      product.usePosts(kind++ % 3);
      const std::vector<float> c = multiply(product);
      const Product rounded = product.rounded();
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j)
          ASSERT_TRUE(sameBits(c[size_t(i * n + j)], rounded.element(i, j)))
              << m << "x" << n << "x" << k << " transposed " << transposes
              << " at " << i << ", " << j << ": " << c[size_t(i * n + j)]
              << ", not " << rounded.element(i, j);
    }
}

/// The bound covers the rounding of two factors and of `k` additions.
TEST_P(BFloat16Gemm, IsNearTheProductInDouble) {
  std::mt19937 random(4);
  const Product product(0, 33, 65, 400, normals, random);
  const std::vector<float> c = multiply(product);
  const double bound = 0x1p-7 + 400 * 0x1p-24;
  double worst = 0;
  for (int64_t i = 0; i < product.m; ++i)
    for (int64_t j = 0; j < product.n; ++j) {
      double exact = 0, magnitude = 0;
      for (int64_t p = 0; p < product.k; ++p) {
        const double term = double(product.left(i, p)) * product.right(p, j);
        exact += term;
        magnitude += std::abs(term);
      }
      const double error =
          std::abs(c[size_t(i * product.n + j)] - exact) / magnitude;
      ASSERT_LE(error, bound);
      worst = std::max(worst, error);
    }
  // Factors were rounded.
  EXPECT_GT(worst, 0x1p-20);
}

TEST_P(BFloat16Gemm, DenormalNumbersAreZerosWithinOnly) {
  const float tiny = 0x1p-130f, least = 0x1p-126f;
  const pdl_post bias = {PDL_POST_BIAS, &tiny};
  auto one = [&](float a, float b, int32_t posts) {
    float c = -1;
    bfloat16Gemm(GetParam(), workspace,
                 {PDL_F32, false, false, 1, 1, 1, &a, &b, &c, 1, posts, &bias});
    return c;
  };
  EXPECT_TRUE(sameBits(one(tiny, 0x1p+20f, 0), 0.0f));
  EXPECT_TRUE(sameBits(one(least, 0.5f, 0), 0.0f));
  EXPECT_TRUE(sameBits(one(-least, 0.5f, 0), -0.0f));
  EXPECT_TRUE(sameBits(one(0.0f, 0.0f, 1), 0.0f));
  EXPECT_TRUE(sameBits(one(least, 1.0f, 0), least));
  // Almost the smallest normal number: not rounded up to it.
  EXPECT_TRUE(sameBits(one(0x1.fffffcp-127f, 1.0f, 0), 0.0f));
  volatile float half = 0.5f;
  EXPECT_GT(least * half, 0.0f) << "the caller's denormal numbers are kept";
}

TEST_P(BFloat16Gemm, WritesColumnsAndReadsStrides) {
  std::mt19937 random(8);
  for (int transposes = 0; transposes < 4; ++transposes) {
    Product product(transposes, 97, 61, 45, normals, random);
    product.usePosts(1);
    const std::vector<float> whole = multiply(product);
    // Rows 16 to 79 and columns 16 to 47, among other columns.
    std::vector<float> unused, c(64 * 40, -5.0f);
    GemmCall call = product.call(unused);
    call.aStride = call.strideOfA();
    call.bStride = call.strideOfB();
    call.m = 64;
    call.n = 32;
    call.a = product.a.data() + 16 * (product.transposeA ? 1 : product.k);
    call.b = product.b.data() + 16 * (product.transposeB ? product.k : 1);
    call.c = c.data();
    call.cStride = 40;
    const pdl_post posts[] = {{PDL_POST_BIAS, product.bias.data() + 16},
                              {PDL_POST_RELU, nullptr}};
    call.posts = posts;
    bfloat16Gemm(GetParam(), workspace, call);
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 40; ++j)
        ASSERT_TRUE(
            sameBits(c[size_t(i * 40 + j)],
                     j < 32 ? whole[size_t((16 + i) * 61 + 16 + j)] : -5.0f))
            << "transposed " << transposes << " at " << i << ", " << j;
  }
}

TEST(BFloat16GemmTest, EmulatedIsNative) {
  if (!isSupported(BFloat16Isa::native))
    GTEST_SKIP() << "this CPU has no AVX512-BF16";
  std::mt19937 random(5);
  GemmWorkspace workspace;
  for (int round = 0; round < 500; ++round) {
    Product product(int(random() % 4), 1 + int64_t(random() % 30),
                    1 + int64_t(random() % 70), int64_t(random() % 60),
                    anything, random);
    product.usePosts(int(random() % 3));
    std::vector<float> native, emulated;
    bfloat16Gemm(BFloat16Isa::native, workspace, product.call(native));
    bfloat16Gemm(BFloat16Isa::emulated, workspace, product.call(emulated));
    for (size_t i = 0; i < native.size(); ++i)
      ASSERT_TRUE(sameBits(native[i], emulated[i]))
          << product.m << "x" << product.n << "x" << product.k << " element "
          << i << ": " << native[i] << " and " << emulated[i];
  }
}

TEST(BFloat16GemmTest, ThreadsThatShareAProductChangeNoBit) {
  std::mt19937 random(6);
  GemmWorkspace workspace;
  for (int transposes = 0; transposes < 4; ++transposes) {
    Product product(transposes, 333, 400, 401, normals, random);
    product.usePosts(1);
    std::vector<float> alone, shared;
    gemm(PDL_PRODUCT_BF16, workspace, product.call(alone));
    Scheduler scheduler(3);
    const GemmCall call = product.call(shared);
    scheduler.parallelFor(
        1, [&](int64_t) { gemm(PDL_PRODUCT_BF16, workspace, call); }, 3);
    for (size_t i = 0; i < alone.size(); ++i)
      ASSERT_TRUE(sameBits(alone[i], shared[i])) << "element " << i;
    for (int64_t i : {0, 332})
      ASSERT_TRUE(
          sameBits(alone[size_t(i * 400)], product.rounded().element(i, 0)));
  }
}

} // namespace
