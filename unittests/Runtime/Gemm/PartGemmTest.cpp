//===- PartGemmTest.cpp - Products of programs with bf16 parts ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm/TileChoice.h"
#include "pdlabi/products.h"
#include "pdlrt/Gemm/Compute.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Gemm/PackedFactors.h"
#include "pdlrt/Gemm/TileGemm.h"
#include "pdlrt/Sched/Scheduler.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using namespace pdlrt;

namespace {

/// A product with bias and relu of random factors.
struct RandomProduct {
  bool transposeA, transposeB;
  int64_t m, n, k;
  std::vector<float> a, b, bias;
  std::vector<pdl_post> posts;

  RandomProduct(int transposes, int64_t m, int64_t n, int64_t k)
      : transposeA(transposes & 1), transposeB(transposes & 2), m(m), n(n),
        k(k), a(size_t(m * k)), b(size_t(k * n)), bias(size_t(n)) {
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    for (std::vector<float> *values : {&a, &b, &bias})
      for (float &value : *values)
        value = normal(random);
    posts = {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}};
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
            int32_t(posts.size()),
            posts.data()};
  }

  float left(int64_t i, int64_t p) const {
    return a[size_t(transposeA ? p * m + i : i * k + p)];
  }
  float right(int64_t p, int64_t j) const {
    return b[size_t(transposeB ? j * k + p : p * n + j)];
  }
};

/// Returns the largest error of a product without posts, relative to the sum of
/// the magnitudes of the terms.
double errorOf(const RandomProduct &product, const std::vector<float> &c) {
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
  return worst;
}

std::vector<int32_t> kindsOfTiles() {
  std::vector<int32_t> kinds = {PDL_PRODUCT_BF16X3, PDL_PRODUCT_BF16X6};
  if (nativePartCpu() == PartCpu::amx)
    for (int32_t fast : {PDL_PRODUCT_BF16_FAST, PDL_PRODUCT_BF16X3_FAST,
                         PDL_PRODUCT_BF16X6_FAST})
      kinds.push_back(fast);
  return kinds;
}

TEST(PartGemmTest, NeitherThreadsNorPackedConstantsChangeABit) {
  for (int32_t kind : kindsOfTiles())
    for (int transposes = 0; transposes < 4; ++transposes)
      for (bool wide : {false, true}) {
        const RandomProduct product(transposes, wide ? 190 : 801,
                                    wide ? 801 : 190, 1023);
        std::vector<float> alone, shared, packed;
        GemmWorkspace workspace;
        gemm(kind, workspace, product.call(alone));
        Scheduler scheduler(3);
        const GemmCall call = product.call(shared);
        scheduler.parallelFor(
            1, [&](int64_t) { gemm(kind, workspace, call); }, 3);
        EXPECT_EQ(alone, shared) << "kind " << kind;
        PackedFactors constants;
        constants.addConstant(product.b.data(),
                              product.b.size() * sizeof(float));
        workspace.constants = &constants;
        gemm(kind, workspace, product.call(packed));
        EXPECT_EQ(alone, packed) << "kind " << kind;
        EXPECT_EQ(constants.memoryBytes() > 0, nativeTileIsa() == TileIsa::amx);
      }
}

TEST(PartGemmTest, PackedFactorsOfSeveralKindsAreDistinct) {
  if (!isSupported(TileIsa::amx))
    GTEST_SKIP() << "this process cannot use AMX";
  const RandomProduct product(0, 40, 50, 60);
  std::vector<float> c;
  const GemmCall call = product.call(c);
  PackedFactors constants, copies;
  const size_t bytes = product.b.size() * sizeof(float);
  constants.addConstant(product.b.data(), bytes);
  const PackedFactor *strict = constants.find(call);
  const PackedFactor *one = constants.find(call, 1);
  const PackedFactor *two = constants.find(call, 2);
  ASSERT_TRUE(strict && one && two);
  EXPECT_NE(strict, one);
  EXPECT_NE(one, two);
  EXPECT_EQ(constants.find(call, 1), one);
  // A new version of the model packs what the old one had packed.
  copies.addConstant(product.b.data(), bytes);
  copies.packAs(constants);
  EXPECT_EQ(copies.memoryBytes(), constants.memoryBytes());
}

