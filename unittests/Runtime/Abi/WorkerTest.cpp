//===- WorkerTest.cpp - Memory of a worker --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Worker.h"
#include "pdlabi/abi/calls.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

using namespace pdlrt;

// Memory of a step keeps its address during the step, does not overlap, and is
// reused by the next step.
TEST(Worker, StepMemory) {
  Worker worker;
  std::vector<char *> first;
  for (int round = 0; round < 3; ++round) {
    worker.beginStep();
    std::vector<char *> blocks;
    for (int i = 0; i < 50; ++i) {
      auto *block = static_cast<char *>(pdlrt_allocate(&worker, 100 * i));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % PDL_BUFFER_ALIGNMENT, 0u);
      std::memset(block, i, 100 * i);
      blocks.push_back(block);
    }
    for (int i = 0; i < 50; ++i)
      for (int j = 0; j < 100 * i; ++j)
        ASSERT_EQ(blocks[i][j], char(i));
    if (round == 1)
      first = blocks;
    if (round == 2)
      EXPECT_EQ(blocks, first);
  }
}

TEST(Worker, ImpossibleAmountsAreErrors) {
  Worker worker;
  worker.beginStep();
  EXPECT_EQ(pdlrt_allocate(&worker, -1), nullptr);
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  // The sanitizers' own allocators end the process here.
  EXPECT_EQ(pdlrt_allocate(&worker, std::numeric_limits<int64_t>::max() / 2),
            nullptr);
  // Callers of a serving library get this error too. They do not know flags of
  // a trainer.
  EXPECT_STREQ(pdlrt_last_error(),
               "out of memory while preparing a batch; use smaller batches (a "
               "trainer's --batch-size), or a machine with more memory");
#endif
}

// A listener gets the replica and the gradient that is ready. Without a
// listener, a program reports nothing.
TEST(Worker, ReportsGradients) {
  struct Listener final : GradientListener {
    void gradientReady(int replica, int32_t update) noexcept override {
      told.emplace_back(replica, update);
    }
    std::vector<std::pair<int, int32_t>> told;
  } listener;
  Worker worker;
  pdlrt_gradient_ready(&worker, 1);
  worker.reportGradients(&listener, 3);
  pdlrt_gradient_ready(&worker, 2);
  pdlrt_gradient_ready(&worker, 0);
  worker.reportGradients(nullptr, 0);
  pdlrt_gradient_ready(&worker, 4);
  EXPECT_EQ(listener.told,
            (std::vector<std::pair<int, int32_t>>{{3, 2}, {3, 0}}));
}
