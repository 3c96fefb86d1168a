//===- CoreTest.cpp - CPU check, failures ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/ProgramMain.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

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
