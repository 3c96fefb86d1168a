//===- GemmTest.cpp - Strict products, bit for bit ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Sched/Scheduler.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace pdlrt;

namespace {

template <typename T> constexpr int32_t typeOf = PDL_F32;
template <> constexpr int32_t typeOf<double> = PDL_F64;

template <typename T> bool sameBits(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// One product with its operands.
template <typename T> struct Product {
  bool transposeA, transposeB;
  int64_t m, n, k;
  std::vector<T> a, b, bias, mask;
  std::vector<pdl_post> posts;

  Product(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t k,
          std::mt19937 &random)
      : transposeA(transposeA), transposeB(transposeB), m(m), n(n), k(k),
        a(fill(m * k, random)), b(fill(k * n, random)), bias(fill(n, random)),
        mask(fill(m * n, random)) {}

  static std::vector<T> fill(int64_t count, std::mt19937 &random) {
    std::normal_distribution<T> normal;
    std::vector<T> values(static_cast<size_t>(count));
    for (T &value : values)
      value = normal(random);
    return values;
  }

  /// 1: bias, relu; 2: relu gradient; 3: relu, bias, relu gradient.
  void usePosts(int kind) {
    posts.clear();
    if (kind == 1)
      posts = {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}};
    if (kind == 2)
      posts = {{PDL_POST_RELU_GRADIENT, mask.data()}};
    if (kind == 3)
      posts = {{PDL_POST_RELU, nullptr},
               {PDL_POST_BIAS, bias.data()},
               {PDL_POST_RELU_GRADIENT, mask.data()}};
  }

  GemmCall call(std::vector<T> &c) const {
    // The previous content of C must not matter.
    c.assign(static_cast<size_t>(m * n), std::numeric_limits<T>::quiet_NaN());
    return {typeOf<T>,
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

  /// Returns the product by the definition, element by element.
  std::vector<T> reference() const {
    std::vector<T> c(static_cast<size_t>(m * n));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum = std::fma(a[size_t(transposeA ? p * m + i : i * k + p)],
                         b[size_t(transposeB ? j * k + p : p * n + j)], sum);
        for (const pdl_post &post : posts) {
          if (post.kind == PDL_POST_BIAS)
            sum += bias[size_t(j)];
          else if (post.kind == PDL_POST_RELU)
            sum = sum <= 0 ? T(0) : sum;
          else
            sum = mask[size_t(i * n + j)] <= 0 ? T(0) : sum;
        }
        c[size_t(i * n + j)] = sum;
      }
    return c;
  }

  void expectStrict() const {
    GemmWorkspace workspace;
    const std::vector<T> expected = reference();
    for (GemmIsa isa : {GemmIsa::v3, GemmIsa::v4}) {
      if (!isSupported(isa))
        continue;
      // B unpacked; packed; packed, with zeros of A skipped.
      for (const int form : {0, 1, 2}) {
        const bool isPacked = form > 0;
        std::vector<T> c;
        GemmCall whole = call(c);
        AlignedBuffer packed;
        const bool isFinite = std::ranges::all_of(
            b, [](T value) { return std::isfinite(value); });
        if ((isPacked && n < 2) || (form == 2 && !isFinite))
          continue;
        if (isPacked) {
          const auto count = size_t(packStrictFactor(isa, whole, nullptr));
          packStrictFactor(isa, whole, packed.reserveFor<T>(count));
          whole.packedB = packed.data();
          whole.isFiniteB = form == 2;
          // The packed factor replaces B.
          whole.b = nullptr;
        }
        strictGemm(isa, workspace, whole);
        for (size_t i = 0; i < c.size(); ++i)
          ASSERT_TRUE(sameBits(c[i], expected[i]))
              << (isa == GemmIsa::v4 ? "v4 " : "v3 ") << m << "x" << n << "x"
              << k << " transposed " << transposeA << transposeB << " posts "
              << posts.size() << ", form " << form << ": element " << i
              << " is " << c[i] << ", not " << expected[i];
      }
    }
  }
};

template <typename T> void checkShapes(std::initializer_list<int64_t> sizes) {
  std::mt19937 random(3);
  int kind = 0;
  for (int64_t m : sizes)
    for (int64_t n : sizes)
      for (int64_t k : sizes)
        for (int transposes = 0; transposes < 4; ++transposes) {
          Product<T> product(transposes & 1, transposes & 2, m, n, k, random);
          product.usePosts(kind++ % 4);
          product.expectStrict();
          if (testing::Test::HasFatalFailure())
            return;
        }
}

TEST(StrictGemmTest, EveryTileF32) {
  checkShapes<float>({1, 2, 3, 4, 5, 7, 8, 9, 15, 17, 33, 43, 50});
}

TEST(StrictGemmTest, EveryTileF64) {
  checkShapes<double>({1, 2, 3, 5, 8, 11, 17, 26});
}

// Rows, columns, transposed operands, and their posts.
TEST(StrictGemmTest, ThreadsThatShareAProductChangeNoBit) {
  std::mt19937 random(5);
  GemmWorkspace workspace;
  const int64_t shapes[][3] = {
      {1000, 200, 273}, {250, 1000, 200}, {333, 333, 500}, {2000, 97, 211}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      Product<float> product(transposes & 1, transposes & 2, m, n, k, random);
      for (int kind = 0; kind < 4; ++kind) {
        product.usePosts(kind);
        std::vector<float> alone, shared;
        gemm(PDL_NUMERICS_STRICT, workspace, product.call(alone));
        for (int threads : {2, 3}) {
          Scheduler scheduler(threads);
          const GemmCall call = product.call(shared);
          scheduler.parallelFor(
              1, [&](int64_t) { gemm(PDL_NUMERICS_STRICT, workspace, call); },
              threads);
          for (size_t i = 0; i < alone.size(); ++i)
            ASSERT_TRUE(sameBits(alone[i], shared[i]))
                << m << "x" << n << "x" << k << " transposed " << transposes
                << " posts " << kind << " element " << i;
        }
      }
    }
}

/// Each product of a batch equals the strict product of its factors.
template <typename T> void expectBatch() {
  std::mt19937 random(11);
  std::normal_distribution<T> values;
  GemmWorkspace workspace;
  const int64_t count = 300;
  const int64_t shapes[][3] = {{27, 27, 16},  {27, 16, 27}, {1, 9, 7},
                               {1, 1, 33},    {9, 1, 7},    {5, 3, 1},
                               {100, 33, 18}, {2, 4, 0}};
  for (GemmIsa isa : {GemmIsa::v3, GemmIsa::v4})
    for (const auto &[m, n, k] : shapes)
      for (int transposes = 0; transposes < 4 && isSupported(isa);
           ++transposes) {
        std::vector<T> a(size_t(count * m * k)), b(size_t(count * k * n)),
            want(size_t(count * m * n), T(7)), alone(want), shared(want);
        for (std::vector<T> *factor : {&a, &b})
          for (T &value : *factor)
            value = values(random);
        GemmCall call{sizeof(T) == 4 ? PDL_F32 : PDL_F64,
                      (transposes & 1) != 0,
                      (transposes & 2) != 0,
                      m,
                      n,
                      k,
                      a.data(),
                      b.data(),
                      alone.data(),
                      n};
        strictBatchGemm(isa, workspace, call, count);
        Scheduler scheduler(3);
        call.c = shared.data();
        scheduler.parallelFor(
            1, [&](int64_t) { strictBatchGemm(isa, workspace, call, count); },
            3);
        for (int64_t i = 0; i < count; ++i) {
          call.a = a.data() + i * m * k;
          call.b = b.data() + i * k * n;
          call.c = want.data() + i * m * n;
          strictGemm(isa, workspace, call);
        }
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_TRUE(sameBits(alone[i], want[i]) &&
                      sameBits(shared[i], want[i]))
              << m << "x" << n << "x" << k << " transposed " << transposes
              << " element " << i;
      }
}

TEST(StrictGemmTest, ProductsSideBySideF32) { expectBatch<float>(); }
TEST(StrictGemmTest, ProductsSideBySideF64) { expectBatch<double>(); }

TEST(StrictGemmTest, BlocksOfEachDimension) {
  std::mt19937 random(4);
  const int64_t shapes[][3] = {{97, 481, 515}, {100, 40, 800},  {193, 961, 3},
                               {3, 49, 4096},  {1, 1000, 1100}, {1, 100, 5000},
                               {200, 1, 4096}, {9, 100, 1600},  {5, 7, 0},
                               {1, 7, 0},      {7, 1, 0}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      Product<float> product(transposes & 1, transposes & 2, m, n, k, random);
      product.usePosts(transposes);
      product.expectStrict();
      Product<double> wide(transposes & 1, transposes & 2, m, n, k, random);
      wide.usePosts(3 - transposes);
      if (m * n < 10000)
        wide.expectStrict();
    }
}

/// Turns prefetching on or off during its lifetime.
class Prefetching {
public:
  explicit Prefetching(bool isOn) { setPrefetching(isOn); }
  ~Prefetching() { setPrefetching(before); }

private:
  bool before = usesPrefetching();
};

/// Compares both forms of the kernels for AVX-512 with each other.
template <typename T> void expectEqualWithPrefetching(std::mt19937 &random) {
  const auto size = [&](int64_t most) {
    return 1 + int64_t(random() % uint64_t(random() % 3 == 0 ? 33 : most));
  };
  const int64_t m = 40 + size(600), n = size(600), k = size(600);
  Product<T> product(random() & 1, random() & 2, m, n, k, random);
  product.usePosts(static_cast<int>(random() % 4));
  // Slices of a product have gaps between the rows of all matrices.
  const int64_t gap = random() % 3 == 0 ? int64_t(random() % 700) : 0;
  std::vector<T> a = Product<T>::fill((m + gap) * (k + gap), random);
  std::vector<T> b = Product<T>::fill((k + gap) * (n + gap), random);
  std::vector<T> unused, c[2];
  GemmCall call = product.call(unused);
  call.a = a.data();
  call.b = b.data();
  call.aStride = (product.transposeA ? m : k) + gap;
  call.bStride = (product.transposeB ? k : n) + gap;
  call.cStride = n + gap;
  GemmWorkspace workspace;
  for (const bool isOn : {false, true}) {
    const Prefetching prefetching(isOn);
    c[isOn].assign(size_t(m * (n + gap)), T(-5));
    call.c = c[isOn].data();
    strictGemm(GemmIsa::v4, workspace, call);
  }
  EXPECT_TRUE(std::ranges::equal(c[0], c[1], sameBits<T>))
      << m << "x" << n << "x" << k << " transposed " << product.transposeA
      << product.transposeB << ", gaps of " << gap;
}

TEST(StrictGemmTest, PrefetchingChangesNoBit) {
  if (!isSupported(GemmIsa::v4))
    GTEST_SKIP() << "this CPU lacks AVX-512";
  std::mt19937 random(12);
  for (int turn = 0; turn < 60; ++turn) {
    expectEqualWithPrefetching<float>(random);
    expectEqualWithPrefetching<double>(random);
  }
}

// The definition, for the forms that `BlocksOfEachDimension` does not compute
// on this CPU.
TEST(StrictGemmTest, PrefetchingFollowsTheDefinition) {
  std::mt19937 random(13);
  for (const bool isOn : {false, true}) {
    const Prefetching prefetching(isOn);
    for (const auto &[m, n, k] :
         {std::array<int64_t, 3>{57, 130, 385}, {500, 17, 200}, {41, 490, 16}})
      for (int transposes = 0; transposes < 4; ++transposes) {
        Product<float> product(transposes & 1, transposes & 2, m, n, k, random);
        product.usePosts(transposes);
        product.expectStrict();
      }
  }
}

/// Sets some numbers of A to zero, also in several rows at once, as after a
/// relu.
template <typename T>
void makeSparse(Product<T> &product, std::mt19937 &random) {
  const auto at = [&](int64_t i, int64_t p) -> T & {
    return product
        .a[size_t(product.transposeA ? p * product.m + i : i * product.k + p)];
  };
  for (int64_t p = 0; p < product.k; ++p) {
    const bool isDead = random() % 2 == 0;
    for (int64_t i = 0; i < product.m; ++i)
      if (isDead || random() % 4 == 0)
        at(i, p) = random() % 3 == 0 ? T(-0.0) : T(0);
  }
}

TEST(StrictGemmTest, ZerosThatAreLeftOut) {
  std::mt19937 random(8);
  const int64_t shapes[][3] = {{1, 400, 400},  {1, 1000, 1100}, {1, 97, 33},
                               {1, 24, 5},     {4, 48, 16},     {8, 100, 600},
                               {97, 481, 515}, {23, 50, 40},    {16, 7, 3}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      Product<float> product(transposes & 1, transposes & 2, m, n, k, random);
      makeSparse(product, random);
      product.usePosts(transposes);
      product.expectStrict();
      Product<double> wide(transposes & 1, transposes & 2, m, n, k, random);
      makeSparse(wide, random);
      wide.usePosts(3 - transposes);
      wide.expectStrict();
      // All of A is zero, or all of some samples.
      std::fill_n(product.a.begin(), product.a.size() / 2, 0.0F);
      product.expectStrict();
      std::ranges::fill(product.a, -0.0F);
      product.expectStrict();
    }
}

// Sums that are rounded to -0 become +0 if a zero is added, or stay -0.
TEST(StrictGemmTest, MinusZeroAndZerosThatAreLeftOut) {
  std::mt19937 random(9);
  constexpr float tiny = 0x1p-140F;
  int64_t minusZeros = 0, plusZeros = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const int64_t m = turn % 2 ? 1 : 8, n = 100, k = 40;
    Product<float> product(turn & 2, turn & 4, m, n, k, random);
    makeSparse(product, random);
    for (float &value : product.a)
      if (value != 0)
        value = random() % 2 ? tiny : -tiny;
    for (float &value : product.b)
      value = random() % 3 == 0 ? 0.0F : random() % 2 ? tiny : -tiny;
    product.expectStrict();
    for (const float sum : product.reference())
      ++(std::signbit(sum) ? minusZeros : plusZeros);
  }
  EXPECT_GT(minusZeros, 1000);
  EXPECT_GT(plusZeros, 1000);
}

TEST(StrictGemmTest, NaNInfinityAndDenormals) {
  std::mt19937 random(5);
  const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           0x1p-149f,
                           -0x1p-140f,
                           0x1p-70f,
                           -0.0f,
                           0x1p+127f};
  for (const auto &[m, n, k] :
       {std::array<int64_t, 3>{13, 53, 31}, std::array<int64_t, 3>{2, 53, 31},
        std::array<int64_t, 3>{31, 1, 13}})
    for (int transposes = 0; transposes < 4; ++transposes)
      for (int posts = 0; posts < 4; ++posts) {
        Product<float> product(transposes & 1, transposes & 2, m, n, k, random);
        for (std::vector<float> *values :
             {&product.a, &product.b, &product.bias, &product.mask})
          for (float &value : *values)
            if (random() % 40 == 0)
              value = special[random() % std::size(special)];
        // Rows of tiny values, whose products are denormal or zero.
        for (float &value : product.a)
          if (random() % 3 == 0)
            value *= 0x1p-140f;
        product.usePosts(posts);
        product.expectStrict();
      }
}

