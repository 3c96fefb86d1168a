//===- CoreTest.cpp - CPU check, failures ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/cpu_levels.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Duration.h"
#include "pdlrt/Core/ProgramMain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace pdlrt;

/// Returns the message for a CPU with these facts and an x86-64-v4 program that
/// needs these features; without features, for the runtime only.
static std::string missingOf(const CpuFacts &facts,
                             const std::vector<const char *> &features) {
  std::vector<uint64_t> words(pdlabi::cpuFeatureWordCount);
  for (const char *name : features) {
    const size_t number = pdlabi::cpuFeatureNumber(name);
    EXPECT_LT(number, pdlabi::cpuFeatureCount) << name;
    words[number / 64] |= uint64_t(1) << number % 64;
  }
  pdl_descriptor program = {};
  program.target_cpu = "x86-64-v4";
  program.cpu_feature_word_count = int32_t(words.size());
  program.cpu_features = words.data();
  char message[512];
  describeMissingCpuFeatures(facts, features.empty() ? nullptr : &program,
                             message, sizeof(message));
  return message;
}

/// Returns a CPU with all features, on an operating system that saves all
/// registers.
static CpuFacts bestCpu() {
  CpuFacts facts;
  std::fill(std::begin(facts.words), std::end(facts.words), ~0u);
  facts.xcr0 = ~uint64_t(0);
  return facts;
}

static uint32_t &wordOf(CpuFacts &facts, pdlabi::CpuidWord word) {
  return facts.words[size_t(word)];
}

TEST(CpuCheck, ThisMachineIsGoodEnough) {
  // The test itself is compiled for x86-64-v3.
  EXPECT_EQ(missingOf(readCpuFacts(), {}), "");
}

TEST(CpuCheck, NamesWhatTheRuntimeMisses) {
  CpuFacts facts = bestCpu();
  EXPECT_EQ(missingOf(facts, {}), "");
  wordOf(facts, pdlabi::CpuidWord::Leaf7Ebx) &= ~(1u << 5);
  wordOf(facts, pdlabi::CpuidWord::Leaf1Ecx) &= ~(1u << 12);
  EXPECT_EQ(missingOf(facts, {}),
            "this program needs an x86-64-v3 CPU, but this one lacks fma, "
            "avx2; run it on a newer machine: x86-64-v3 (Intel Haswell, AMD "
            "Excavator or later) is the least");
  facts = bestCpu();
  facts.xcr0 = 0;
  EXPECT_NE(missingOf(facts, {}).find(
                "avx (its operating system does not save the registers)"),
            std::string::npos);
}

TEST(CpuCheck, NamesWhatTheProgramMisses) {
  CpuFacts facts = bestCpu();
  const std::vector<const char *> needed = {"avx2", "avx512f", "avx512bw",
                                            "tbm"};
  EXPECT_EQ(missingOf(facts, needed), "");
  wordOf(facts, pdlabi::CpuidWord::Leaf7Ebx) &= ~(1u << 16 | 1u << 30);
  EXPECT_EQ(missingOf(facts, needed),
            "this program was compiled for x86-64-v4, but this CPU lacks "
            "avx512f, avx512bw; translate the model with "
            "--target-cpu=x86-64-v3, or run it on a machine that has them");
  EXPECT_EQ(missingOf(facts, {"avx2", "tbm"}), "");
  facts = bestCpu();
  wordOf(facts, pdlabi::CpuidWord::ExtendedEcx) = ~(1u << 21);
  EXPECT_NE(missingOf(facts, needed).find("lacks tbm;"), std::string::npos);
  // The operating system must save the 512-bit registers, too.
  facts = bestCpu();
  facts.xcr0 = 0x7;
  EXPECT_NE(missingOf(facts, needed)
                .find("lacks avx512f (its operating system "
                      "does not save the registers), "),
            std::string::npos);
  EXPECT_EQ(missingOf(facts, {"avx2"}), "");
}

/// Returns true if a CPU with all features still has the feature `name` within
/// the limit.
static bool isAllowed(const char *name, const char *limit) {
  CpuFacts facts = bestCpu();
  limitCpuFacts(facts, limit);
  EXPECT_FALSE(facts.isLimitUnknown);
  return hasCpuFeature(facts,
                       pdlabi::cpuFeatures[pdlabi::cpuFeatureNumber(name)]);
}

