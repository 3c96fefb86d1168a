//===- Int8GemmTest.cpp - Products with int8 weights, bit for bit ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Int8Gemm.h"
#include "pdlrt/Gemm/PackedFactors.h"

#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

using namespace pdlrt;

namespace {

/// Numbers of a line and their scale, by the definition in docs/Numerics.md.
struct QuantizedLine {
  std::vector<int> numbers;
  float scale = 0;
};

QuantizedLine quantized(const std::vector<float> &line, float most) {
  QuantizedLine result = {std::vector<int>(line.size()), 0};
  float largest = 0;
  for (float x : line) {
    if (!std::isfinite(x)) {
      result.scale = std::numeric_limits<float>::quiet_NaN();
      return result;
    }
    largest = std::max(largest, std::fabs(x));
  }
  if (largest < 0x1p-100f)
    return result;
  const float factor = most / largest;
  for (size_t i = 0; i < line.size(); ++i)
    result.numbers[i] = int(std::nearbyint(line[i] * factor));
  result.scale = largest / most;
  return result;
}

/// A product of random factors with gaps between their rows.
struct Int8Product {
  bool transposeB;
  int64_t m, n, k, aStride, bStride, cStride;
  std::vector<float> a, b, bias, mask;
  std::vector<pdl_post> posts;

  Int8Product(int64_t m, int64_t n, int64_t k, int gap, std::mt19937 &random)
      : transposeB(random() & 1), m(m), n(n), k(k), aStride(k + gap),
        bStride((transposeB ? k : n) + gap), cStride(n + gap),
        a(size_t(m * aStride)), b(size_t((transposeB ? n : k) * bStride)),
        bias(size_t(n)), mask(size_t(m * n)) {
    std::normal_distribution<float> normal;
    for (std::vector<float> *values : {&a, &b, &bias, &mask})
      for (float &value : *values)
        value = normal(random);
    const std::vector<std::vector<pdl_post>> lists = {
        {},
        {{PDL_POST_BIAS, bias.data()}},
        {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}},
        {{PDL_POST_RELU_GRADIENT, mask.data()}, {PDL_POST_BIAS, bias.data()}}};
    posts = lists[random() % lists.size()];
  }

  float *left(int64_t i, int64_t p) { return &a[size_t(i * aStride + p)]; }
  float *right(int64_t p, int64_t j) {
    return &b[size_t(transposeB ? j * bStride + p : p * bStride + j)];
  }

  GemmCall call(std::vector<float> &c) const {
    c.assign(size_t(m * cStride), -7);
    GemmCall call = {PDL_F32,
                     false,
                     transposeB,
                     m,
                     n,
                     k,
                     a.data(),
                     b.data(),
                     c.data(),
                     cStride,
                     int32_t(posts.size()),
                     posts.data()};
    call.aStride = aStride;
    call.bStride = bStride;
    return call;
  }

  std::vector<float> expected() {
    std::vector<float> c(size_t(m * cStride), -7);
    std::vector<QuantizedLine> columns;
    for (int64_t j = 0; j < n; ++j) {
      std::vector<float> line;
      for (int64_t p = 0; p < k; ++p)
        line.push_back(*right(p, j));
      columns.push_back(quantized(line, 127));
    }
    for (int64_t i = 0; i < m; ++i) {
      const QuantizedLine row = quantized({left(i, 0), left(i, 0) + k}, 32512);
      for (int64_t j = 0; j < n; ++j) {
        const QuantizedLine &column = columns[size_t(j)];
        int high = 0, low = 0;
        for (int64_t p = 0; p < k; ++p) {
          const int number = row.numbers[size_t(p)];
          // Halves with signs: the low one is -128 to 127.
          const int upper = int(std::floor((number + 128) / 256.0));
          high += upper * column.numbers[size_t(p)];
          low += (number - 256 * upper) * column.numbers[size_t(p)];
        }
        float x = 256 * float(high) + float(low);
        x = x * row.scale * column.scale;
        for (const pdl_post &post : posts)
          x = post.kind == PDL_POST_BIAS ? x + bias[size_t(j)]
              : post.kind == PDL_POST_RELU
                  ? (x <= 0 ? 0 : x)
                  : (mask[size_t(i * n + j)] <= 0 ? 0 : x);
        c[size_t(i * cStride + j)] = x;
      }
    }
    return c;
  }
};

::testing::AssertionResult haveEqualBits(const std::vector<float> &a,
                                         const std::vector<float> &b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i]) &&
        !(std::isnan(a[i]) && std::isnan(b[i])))
      return ::testing::AssertionFailure()
             << a[i] << " is not " << b[i] << " at " << i;
  return ::testing::AssertionSuccess();
}

class Int8Gemm : public testing::TestWithParam<Int8Isa> {
protected:
  void SetUp() override {
    if (!isSupported(GetParam()))
      GTEST_SKIP() << "this process cannot use these instructions";
  }