TEST(StrictGemmTest, ReluKeepsNaNAndGivesPositiveZero) {
  const float a[] = {std::numeric_limits<float>::quiet_NaN(), -1, -0.0f, 2};
  const float b[] = {1};
  const pdl_post relu = {PDL_POST_RELU, nullptr};
  float c[4];
  GemmWorkspace workspace;
  strictGemm(nativeGemmIsa(), workspace,
             {PDL_F32, false, false, 4, 1, 1, a, b, c, 1, 1, &relu});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(std::bit_cast<uint32_t>(c[1]), 0u);
  EXPECT_EQ(std::bit_cast<uint32_t>(c[2]), 0u);
  EXPECT_EQ(c[3], 2.0f);
}

/// C may be columns of a wider matrix, whose other columns stay unchanged.
template <typename T> void expectColumns() {
  std::mt19937 random(8);
  GemmWorkspace workspace;
  for (const auto &[m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 37, 9},
                                {50, 1, 30},
                                {20, 16, 40},
                                {97, 481, 513},
                                {7, 5, 0}})
    for (int kind = 0; kind < 4; ++kind) {
      Product<T> product((kind & 1) != 0, (kind & 2) != 0, m, n, k, random);
      product.usePosts(kind);
      const std::vector<T> expected = product.reference();
      const int64_t stride = n + 3;
      for (GemmIsa isa : {GemmIsa::v3, GemmIsa::v4}) {
        if (!isSupported(isa))
          continue;
        std::vector<T> unused;
        std::vector<T> c(static_cast<size_t>(m * stride), T(-5));
        GemmCall call = product.call(unused);
        call.c = c.data();
        call.cStride = stride;
        strictGemm(isa, workspace, call);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < stride; ++j)
            ASSERT_TRUE(sameBits(c[size_t(i * stride + j)],
                                 j < n ? expected[size_t(i * n + j)] : T(-5)))
                << m << "x" << n << "x" << k << " at " << i << ", " << j;
      }
    }
}
TEST(StrictGemmTest, WritesColumnsF32) { expectColumns<float>(); }
TEST(StrictGemmTest, WritesColumnsF64) { expectColumns<double>(); }

