//===- TileGemmTest.cpp - Products of bf16 parts, bit for bit -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/TileGemm.h"

#include "gtest/gtest.h"

#include <sys/time.h>

#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <limits>
#include <random>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

bool sameBits(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

float withoutDenormal(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}

/// Returns the nearest bf16, ties to even; zero for denormal numbers.
float nearestPart(float x) {
  if (!std::isfinite(x) || withoutDenormal(x) == 0)
    return withoutDenormal(x);
  int exponent;
  const double mantissa = std::frexp(double(x), &exponent);
  return float(std::ldexp(std::nearbyint(mantissa * 256), exponent - 8));
}

/// Returns a * b + c in f32, where a denormal result is zero. A result is
/// denormal if it is below the smallest normal number after it was rounded as
/// if the exponent had no limit.
float fusedWithoutDenormals(float a, float b, float c) {
  const float result = std::fma(a, b, withoutDenormal(c));
  if (std::fabs(result) != std::numeric_limits<float>::min())
    return withoutDenormal(result);
  // Exact: a and b have 8 bits. Scaled, the sum is rounded to 24 bits.
  const float scaled = std::fma(a * 0x1p+64f, b, c * 0x1p+64f);
  return std::fabs(scaled) < 0x1p-62f ? std::copysign(0.0f, scaled) : result;
}

float sumWithoutDenormals(float a, float b) {
  return withoutDenormal(withoutDenormal(a) + withoutDenormal(b));
}

/// One product and its oracle: plain C++ from the definition in
/// docs/Numerics.md.
struct TileProduct {
  bool transposeA, transposeB;
  int64_t m, n, k;
  std::vector<float> a, b, bias, mask;
  std::vector<pdl_post> posts;

  template <typename Fill>
  TileProduct(int transposes, int64_t m, int64_t n, int64_t k, Fill fill,
              std::mt19937 &random)
      : transposeA(transposes & 1), transposeB(transposes & 2), m(m), n(n),
        k(k), a(fill(m * k, random)), b(fill(k * n, random)),
        bias(fill(n, random)), mask(fill(m * n, random)) {}

  /// 1: bias, relu; 2: relu gradient; 3: in an unusual order.
  void usePosts(int kind) {
    posts.clear();
    if (kind == 1)
      posts = {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}};
    if (kind == 2)
      posts = {{PDL_POST_RELU_GRADIENT, mask.data()}};
    if (kind == 3)
      posts = {{PDL_POST_RELU_GRADIENT, mask.data()},
               {PDL_POST_RELU, nullptr},
               {PDL_POST_BIAS, bias.data()}};
  }

  GemmCall call(std::vector<float> &c) const {
    c.assign(size_t(m * n), std::numeric_limits<float>::quiet_NaN());
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

  static std::array<float, 3> partsOf(float x) {
    std::array<float, 3> parts;
    for (float &part : parts) {
      part = nearestPart(x);
      x -= part;
    }
    return parts;
  }

  /// The parts of all elements of `a` and `b`.
  std::vector<std::array<float, 3>> partsOfA, partsOfB;

  void split() {
    partsOfA.clear();
    partsOfB.clear();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t p = 0; p < k; ++p)
        partsOfA.push_back(partsOf(left(i, p)));
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        partsOfB.push_back(partsOf(right(p, j)));
  }

  /// Returns one element; call `split` before.
  float element(int parts, int64_t i, int64_t j) const {
    // From the smallest to the largest.
    static const std::vector<std::pair<int, int>> terms[] = {
        {{0, 0}},
        {{1, 0}, {0, 1}, {0, 0}},
        {{2, 0}, {1, 1}, {0, 2}, {0, 1}, {1, 0}, {0, 0}}};
    float sum = 0;
    for (int64_t block = 0; block < std::max<int64_t>(k, 1); block += 32)
      for (const auto &[partA, partB] : terms[parts - 1]) {
        float chains[2] = {0, 0};
        for (int64_t p = block; p < block + 32; ++p)
          chains[p % 2] = fusedWithoutDenormals(
              p < k ? partsOfA[size_t(i * k + p)][size_t(partA)] : 0.0f,
              p < k ? partsOfB[size_t(j * k + p)][size_t(partB)] : 0.0f,
              chains[p % 2]);
        sum =
            sumWithoutDenormals(sum, sumWithoutDenormals(chains[0], chains[1]));
      }
    if (parts > 1 && !std::isfinite(sum)) {
      sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum = std::fma(left(i, p), right(p, j), sum);
    }
    return finished(sum, i, j);
  }

  float finished(float sum, int64_t i, int64_t j) const {
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
};

std::vector<float> normals(int64_t count, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(random);
  return values;
}

float withExponent(uint32_t bits, uint64_t exponent) {
  return std::bit_cast<float>((bits & 0x807fffff) | uint32_t(exponent) << 23);
}

/// Returns random bit patterns; numbers whose products are near the smallest
/// normal one; numbers of very different exponents; or normal numbers with a
/// few that are not finite or whose rounding overflows.
std::vector<float> anything(int64_t count, std::mt19937 &random) {
  const uint32_t kind = random() % 4;
  std::vector<float> values = normals(count, random);
  for (float &value : values) {
    const auto bits = static_cast<uint32_t>(random());
    if (kind == 0)
      value = std::bit_cast<float>(bits);
    else if (kind == 1)
      value = withExponent(bits, random() % 20 + (random() % 2 ? 0 : 55));
    else if (kind == 2)
      value = withExponent(bits, 100 + random() % 56);
    else if (bits % 64 == 0)
      value = std::array{std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::max(),
                         std::numeric_limits<float>::quiet_NaN(),
                         -0x1.ffp+127f}[random() % 4];
  }
  return values;
}

class TileGemm
    : public testing::TestWithParam<std::tuple<TileIsa, int /*parts*/>> {
protected:
  void SetUp() override {
    if (!isSupported(isa()))
      GTEST_SKIP() << "this process cannot use AMX";
  }
  TileIsa isa() const { return std::get<0>(GetParam()); }
  int parts() const { return std::get<1>(GetParam()); }

  std::vector<float> multiply(const TileProduct &product) {
    std::vector<float> c;
    tileGemm(isa(), parts(), workspace, product.call(c));
    return c;
  }

  void expectOracle(TileProduct &product, int64_t rowStep = 1) {
    product.split();
    const std::vector<float> c = multiply(product);
    for (int64_t i = 0; i < product.m; i += rowStep)
      for (int64_t j = 0; j < product.n; ++j) {
        const float expected = product.element(parts(), i, j);
        ASSERT_TRUE(sameBits(c[size_t(i * product.n + j)], expected))
            << product.m << "x" << product.n << "x" << product.k
            << " transposed " << product.transposeA << product.transposeB
            << " at " << i << ", " << j << ": " << c[size_t(i * product.n + j)]
            << ", not " << expected;
      }
  }

  GemmWorkspace workspace;
};

INSTANTIATE_TEST_SUITE_P(
    , TileGemm,
    testing::Combine(testing::Values(TileIsa::emulated, TileIsa::amx),
                     testing::Values(1, 2, 3)),
    [](const auto &info) {
      return std::string(std::get<0>(info.param) == TileIsa::amx ? "amx"
                                                                 : "emulated") +
             std::to_string(std::get<1>(info.param));
    });

TEST_P(TileGemm, EverySizeUpToThirtyThree) {
  std::mt19937 random(3);
  int kind = 0;
  for (int64_t size = 1; size <= 33; ++size)
    for (const auto &[m, n, k] : {std::array<int64_t, 3>{size, 18, 35},
                                  {18, size, 35},
                                  {18, 17, size},
                                  {size, size, size}}) {
      TileProduct product(kind % 4, m, n, k, normals, random);
      product.usePosts(kind++ / 4 % 4);
      expectOracle(product);
    }
}

/// Blocks of all kinds: several along k, several of columns, and no terms.
TEST_P(TileGemm, EveryBlock) {
  std::mt19937 random(4);
  for (const auto &[m, n, k] : {std::array<int64_t, 3>{50, 70, 1100},
                                {40, 900, 530},
                                {70, 49, 0},
                                {65, 65, 513}})
    for (int transposes = 0; transposes < 4; ++transposes) {
      TileProduct product(transposes, m, n, k, normals, random);
      product.usePosts(transposes);
      expectOracle(product, 13);
    }
}

TEST_P(TileGemm, AnyNumbers) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    TileProduct product(int(random() % 4), 1 + int64_t(random() % 40),
                        1 + int64_t(random() % 40), int64_t(random() % 70),
                        anything, random);
    product.usePosts(int(random() % 4));
    expectOracle(product, 3);
  }
}

