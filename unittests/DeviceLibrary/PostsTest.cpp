//===- PostsTest.cpp - Operations after a product, bit for bit ------------===//
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

/// Computes a product, and then the same product with its following operations.
class PostsTest : public testing::Test {
protected:
  std::mt19937 random{23};

  void expectSame(int64_t m, int64_t n, int64_t gap, uint64_t posts,
                  int64_t threads, Fence fence) {
    const int64_t k = 3, stride = n + gap;
    const auto a = anyNumbers<float>(m * k, Numbers::extreme, random);
    const auto b = anyNumbers<float>(k * n, Numbers::extreme, random);
    const auto bias = anyNumbers<float>(n, Numbers::extreme, random);
    const auto mask = anyNumbers<float>(m * n, Numbers::extreme, random);
    // Elements between rows stay unchanged.
    std::vector<float> plain(size_t((m - 1) * stride + n), -77);
    std::vector<float> want = plain;
    std::vector<pdl_post> list;
    for (uint64_t rest = posts; rest; rest >>= 4) {
      const auto kind = int32_t(rest & 15);
      list.push_back({kind, kind == PDL_POST_BIAS ? bias.data() : mask.data()});
    }
    GemmWorkspace workspace;
    GemmCall call{PDL_F32,  false,    false,        m,      n, k,
                  a.data(), b.data(), plain.data(), stride, 0, nullptr};
    strictGemm(nativeGemmIsa(), workspace, call);
    call.c = want.data();
    call.postCount = int32_t(list.size());
    call.posts = list.data();
    strictGemm(nativeGemmIsa(), workspace, call);

    const auto biases = Fenced<float>::input(bias, fence);
    const auto masks = Fenced<float>::input(mask, fence);
    const Fenced<float> result(plain, fence);
    runThreads(threads, random, [&](int64_t first, int64_t step) {
      pdldevice_posts_f32(m, n, posts, biases.data(), masks.data(),
                          result.data(), stride, first, step);
    });
    SCOPED_TRACE(testing::Message() << m << " x " << n << ", posts " << posts
                                    << ", threads " << threads);
    expectSameBits<float>(result.values(), want);
  }
};

TEST_F(PostsTest, HaveTheBitsThatTheyHaveWithinAProduct) {
  for (const auto &[m, n] : {std::pair{1, 1}, {1, 37}, {37, 1}, {13, 29}})
    for (uint64_t posts : {0x1, 0x2, 0x3, 0x21, 0x12, 0x31, 0x213})
      for (int64_t threads : threadCounts)
        for (Fence fence : fences)
          expectSame(m, n, threads % 2 * 3, posts, threads, fence);
}

TEST_F(PostsTest, HaveATurnForEachElement) {
  EXPECT_EQ(pdldevice_posts_turns(5, 7, 2, nullptr, nullptr, nullptr, 9), 35);
  EXPECT_EQ(pdldevice_posts_turns(0, 7, 2, nullptr, nullptr, nullptr, 9), 0);
  EXPECT_EQ(pdldevice_posts_turns(5, -1, 2, nullptr, nullptr, nullptr, 9), 0);
}

} // namespace
