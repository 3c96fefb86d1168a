//===- OneDnnGemmTest.cpp - Fast products against strict ones -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Sched/Scheduler.h"

#include "gtest/gtest.h"

#include <sys/time.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

using namespace pdlrt;

namespace {

std::vector<float> randomValues(int64_t count, std::mt19937 &random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = normal(random);
  return values;
}

std::vector<float> multiply(Worker &worker, int32_t numerics,
                            const GemmCall &call) {
  std::vector<float> c(static_cast<size_t>(call.m * call.n), NAN);
  pdlrt_gemm(&worker, PDL_F32, numerics, call.transposeA, call.transposeB,
             call.m, call.n, call.k, call.a, call.b, c.data(), call.n,
             call.postCount, call.posts);
  return c;
}

// The partition of a product depends only on its shape.
TEST(OneDnnGemmTest, ThreadsThatShareAProductChangeNoBit) {
  std::mt19937 random(2);
  Worker worker;
  // Some CPUs use their own kernels for the first two.
  const int64_t shapes[][3] = {
      {1000, 400, 273}, {273, 400, 1000}, {1000, 200, 273}, {200, 400, 1000}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 8; ++transposes) {
      setSplitsF32(transposes < 4);
      const std::vector<float> a = randomValues(m * k, random);
      const std::vector<float> b = randomValues(k * n, random);
      const std::vector<float> mask = randomValues(m * n, random);
      const pdl_post post = {PDL_POST_RELU_GRADIENT, mask.data()};
      GemmCall call = {PDL_F32,
                       (transposes & 1) != 0,
                       (transposes & 2) != 0,
                       m,
                       n,
                       k,
                       a.data(),
                       b.data(),
                       nullptr,
                       n,
                       1,
                       &post};
      const std::vector<float> alone =
          multiply(worker, PDL_NUMERICS_FAST, call);
      std::vector<float> shared;
      Scheduler scheduler(3);
      scheduler.parallelFor(
          1,
          [&](int64_t) { shared = multiply(worker, PDL_NUMERICS_FAST, call); },
          /*width=*/3);
      EXPECT_EQ(alone, shared);
    }
  setSplitsF32(true);
}

TEST(OneDnnGemmTest, AgreesWithStrictUpToRounding) {
  std::mt19937 random(1);
  Worker worker;
  bool differs = false;
  const int64_t shapes[][3] = {{512, 400, 273}, {60, 48, 1000}, {5, 2, 2},
                               {400, 7, 512},   {1, 400, 400},  {64, 1, 400},
                               {64, 400, 1},    {33, 17, 5}};
  for (const auto &[m, n, k] : shapes) {
    const std::vector<float> a = randomValues(m * k, random);
    const std::vector<float> b = randomValues(k * n, random);
    const std::vector<float> bias = randomValues(n, random);
    const std::vector<float> mask = randomValues(m * n, random);
    const std::vector<std::vector<pdl_post>> postLists = {
        {},
        {{PDL_POST_BIAS, bias.data()}},
        {{PDL_POST_BIAS, bias.data()}, {PDL_POST_RELU, nullptr}},
        {{PDL_POST_RELU_GRADIENT, mask.data()}},
        {{PDL_POST_RELU, nullptr}, {PDL_POST_BIAS, bias.data()}}};
    for (int transposes = 0; transposes < 4; ++transposes)
      for (const std::vector<pdl_post> &posts : postLists) {
        const GemmCall call = {PDL_F32,
                               (transposes & 1) != 0,
                               (transposes & 2) != 0,
                               m,
                               n,
                               k,
                               a.data(),
                               b.data(),
                               nullptr,
                               n,
                               static_cast<int32_t>(posts.size()),
                               posts.data()};
        const std::vector<float> fast =
            multiply(worker, PDL_NUMERICS_FAST, call);
        const std::vector<float> strict =
            multiply(worker, PDL_NUMERICS_STRICT, call);
        // Each of k terms has size 1 and rounds at most to the size of their
        // sum, about sqrt(k).
        const float bound = 1e-6f * static_cast<float>(k + 10);
        for (size_t i = 0; i < fast.size(); ++i)
          ASSERT_NEAR(fast[i], strict[i], bound)
              << m << "x" << n << "x" << k << " transposes " << transposes
              << " posts " << posts.size();
        differs |= fast != strict;
        EXPECT_EQ(fast, multiply(worker, PDL_NUMERICS_FAST, call));
      }
  }
  // Otherwise oneDNN was not linked, and this test would be useless.
  EXPECT_TRUE(differs);
}

// The backend adds more than 512 terms in an order of its own.
TEST(OneDnnGemmTest, LargeProductsUseStrictKernelsWhereTheseAreFaster) {
  if (!usesPrefetching())
    GTEST_SKIP() << "oneDNN is the fastest on this type of CPU";
  setSplitsF32(false);
  std::mt19937 random(6);
  Worker worker;
  for (const auto &[m, n, isStrict] :
       {std::tuple<int64_t, int64_t, bool>{273, 400, true},
        {273, 100, false},
        {100, 400, false}}) {
    const int64_t k = 1000;
    const std::vector<float> a = randomValues(m * k, random);
    const std::vector<float> b = randomValues(k * n, random);
    const GemmCall call = {PDL_F32,  true,     false,   m, n, k,
                           a.data(), b.data(), nullptr, n, 0, nullptr};
    EXPECT_EQ(multiply(worker, PDL_NUMERICS_FAST, call) ==
                  multiply(worker, PDL_NUMERICS_STRICT, call),
              isStrict)
        << m << "x" << n;
  }
  setSplitsF32(true);
}

/// Rows of C with gaps contain the same as without, and the gaps stay
/// unchanged.
TEST(OneDnnGemmTest, WritesColumnsOfAWiderMatrix) {
  std::mt19937 random(4);
  Worker worker;
  const int64_t m = 60, n = 48, k = 100, stride = n + 5;
  const std::vector<float> a = randomValues(m * k, random);
  const std::vector<float> b = randomValues(k * n, random);
  const std::vector<float> bias = randomValues(n, random);
  const std::vector<float> mask = randomValues(m * n, random);
  const pdl_post posts[] = {{PDL_POST_BIAS, bias.data()},
                            {PDL_POST_RELU, nullptr},
                            {PDL_POST_BIAS, bias.data()},
                            {PDL_POST_RELU_GRADIENT, mask.data()}};
  std::vector<float> strict(static_cast<size_t>(m * n));
  std::vector<float> c(static_cast<size_t>(m * stride), -5.0f);
  pdlrt_gemm(&worker, PDL_F32, PDL_NUMERICS_STRICT, 0, 0, m, n, k, a.data(),
             b.data(), strict.data(), n, 4, posts);
  pdlrt_gemm(&worker, PDL_F32, PDL_NUMERICS_FAST, 0, 0, m, n, k, a.data(),
             b.data(), c.data(), stride, 4, posts);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < stride; ++j)
      ASSERT_NEAR(c[static_cast<size_t>(i * stride + j)],
                  j < n ? strict[static_cast<size_t>(i * n + j)] : -5.0f,
                  j < n ? 1e-4f : 0.0f)
          << i << ", " << j;
}