/// A single row, as in serving, equals the row in a batch.
TEST(StrictGemmTest, BatchSizeChangesNoBit) {
  std::mt19937 random(6);
  for (const auto &[n, k] : {std::pair<int64_t, int64_t>{400, 273},
                             {400, 400},
                             {1, 400},
                             {37, 1000}}) {
    const int64_t batch = 512;
    Product<float> product(false, false, batch, n, k, random);
    product.usePosts(1);
    std::vector<float> all, one;
    Worker worker;
    GemmCall call = product.call(all);
    pdlrt_gemm(&worker, PDL_F32, PDL_NUMERICS_STRICT, 0, 0, batch, n, k, call.a,
               call.b, call.c, n, call.postCount, call.posts);
    for (int64_t row = 0; row < batch; ++row) {
      one.assign(static_cast<size_t>(n), 0);
      pdlrt_gemm(&worker, PDL_F32, PDL_NUMERICS_STRICT, 0, 0, 1, n, k,
                 product.a.data() + row * k, call.b, one.data(), n,
                 call.postCount, call.posts);
      for (int64_t j = 0; j < n; ++j)
        ASSERT_TRUE(sameBits(one[size_t(j)], all[size_t(row * n + j)]))
            << "row " << row << " of " << n << " columns, column " << j;
    }
  }
}

/// This program is linked without oneDNN.
TEST(StrictGemmTest, FastWithoutBackendIsStrict) {
  std::mt19937 random(7);
  Product<float> product(false, false, 60, 40, 700, random);
  std::vector<float> fast, strict;
  Worker worker;
  for (std::vector<float> *c : {&fast, &strict}) {
    const GemmCall call = product.call(*c);
    pdlrt_gemm(&worker, PDL_F32,
               c == &fast ? PDL_NUMERICS_FAST : PDL_NUMERICS_STRICT, 0, 0, 60,
               40, 700, call.a, call.b, call.c, 40, 0, nullptr);
  }
  EXPECT_EQ(fast, strict);
}

} // namespace