  void check(Int8Product &product) {
    GemmWorkspace workspace;
    std::vector<float> c;
    GemmCall call = product.call(c);
    ASSERT_TRUE(canUseInt8(call));
    AlignedBuffer packed;
    call.packedB = packed.reserve(size_t(packInt8Factor(call, nullptr)));
    packInt8Factor(call, packed.data());
    int8Gemm(GetParam(), workspace, call);
    EXPECT_TRUE(haveEqualBits(c, product.expected()))
        << product.m << " x " << product.n << " x " << product.k;
  }

  std::mt19937 random{4};
};

TEST_P(Int8Gemm, HasTheBitsOfItsDefinition) {
  for (int64_t m = 1; m <= 33; ++m) {
    Int8Product product(m, 16 + int64_t(random() % 33),
                        16 + int64_t(random() % 70), int(random() % 3), random);
    check(product);
  }
  for (const auto &[m, n, k] :
       {std::tuple<int64_t, int64_t, int64_t>{70, 100, 400},
        {3, 17, 16384},
        {1, 400, 273}}) {
    Int8Product product(m, n, k, 0, random);
    check(product);
  }
}

TEST_P(Int8Gemm, LargestSumsDoNotOverflow) {
  for (float sign : {1.0f, -1.0f}) {
    Int8Product product(2, 16, 16384, 0, random);
    std::fill(product.a.begin(), product.a.end(), sign);
    std::fill(product.b.begin(), product.b.end(), 1.0f);
    check(product);
  }
}

TEST_P(Int8Gemm, OnlyTheirRowsAndColumnsAreNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float value : {std::numeric_limits<float>::quiet_NaN(), infinity,
                      -infinity, std::numeric_limits<float>::max(),
                      std::numeric_limits<float>::denorm_min(), 0.0f}) {
    Int8Product product(20, 33, 65, 1, random);
    *product.left(3, 7) = *product.right(64, 30) = value;
    check(product);
    // A line of nothing but this value.
    for (int64_t p = 0; p < product.k; ++p)
      *product.left(5, p) = *product.right(p, 2) = value;
    check(product);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Int8Gemm,
                         testing::Values(Int8Isa::v3, Int8Isa::vnni,
                                         Int8Isa::amx),
                         [](const auto &info) {
                           return info.param == Int8Isa::v3     ? "v3"
                                  : info.param == Int8Isa::vnni ? "vnni"
                                                                : "amx";
                         });

TEST(Int8WeightsTest, OnlyRequestedConstantsAreQuantized) {
  std::mt19937 random(5);
  Int8Product product(9, 40, 50, 0, random);
  std::vector<float> c, plain;
  GemmWorkspace workspace;
  gemm(PDL_PRODUCT_FAST, workspace, product.call(plain));
  for (bool usesInt8 : {false, true}) {
    PackedFactors constants;
    if (usesInt8)
      constants.useInt8();
    constants.addConstant(product.b.data(), product.b.size() * sizeof(float));
    workspace.constants = &constants;
    gemm(PDL_PRODUCT_FAST, workspace, product.call(c));
    EXPECT_EQ(bool(haveEqualBits(c, product.expected())), usesInt8);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < c.size(); ++i) {
      worst = std::max(worst, std::fabs(double(c[i]) - plain[i]));
      largest = std::max(largest, std::fabs(double(plain[i])));
    }
    EXPECT_LT(worst, (usesInt8 ? 0.01 : 1e-5) * largest);
    EXPECT_EQ(worst > 1e-4 * largest, usesInt8);
    // A new version of the model quantizes the same factors in advance.
    PackedFactors next;
    next.addConstant(product.b.data(), product.b.size() * sizeof(float));
    next.packAs(constants);
    EXPECT_EQ(next.memoryBytes(), constants.memoryBytes());
    EXPECT_EQ(next.usesInt8(), usesInt8);
    // The other factor is no constant.
    const Int8Product other(9, 40, 50, 0, random);
    EXPECT_FALSE(multiplyWithInt8Weights(workspace, other.call(c)));
  }
}

TEST(Int8WeightsTest, NarrowAndDeepProductsStayInF32) {
  GemmCall call;
  call.m = 1;
  call.n = call.k = 16;
  EXPECT_TRUE(canUseInt8(call));
  for (const auto &[n, k] :
       {std::pair<int64_t, int64_t>{15, 16}, {16, 15}, {16, 16385}}) {
    call.n = n;
    call.k = k;
    EXPECT_FALSE(canUseInt8(call));
  }
  call.n = call.k = 16;
  call.transposeA = true;
  EXPECT_FALSE(canUseInt8(call));
  call.transposeA = false;
  call.type = PDL_F64;
  EXPECT_FALSE(canUseInt8(call));
}

} // namespace