TEST(CpuCheck, ALimitRemovesTheFeaturesOfLaterCpus) {
  for (const char *name : {"avx2", "fma", "lzcnt", "bmi2"})
    EXPECT_TRUE(isAllowed(name, "x86-64-v3")) << name;
  for (const char *name : {"avx512f", "avx512vl", "avx512bf16", "avxvnni"})
    EXPECT_FALSE(isAllowed(name, "x86-64-v3")) << name;
  EXPECT_TRUE(isAllowed("avx512vl", "x86-64-v4"));
  EXPECT_FALSE(isAllowed("avx512bf16", "x86-64-v4"));

  CpuFacts facts = bestCpu();
  limitCpuFacts(facts, "x86-64-v3");
  EXPECT_EQ(missingOf(facts, {}), "");
  EXPECT_NE(missingOf(facts, {"avx512f"}).find("lacks avx512f;"),
            std::string::npos);
  // A limit adds nothing to the CPU.
  facts = CpuFacts();
  limitCpuFacts(facts, "x86-64-v4");
  EXPECT_NE(missingOf(facts, {}).find("avx2"), std::string::npos);
}

TEST(CpuCheck, AnUnknownLimitIsAnError) {
  CpuFacts facts = bestCpu();
  limitCpuFacts(facts, "x86-64-v5");
  EXPECT_EQ(missingOf(facts, {}),
            "PDL_CPU_LIMIT names no CPU level; use x86-64-v3 or x86-64-v4, or "
            "unset it");
}

TEST(CpuCheck, TheFirstDescriptorThatTheCpuRunsIsChosen) {
  uint64_t none[pdlabi::cpuFeatureWordCount] = {}, all[std::size(none)];
  std::fill(std::begin(all), std::end(all), ~uint64_t(0));
  pdl_descriptor oldest = {}, later = {};
  oldest.cpu_feature_word_count = later.cpu_feature_word_count =
      int32_t(std::size(none));
  oldest.cpu_features = none;
  // No CPU has all features.
  later.cpu_features = all;
  const pdl_descriptor *both[] = {&later, &oldest};
  EXPECT_EQ(pdlrt_choose_descriptor(both, 2), &oldest);
  // The last one is for CPUs that run none. The program then says what is
  // missing.
  EXPECT_EQ(pdlrt_choose_descriptor(both, 1), &later);
  later.cpu_features = none;
  EXPECT_EQ(pdlrt_choose_descriptor(both, 2), &later);
}

TEST(CpuCheck, AMessageThatIsTooLongIsCut) {
  char message[8];
  describeMissingCpuFeatures(CpuFacts(), nullptr, message, sizeof(message));
  EXPECT_STREQ(message, "this pr");
}

// An exception becomes an exit status and one line.
TEST(ProgramMain, ExceptionsBecomeMessages) {
  const auto run = [](const std::function<int()> &body) {
    testing::internal::CaptureStderr();
    const int status = runProgram("use less", body);
    return std::to_string(status) + " " +
           testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(run([] { return 7; }), "7 ");
  EXPECT_EQ(run([] { return fail(ExitCode::Usage, "no such flag"); }),
            "2 error: no such flag\n");
  EXPECT_EQ(
      run([]() -> int { throw std::runtime_error("a thread is missing"); }),
      "1 error: a thread is missing\n");
  EXPECT_EQ(run([]() -> int { throw std::bad_alloc(); }),
            "3 error: out of memory; use less\n");
}

// Otherwise output could be written into the first opened file.
TEST(ProgramMain, ClosedStandardStreamsAreOccupied) {
  const std::string path = testing::TempDir() + "pdl-first-file";
  const pid_t child = fork();
  if (child == 0) {
    for (const int stream : {0, 1, 2})
      close(stream);
    _exit(runProgram("", [&] {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      return file > STDERR_FILENO ? 0 : 1;
    }));
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  unlink(path.c_str());
}

TEST(Duration, HasANumberAndAUnit) {
  EXPECT_EQ(*parseDuration("500ms"), 500);
  EXPECT_EQ(*parseDuration("10s"), 10000);
  EXPECT_EQ(*parseDuration("5min"), 300000);
  EXPECT_EQ(*parseDuration("2h"), 7200000);
  EXPECT_EQ(*parseDuration("0s"), 0);
  EXPECT_FALSE(parseDuration("0s", 1).ok());
  for (const char *text : {"", "10", "s", "-1s", "1.5s", "1 s", "99999999999s"})
    EXPECT_FALSE(parseDuration(text).ok()) << text;
}

TEST(ProgramMain, AFileOverTheLimitOfItsSizeIsAnError) {
  const std::string path = testing::TempDir() + "pdl-large-file";
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {4, 4};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(runProgram("", [&] {
      const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      const char text[] = "more than four bytes";
      while (write(file, text, sizeof(text)) > 0) {
      }
      return errno == EFBIG ? 0 : 1;
    }));
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  unlink(path.c_str());
}