/// Each kind with its error bound.
TEST(PartGemmTest, FastProductsAreNearTheProductInDouble) {
  const std::pair<int32_t, double> kinds[] = {
      {PDL_PRODUCT_BF16_FAST, 0x1p-7},
      {PDL_PRODUCT_BF16X3_FAST, 0x1p-15},
      {PDL_PRODUCT_BF16X6_FAST, 0x1p-20}};
  GemmWorkspace workspace;
  for (int transposes = 0; transposes < 4; ++transposes)
    for (const auto &[kind, bound] : kinds)
      for (int64_t m : {3, 200}) {
        RandomProduct product(transposes, m, 130, 300);
        product.posts.clear();
        std::vector<float> c;
        gemm(kind, workspace, product.call(c));
        EXPECT_LT(errorOf(product, c), bound);
      }
}

/// Ill-conditioned: the terms cancel up to a few bits, and the scales of rows
/// and columns differ by 2^40.
TEST(PartGemmTest, CancelingTermsKeepTheirErrorBounds) {
  RandomProduct product(0, 64, 64, 512);
  product.posts.clear();
  for (int64_t i = 0; i < product.m; ++i)
    for (int64_t p = 0; p < product.k; p += 2) {
      float *pair = &product.a[size_t(i * product.k + p)];
      pair[0] = std::ldexp(pair[0], int(i % 41) - 20);
      pair[1] = -pair[0] * (1 + 0x1p-18f * float(i));
    }
  for (int64_t p = 0; p < product.k; p += 2)
    for (int64_t j = 0; j < product.n; ++j)
      product.b[size_t((p + 1) * product.n + j)] =
          product.b[size_t(p * product.n + j)];
  GemmWorkspace workspace;
  for (const auto &[kind, bound] : {std::pair{PDL_PRODUCT_BF16X3, 0x1p-15},
                                    {PDL_PRODUCT_BF16X6, 0x1p-20}}) {
    std::vector<float> c;
    gemm(kind, workspace, product.call(c));
    EXPECT_LT(errorOf(product, c), bound);
  }
}

/// Turns bf16x6 for f32 products on or off during its lifetime.
class SplitsF32 {
public:
  explicit SplitsF32(bool isOn) { setSplitsF32(isOn); }
  ~SplitsF32() { setSplitsF32(true); }
};

std::vector<float> resultOf(int32_t kind, const RandomProduct &product) {
  GemmWorkspace workspace;
  std::vector<float> c;
  gemm(kind, workspace, product.call(c));
  return c;
}

TEST(PartGemmTest, LargeF32ProductsAreSplitWithAmx) {
  const bool amx = isSupported(TileIsa::amx);
  EXPECT_EQ(splitsF32(), amx);
  for (int transposes = 0; transposes < 4; ++transposes) {
    const RandomProduct product(transposes, 129, 130, 333);
    const auto fast = resultOf(PDL_PRODUCT_FAST, product);
    EXPECT_EQ(fast == resultOf(PDL_PRODUCT_BF16X6, product), amx);
    const SplitsF32 off(false);
    EXPECT_FALSE(splitsF32());
    EXPECT_EQ(fast != resultOf(PDL_PRODUCT_FAST, product), amx);
  }
  // A small product, one in f64 and one in strict are not split.
  const RandomProduct narrow(0, 1000, 127, 333);
  GemmWorkspace workspace;
  std::vector<float> c;
  EXPECT_FALSE(prefersParts(workspace, narrow.call(c)));
  const RandomProduct large(0, 300, 300, 200);
  GemmCall call = large.call(c);
  EXPECT_EQ(prefersParts(workspace, call), amx);
  call.type = PDL_F64;
  EXPECT_FALSE(prefersParts(workspace, call));
  EXPECT_NE(resultOf(PDL_PRODUCT_STRICT, large),
            resultOf(PDL_PRODUCT_BF16X6, large));
}

TEST(PartGemmTest, LibrariesDoNotSplitF32Products) {
  const RandomProduct product(0, 300, 300, 200);
  GemmWorkspace workspace;
  PackedFactors constants;
  workspace.constants = &constants;
  std::vector<float> c;
  EXPECT_FALSE(prefersParts(workspace, product.call(c)));
  // B is a constant, for which the strict kernels are used.
  constants.addConstant(product.b.data(), product.b.size() * sizeof(float));
  gemm(PDL_PRODUCT_FAST, workspace, product.call(c));
  EXPECT_EQ(c, resultOf(PDL_PRODUCT_STRICT, product));
}

