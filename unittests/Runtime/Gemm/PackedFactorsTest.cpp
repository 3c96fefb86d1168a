//===- PackedFactorsTest.cpp - Factors that are packed once ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/PackedFactors.h"

#include "gtest/gtest.h"

#include <set>
#include <thread>
#include <vector>

using namespace pdlrt;

namespace {

std::vector<float> numbers(size_t count, float first) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = first + float(i % 17);
  return values;
}

GemmCall callOf(const std::vector<float> &a, const float *b,
                std::vector<float> &c, int64_t m, int64_t n, int64_t k) {
  c.assign(size_t(m * n), -1);
  GemmCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  call.a = a.data();
  call.b = b;
  call.c = c.data();
  call.cStride = n;
  return call;
}

TEST(PackedFactorsTest, ConstantsAloneAreFound) {
  const std::vector<float> constant = numbers(20 * 30, 1), other(constant);
  std::vector<float> a = numbers(40, 0.5), c;
  PackedFactors factors;
  factors.addConstant(nullptr, 0);
  factors.addConstant(constant.data(), constant.size() * sizeof(float));
  const GemmCall call = callOf(a, constant.data(), c, 2, 30, 20);
  const PackedFactor *packed = factors.find(call);
  ASSERT_NE(packed, nullptr);
  EXPECT_TRUE(packed->isFinite);
  EXPECT_GE(factors.memoryBytes(), constant.size() * sizeof(float));
  EXPECT_EQ(factors.find(callOf(a, constant.data(), c, 1, 30, 20)), packed);
  // The same memory transposed is another factor.
  GemmCall transposed = callOf(a, constant.data(), c, 2, 20, 30);
  transposed.transposeB = true;
  EXPECT_NE(factors.find(transposed), packed);
  EXPECT_NE(factors.find(callOf(a, constant.data() + 30, c, 2, 30, 19)),
            nullptr);
  // Outside, beyond its end, one column, and not at all.
  EXPECT_EQ(factors.find(callOf(a, other.data(), c, 2, 30, 20)), nullptr);
  EXPECT_EQ(factors.find(callOf(a, constant.data() + 1, c, 2, 30, 20)),
            nullptr);
  EXPECT_EQ(factors.find(callOf(a, constant.data(), c, 2, 1, 20)), nullptr);
  EXPECT_EQ(factors.find(callOf(a, constant.data(), c, 2, 30, 0)), nullptr);
}

TEST(PackedFactorsTest, ProductsTakeThem) {
  const std::vector<float> constant = numbers(20 * 30, 1);
  const std::vector<float> a = numbers(40, 0.5);
  std::vector<float> with, without;
  PackedFactors factors;
  factors.addConstant(constant.data(), constant.size() * sizeof(float));
  GemmWorkspace workspace;
  for (const int32_t product : {PDL_PRODUCT_STRICT, PDL_PRODUCT_FAST}) {
    workspace.constants = nullptr;
    strictGemm(nativeGemmIsa(), workspace,
               callOf(a, constant.data(), without, 2, 30, 20));
    workspace.constants = &factors;
    gemm(product, workspace, callOf(a, constant.data(), with, 2, 30, 20));
    EXPECT_EQ(with, without);
  }
  EXPECT_GT(factors.memoryBytes(), 0u);
}

TEST(PackedFactorsTest, LargeOnesStayWhereTheyAre) {
  const std::vector<float> constant(size_t(5) << 20);
  std::vector<float> a(1), c;
  PackedFactors factors;
  factors.addConstant(constant.data(), constant.size() * sizeof(float));
  EXPECT_EQ(factors.find(callOf(a, constant.data(), c, 1, 5, 1 << 20)),
            nullptr);
  EXPECT_EQ(factors.memoryBytes(), 0u);
}

// New constants have the same packed factors before their first use.
TEST(PackedFactorsTest, OthersInTheirPlace) {
  const std::vector<float> before = numbers(20 * 30, 1);
  const std::vector<float> after = numbers(20 * 30, 9), less = numbers(10, 3);
  std::vector<float> a = numbers(40, 0.5), c;
  PackedFactors first, second, third;
  first.addConstant(before.data(), before.size() * sizeof(float));
  second.addConstant(after.data(), after.size() * sizeof(float));
  third.addConstant(less.data(), less.size() * sizeof(float));
  first.find(callOf(a, before.data() + 30, c, 2, 30, 19));
  first.find(callOf(a, before.data(), c, 2, 30, 20));
  second.packAs(first);
  EXPECT_EQ(second.memoryBytes(), first.memoryBytes());
  EXPECT_NE(second.find(callOf(a, after.data() + 30, c, 2, 30, 19)), nullptr);
  EXPECT_EQ(second.memoryBytes(), first.memoryBytes());
  third.packAs(first);
  EXPECT_EQ(third.memoryBytes(), 0u);
}

TEST(PackedFactorsTest, ManyThreads) {
  const std::vector<float> constant = numbers(64 * 64, 1);
  PackedFactors factors;
  factors.addConstant(constant.data(), constant.size() * sizeof(float));
  constexpr int64_t forms = 20;
  std::vector<std::vector<const PackedFactor *>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<const PackedFactor *> &own : found)
    threads.emplace_back([&] {
      const std::vector<float> a(64);
      std::vector<float> c;
      for (int64_t i = 0; i < forms; ++i)
        own.push_back(
            factors.find(callOf(a, constant.data(), c, 1, 64, 64 - i)));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<const PackedFactor *> &own : found)
    EXPECT_EQ(own, found[0]);
  EXPECT_EQ(
      std::set<const PackedFactor *>(found[0].begin(), found[0].end()).size(),
      size_t(forms));
}

} // namespace
