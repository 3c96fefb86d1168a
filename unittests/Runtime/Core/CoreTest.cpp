//===- CoreTest.cpp - CPU check, memory, failures -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/ProgramMain.h"
#include "pdlrt/Core/Worker.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

using namespace pdlrt;

TEST(CpuCheck, ThisMachineIsGoodEnough) {
  // The test itself is compiled for x86-64-v3.
  EXPECT_EQ(missingCpuFeature(readCpuFacts()), nullptr);
}

TEST(CpuCheck, NamesWhatIsMissing) {
  CpuFacts facts = readCpuFacts();
  facts.leaf7Ebx &= ~(1u << 5);
  EXPECT_STREQ(missingCpuFeature(facts), "avx2");
  facts = readCpuFacts();
  facts.leaf1Ecx &= ~(1u << 12);
  EXPECT_STREQ(missingCpuFeature(facts), "fma");
  facts = readCpuFacts();
  facts.xcr0 = 0;
  EXPECT_NE(std::string(missingCpuFeature(facts)).find("operating system"),
            std::string::npos);
}

// Memory of a step stays where it is while the step lasts, does not overlap,
// and is reused by the next step.
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
  EXPECT_NE(std::strstr(pdlrt_last_error(), "out of memory"), nullptr);
#endif
}

// What leaves a program's body is an exit status and one line.
TEST(ProgramMain, ExceptionsBecomeSentences) {
  const auto run = [](const std::function<int()> &body) {
    testing::internal::CaptureStderr();
    const int status = runProgram(3, "use less", body);
    return std::to_string(status) + " " +
           testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(run([] { return 7; }), "7 ");
  EXPECT_EQ(run([] { return fail(2, "no such flag"); }),
            "2 error: no such flag\n");
  EXPECT_EQ(
      run([]() -> int { throw std::runtime_error("a thread is missing"); }),
      "3 error: a thread is missing\n");
  EXPECT_EQ(run([]() -> int { throw std::bad_alloc(); }),
            "3 error: out of memory; use less\n");
}