TEST(OneDnnGemmTest, ReluKeepsNaN) {
  std::mt19937 random(2);
  Worker worker;
  std::vector<float> a = randomValues(64 * 32, random);
  const std::vector<float> b = randomValues(32 * 48, random);
  const std::vector<float> bias = randomValues(48, random);
  a[5 * 32 + 3] = std::numeric_limits<float>::quiet_NaN();
  const pdl_post posts[] = {{PDL_POST_BIAS, bias.data()},
                            {PDL_POST_RELU, nullptr}};
  const std::vector<float> c =
      multiply(worker, PDL_NUMERICS_FAST,
               {PDL_F32, false, false, 64, 48, 32, a.data(), b.data(), nullptr,
                48, 2, posts});
  for (int64_t i = 0; i < 64 * 48; ++i)
    EXPECT_EQ(std::isnan(c[static_cast<size_t>(i)]), i / 48 == 5);
}

TEST(OneDnnGemmTest, WorkersRunSideBySide) {
  std::mt19937 random(3);
  const std::vector<float> a = randomValues(100 * 300, random);
  const std::vector<float> b = randomValues(300 * 200, random);
  const GemmCall call = {PDL_F32,  false,    false,   100, 200, 300,
                         a.data(), b.data(), nullptr, 200, 0,   nullptr};
  Worker first;
  const std::vector<float> expected = multiply(first, PDL_NUMERICS_FAST, call);
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<float> &result : results)
    threads.emplace_back([&] {
      Worker worker;
      for (int i = 0; i < 20; ++i)
        result = multiply(worker, PDL_NUMERICS_FAST, call);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<float> &result : results)
    EXPECT_EQ(result, expected);
}

// Written by a signal handler of the only thread.
volatile std::sig_atomic_t signals = 0;

void countSignal(int) { signals = signals + 1; }

/// Sends SIGALRM to this process at intervals. 0: no more.
void sendSignals(int intervalInMicroseconds) {
  itimerval timer = {};
  timer.it_interval.tv_usec = timer.it_value.tv_usec = intervalInMicroseconds;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// A handler that interrupts a kernel of oneDNN overwrites what the kernel still
// needs, so that results are wrong or the process crashes.
TEST(OneDnnGemmTest, SignalsDuringProductsOverwriteNothing) {
  std::mt19937 random(5);
  Worker worker;
  struct sigaction action = {}, before = {};
  action.sa_handler = countSignal;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const int64_t shapes[][3] = {
      {400, 400, 273}, {400, 400, 400}, {273, 400, 400}, {1000, 16, 64}};
  for (const auto &[m, n, k] : shapes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const std::vector<float> a = randomValues(m * k, random);
      const std::vector<float> b = randomValues(k * n, random);
      const GemmCall call = {PDL_F32,
                             (transposes & 1) != 0,
                             (transposes & 2) != 0,
                             m,
                             n,
                             k,
                             a.data(),
                             b.data(),
                             nullptr,
                             n,
                             0,
                             nullptr};
      const std::vector<float> expected =
          multiply(worker, PDL_NUMERICS_FAST, call);
      const int enough = signals + 10;
      sendSignals(500);
      for (int i = 0; i < 100'000 && signals < enough; ++i)
        ASSERT_EQ(multiply(worker, PDL_NUMERICS_FAST, call), expected);
      sendSignals(0);
      EXPECT_GE(signals, enough);
    }
  sigaction(SIGALRM, &before, nullptr);
}

} // namespace
