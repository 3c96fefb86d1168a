//===- ProductsTest.cpp - Products of device threads, bit for bit ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "pdlabi/device.h"
#include "pdlrt/Gemm/Gemm.h"

using namespace pdlrt;
using namespace pdltest;

namespace {

/// A product on the CPU and on threads of a device.
template <typename T> struct Product {
  bool transposeA, transposeB;
  int64_t m, n, k, cStride;
  std::vector<T> a, b, bias, mask, c;

  Product(int transposes, int64_t m, int64_t n, int64_t k, int64_t gap,
          Numbers numbers, std::mt19937 &random)
      : transposeA(transposes & 1), transposeB(transposes & 2), m(m), n(n),
        k(k), cStride(n + gap), a(anyNumbers<T>(m * k, numbers, random)),
        b(anyNumbers<T>(k * n, numbers, random)),
        bias(anyNumbers<T>(n, numbers, random)),
        mask(anyNumbers<T>(m * n, numbers, random)),
        // There are no elements after the last row.
        c(static_cast<size_t>((m - 1) * cStride + n), T(-77)) {}

  std::vector<T> onCpu(uint64_t posts) const {
    std::vector<pdl_post> list;
    for (; posts; posts >>= 4) {
      const auto kind = static_cast<int32_t>(posts & 15);
      list.push_back({kind, kind == PDL_POST_BIAS            ? bias.data()
                            : kind == PDL_POST_RELU_GRADIENT ? mask.data()
                                                             : nullptr});
    }
    std::vector<T> result = c;
    GemmWorkspace workspace;
    strictGemm(nativeGemmIsa(), workspace,
               {typeCode<T>, transposeA, transposeB, m, n, k, a.data(),
                b.data(), result.data(), cStride,
                static_cast<int32_t>(list.size()), list.data()});
    return result;
  }

  void expectSame(uint64_t posts, int64_t threads, Fence fence,
                  std::mt19937 &random) const {
    const auto left = Fenced<T>::input(a, fence);
    const auto right = Fenced<T>::input(b, fence);
    const auto biases = Fenced<T>::input(bias, fence);
    const auto masks = Fenced<T>::input(mask, fence);
    const Fenced<T> result(c, fence);
    runThreads(threads, random, [&](int64_t first, int64_t stride) {
      PDL_DEVICE_FUNCTION(T, product)
      (transposeA, transposeB, m, n, k, left.data(), right.data(), posts,
       biases.data(), masks.data(), result.data(), cStride, first, stride);
    });
    expectSameBits<T>(result.values(), onCpu(posts));
  }

  int64_t turns() const {
    return pdldevice_product_turns(transposeA, transposeB, m, n, k, nullptr,
                                   nullptr, 0, nullptr, nullptr, nullptr,
                                   cStride);
  }
};

template <typename T> class ProductsTest : public testing::Test {
protected:
  std::mt19937 random{7};

  void expectSame(const Product<T> &product, uint64_t posts, int64_t threads,
                  Fence fence) {
    SCOPED_TRACE(testing::Message()
                 << product.m << " x " << product.n << " x " << product.k
                 << ", transposed " << product.transposeA << product.transposeB
                 << ", posts " << posts << ", threads " << threads);
    product.expectSame(posts, threads, fence, random);
  }
};
TYPED_TEST_SUITE(ProductsTest, ElementTypes);

constexpr uint64_t listsOfPosts[] = {0, 0x1, 0x21, 0x3, 0x2, 0x12, 0x213};

TYPED_TEST(ProductsTest, SmallShapesHaveTheBitsOfTheStrictKernels) {
  for (int round = 0; round < 150; ++round) {
    auto upTo = [&](uint32_t most) { return int64_t(this->random() % most); };
    const Product<TypeParam> product(round % 4, 1 + upTo(20), 1 + upTo(20),
                                     upTo(12), upTo(2) * upTo(5),
                                     numbers[round % 3], this->random);
    for (int64_t threads : threadCounts)
      for (Fence fence : fences)
        this->expectSame(product, listsOfPosts[upTo(7)], threads, fence);
  }
}

TYPED_TEST(ProductsTest, OneRowOrColumnOrNothingToAdd) {
  const int64_t shapes[][3] = {{1, 1, 0},  {1, 37, 9}, {37, 1, 9},
                               {1, 1, 41}, {9, 5, 0},  {2, 70, 3}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const Product<TypeParam> product(transposes, m, n, k, 3, Numbers::extreme,
                                       this->random);
      for (int64_t threads : threadCounts)
        for (uint64_t posts : listsOfPosts)
          this->expectSame(product, posts, threads, Fence::after);
    }
}

// Sizes that are multiples of a tile and of one load, and other sizes.
TYPED_TEST(ProductsTest, MiddleTiles) {
  const int64_t shapes[][3] = {{256, 256, 8}, {259, 263, 7}, {6, 11008, 5}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const Product<TypeParam> product(transposes, m, n, k, transposes % 2,
                                       Numbers::extreme, this->random);
      // Tiles of four rows and four columns.
      ASSERT_EQ(product.turns(), (m + 3) / 4 * ((n + 3) / 4));
      for (int64_t threads : {1, 7, 5000})
        this->expectSame(product, 0x213, threads, Fence::after);
    }
}

TYPED_TEST(ProductsTest, LargeTiles) {
  const int64_t shapes[][3] = {{1024, 1536, 4}, {1259, 1253, 5}, {9, 98309, 2}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const Product<TypeParam> product(transposes, m, n, k, transposes % 2,
                                       Numbers::extreme, this->random);
      // Tiles of eight rows and eight columns.
      ASSERT_EQ(product.turns(), (m + 7) / 8 * ((n + 7) / 8));
      this->expectSame(product, 0x213, 1000, Fence::after);
      this->expectSame(product, 0, 3, Fence::before);
    }
}

// A matrix in an arena may start at any element.
TYPED_TEST(ProductsTest, FactorsNeedNotBeAligned) {
  using T = TypeParam;
  const int64_t m = 260, n = 256, k = 8;
  for (int transposes = 0; transposes < 4; ++transposes) {
    Product<T> product(transposes, m, n, k, 0, Numbers::normal, this->random);
    const std::vector<T> want = product.onCpu(0);
    product.a.insert(product.a.begin(), T(5));
    product.b.insert(product.b.begin(), T(5));
    const auto a = Fenced<T>::input(product.a, Fence::before);
    const auto b = Fenced<T>::input(product.b, Fence::before);
    std::vector<T> c(product.c);
    runThreads(7, this->random, [&](int64_t first, int64_t stride) {
      PDL_DEVICE_FUNCTION(T, product)
      (product.transposeA, product.transposeB, m, n, k, a.data() + 1,
       b.data() + 1, 0, nullptr, nullptr, c.data(), n, first, stride);
    });
    expectSameBits<T>(c, want);
  }
}

TYPED_TEST(ProductsTest, BatchesAreConsecutiveProducts) {
  using T = TypeParam;
  // Tiles of one element, of four by four, and of eight by eight.
  const int64_t shapes[][4] = {{5, 3, 4, 6},      {1, 1, 1, 1}, {40, 1, 9, 4},
                               {700, 13, 11, 5},  {0, 4, 4, 4}, {7, 4, 4, 0},
                               {6200, 13, 16, 2}, {3, 8, 1, 3}};
  for (const auto &[count, m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool transposeA = transposes & 1, transposeB = transposes & 2;
      const auto a =
          anyNumbers<T>(count * m * k, Numbers::extreme, this->random);
      const auto b =
          anyNumbers<T>(count * k * n, Numbers::extreme, this->random);
      std::vector<T> want(static_cast<size_t>(count * m * n), T(-1));
      GemmWorkspace workspace;
      strictBatchGemm(nativeGemmIsa(), workspace,
                      {typeCode<T>, transposeA, transposeB, m, n, k, a.data(),
                       b.data(), want.data(), n},
                      count);
      for (int64_t threads : threadCounts) {
        const auto left = Fenced<T>::input(a, Fence::after);
        const auto right = Fenced<T>::input(b, Fence::after);
        const Fenced<T> c(std::vector<T>(want.size(), T(-1)), Fence::after);
        runThreads(threads, this->random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(T, batch_product)
          (transposeA, transposeB, count, m, n, k, left.data(), right.data(),
           c.data(), first, stride);
        });
        expectSameBits<T>(c.values(), want);
      }
    }
}

// If two turns wrote the same element, threads of a GPU would race, even if
// both wrote the same value.
TYPED_TEST(ProductsTest, EachElementIsWrittenByOneTurn) {
  using T = TypeParam;
  // Tiles of one element, of four by four, and of eight by eight.
  const int64_t shapes[][3] = {{30, 5, 7}, {456, 9, 10}, {6200, 9, 21}};
  for (const auto &[count, m, n] : shapes)
    for (bool transposeB : {false, true}) {
      const std::vector<T> a(static_cast<size_t>(count * m), T(1));
      const std::vector<T> b(static_cast<size_t>(count * n), T(1));
      std::vector<T> c(static_cast<size_t>(count * m * n));
      std::vector<int> writes(c.size());
      const int64_t turns = pdldevice_batch_product_turns(
          0, transposeB, count, m, n, 1, a.data(), b.data(), c.data());
      for (int64_t turn = 0; turn < turns; ++turn) {
        PDL_DEVICE_FUNCTION(T, batch_product)
        (0, transposeB, count, m, n, 1, a.data(), b.data(), c.data(), turn,
         turns);
        const int64_t own = turn / (turns / count) * m * n;
        for (int64_t i = own; i < own + m * n; ++i) {
          writes[size_t(i)] += c[size_t(i)] != 0;
          c[size_t(i)] = 0;
        }
      }
      EXPECT_EQ(writes, std::vector<int>(c.size(), 1))
          << count << " times " << m << " x " << n;
    }
}

TEST(Products, TurnsOfNothing) {
  auto turns = [](int64_t count, int64_t m, int64_t n) {
    return pdldevice_batch_product_turns(0, 0, count, m, n, 3, nullptr, nullptr,
                                         nullptr);
  };
  EXPECT_EQ(turns(0, 5, 5), 0);
  EXPECT_EQ(turns(5, 0, 5), 0);
  EXPECT_EQ(turns(5, 5, 0), 0);
  EXPECT_EQ(turns(5, 1, 3), 15);
}

} // namespace