TEST(TileGemmTest, ReadsPackedFactors) {
  if (!isSupported(TileIsa::amx))
    GTEST_SKIP() << "this process cannot use AMX";
  std::mt19937 random(6);
  GemmWorkspace workspace;
  for (int parts = 1; parts <= 3; ++parts)
    for (int transposes = 0; transposes < 4; ++transposes) {
      TileProduct product(transposes, 37, 71, 1100, normals, random);
      std::vector<float> expected, c;
      tileGemm(TileIsa::amx, parts, workspace, product.call(expected));
      GemmCall call = product.call(c);
      AlignedVector<char> packed;
      packed.resize(size_t(packTileFactor(parts, call, nullptr)));
      packTileFactor(parts, call, packed.data());
      call.packedB = packed.data();
      std::fill(product.b.begin(), product.b.end(), 0.0f);
      tileGemm(TileIsa::amx, parts, workspace, call);
      EXPECT_EQ(c, expected);
    }
}

TEST_P(TileGemm, WritesColumnsAndReadsStrides) {
  std::mt19937 random(8);
  for (int transposes = 0; transposes < 4; ++transposes) {
    TileProduct product(transposes, 97, 71, 545, normals, random);
    product.usePosts(1);
    const std::vector<float> whole = multiply(product);
    // Rows 16 to 79 and columns 16 to 63, among other columns.
    std::vector<float> unused, c(64 * 56, -5.0f);
    GemmCall call = product.call(unused);
    call.aStride = call.strideOfA();
    call.bStride = call.strideOfB();
    call.m = 64;
    call.n = 48;
    call.a = product.a.data() + 16 * (product.transposeA ? 1 : product.k);
    call.b = product.b.data() + 16 * (product.transposeB ? product.k : 1);
    call.c = c.data();
    call.cStride = 56;
    const pdl_post posts[] = {{PDL_POST_BIAS, product.bias.data() + 16},
                              {PDL_POST_RELU, nullptr}};
    call.posts = posts;
    tileGemm(isa(), parts(), workspace, call);
    for (int64_t i = 0; i < 64; ++i)
      for (int64_t j = 0; j < 56; ++j)
        ASSERT_TRUE(
            sameBits(c[size_t(i * 56 + j)],
                     j < 48 ? whole[size_t((16 + i) * 71 + 16 + j)] : -5.0f))
            << "transposed " << transposes << " at " << i << ", " << j;
  }
}