bool haveEqualBits(const std::vector<float> &a, const std::vector<float> &b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Factors that parts cannot represent: the elements that depend on them are
/// those of numerics strict. All others keep the bound.
TEST(PartGemmTest, SplitF32ProductsKeepNaNInfinitiesAndDenormals) {
  const float values[] = {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::denorm_min(),
                          0x1p-130f};
  for (int transposes = 0; transposes < 4; ++transposes)
    for (float value : values) {
      RandomProduct product(transposes, 160, 130, 193);
      product.posts.clear();
      product.a[7] = product.b[11] = value;
      const auto fast = resultOf(PDL_PRODUCT_FAST, product);
      const auto strict = resultOf(PDL_PRODUCT_STRICT, product);
      EXPECT_TRUE(haveEqualBits(fast, resultOf(PDL_PRODUCT_FAST, product)));
      for (size_t i = 0; i < fast.size(); ++i) {
        if (std::isfinite(strict[i]) && std::abs(strict[i]) < 1e30f)
          ASSERT_NEAR(fast[i], strict[i], 1e-4f);
        else if (std::isnan(strict[i]))
          ASSERT_TRUE(std::isnan(fast[i])) << value;
        else if (!std::isfinite(strict[i]))
          ASSERT_EQ(fast[i], strict[i]) << value;
        else
          ASSERT_NEAR(fast[i] / strict[i], 1, 1e-5f) << value;
      }
    }
}

TEST(PartGemmTest, TheTableDependsOnTheCpuAndTheSizes) {
  const auto choose = [](PartCpu cpu, int parts, int64_t m, int64_t n,
                         int64_t k) {
    GemmCall call;
    call.m = m;
    call.n = n;
    call.k = k;
    return choosePartKernels(cpu, parts, call);
  };
  for (int64_t m : {1, 1000})
    EXPECT_EQ(choose(PartCpu::amx, 1, m, 16, 16), PartKernels::tiles);
  EXPECT_EQ(choose(PartCpu::amx, 2, 1000, 400, 400), PartKernels::tiles);
  EXPECT_EQ(choose(PartCpu::amx, 2, 16, 400, 400), PartKernels::f32);
  EXPECT_EQ(choose(PartCpu::amx, 3, 1000, 400, 400), PartKernels::tiles);
  EXPECT_EQ(choose(PartCpu::amx, 3, 128, 128, 192), PartKernels::tiles);
  EXPECT_EQ(choose(PartCpu::amx, 3, 1000, 127, 400), PartKernels::f32);
  EXPECT_EQ(choose(PartCpu::amx, 3, 1000, 400, 191), PartKernels::f32);
  EXPECT_EQ(choose(PartCpu::pairs, 1, 1000, 400, 400), PartKernels::pairs);
  // There, bf16 is computed in f32, so that it is never slower.
  for (int64_t m : {1, 1000})
    EXPECT_EQ(choose(PartCpu::plain, 1, m, 400, 400), PartKernels::f32);
  for (PartCpu cpu : {PartCpu::pairs, PartCpu::plain})
    for (int parts : {2, 3})
      EXPECT_EQ(choose(cpu, parts, 1000, 400, 400), PartKernels::f32);
}

TEST(PartGemmTest, ComputeTypesHaveNames) {
  EXPECT_EQ(computeName(PDL_COMPUTE_ELEMENT), "f32");
  EXPECT_EQ(computeName(PDL_COMPUTE_BF16), "bf16");
  EXPECT_EQ(computeName(PDL_COMPUTE_BF16X3), "bf16x3");
  EXPECT_EQ(computeName(PDL_COMPUTE_BF16X6), "bf16x6");
  for (int32_t compute : {int(PDL_COMPUTE_ELEMENT), int(PDL_COMPUTE_BF16),
                          int(PDL_COMPUTE_BF16X3), int(PDL_COMPUTE_BF16X6)})
    for (int32_t numerics : {PDL_NUMERICS_FAST, PDL_NUMERICS_STRICT})
      EXPECT_FALSE(computeKernels(compute, numerics).empty());
}

} // namespace