/// The instruction ignores the mode of rounding, and so does the emulation of
/// denormal numbers. The caller's control register is kept.
TEST_P(TileGemm, KeepsDenormalNumbersOfTheCaller) {
  const float tiny = 0x1p-130f, least = 0x1p-126f, one = 1;
  const pdl_post bias = {PDL_POST_BIAS, &tiny};
  auto product = [&](float a, float b, int32_t posts) {
    float c = -1;
    tileGemm(isa(), parts(), workspace,
             {PDL_F32, false, false, 1, 1, 1, &a, &b, &c, 1, posts, &bias});
    return c;
  };
  EXPECT_TRUE(sameBits(product(tiny, 0x1p+20f, 0), 0.0f));
  EXPECT_TRUE(sameBits(product(least, 0.5f, 0), 0.0f));
  EXPECT_TRUE(sameBits(product(least, one, 0), least));
  // The posts are ordinary f32.
  EXPECT_TRUE(sameBits(product(0, 0, 1), tiny));
  volatile float half = 0.5f;
  EXPECT_GT(least * half, 0.0f);
}

// Written by a signal handler of the only thread.
volatile std::sig_atomic_t alarms = 0;

void countAlarm(int) { alarms = alarms + 1; }

/// The system saves the tiles of a thread that a signal interrupts.
TEST_P(TileGemm, SignalsDuringProductsChangeNoBit) {
  std::mt19937 random(9);
  const TileProduct product(0, 200, 400, 400, normals, random);
  const std::vector<float> expected = multiply(product);
  struct sigaction action = {}, before = {};
  action.sa_handler = countAlarm;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const int enough = alarms + 10;
  itimerval timer = {};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = 500;
  setitimer(ITIMER_REAL, &timer, nullptr);
  for (int i = 0; i < 100'000 && alarms < enough; ++i)
    ASSERT_EQ(multiply(product), expected);
  timer = {};
  setitimer(ITIMER_REAL, &timer, nullptr);
  EXPECT_GE(alarms, enough);
  sigaction(SIGALRM, &before, nullptr);
}

/// The error of a product of factors of several parts, relative to the sum of
/// the magnitudes of its terms. The bounds cover the parts that are left out.
TEST_P(TileGemm, IsNearTheProductInDouble) {
  std::mt19937 random(7);
  const double bounds[] = {0x1p-7, 0x1p-15, 0x1p-21};
  const TileProduct product(0, 33, 65, 400, normals, random);
  const std::vector<float> c = multiply(product);
  double worst = 0;
  for (int64_t i = 0; i < product.m; ++i)
    for (int64_t j = 0; j < product.n; ++j) {
      double exact = 0, magnitude = 0;
      for (int64_t p = 0; p < product.k; ++p) {
        const double term = double(product.left(i, p)) * product.right(p, j);
        exact += term;
        magnitude += std::abs(term);
      }
      worst = std::max(worst, std::abs(c[size_t(i * product.n + j)] - exact) /
                                  magnitude);
    }
  EXPECT_LT(worst, bounds[parts() - 1]);
  // Each part counts.
  if (parts() < 3)
    EXPECT_GT(worst, bounds[parts()]);
}

} // namespace
