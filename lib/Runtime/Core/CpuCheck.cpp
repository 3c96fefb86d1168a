//===- CpuCheck.cpp - Does this CPU run the program? ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file is compiled with -march=x86-64 and uses no C++ library. If it used
// an inline function of the library, the linker might keep a copy of that
// function from another object, which contains AVX instructions.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CpuCheck.h"

#include "pdlabi/abi/cpu_levels.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using namespace pdlrt;
using pdlabi::CpuFeature;
using pdlabi::cpuFeatureCount;
using pdlabi::cpuFeatures;
using pdlabi::CpuidWord;

/// Features for which the runtime is compiled.
static constexpr const char *runtimeFeatures[] = {
    "sse4.2", "popcnt", "avx", "f16c", "fma",
    "movbe",  "avx2",   "bmi", "bmi2", "lzcnt"};

/// A CPU level, with the features that it adds to the level before.
struct CpuLevel {
  const char *name;
  const char *features[16];
};

static constexpr CpuLevel cpuLevels[] = {
    {"x86-64-v3",
     {"sse3", "ssse3", "fma", "cx16", "sse4.1", "sse4.2", "movbe", "popcnt",
      "avx", "f16c", "bmi", "avx2", "bmi2", "sahf", "lzcnt"}},
    {"x86-64-v4", {"avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl"}}};

static bool isIn(const CpuLevel &level, const char *feature) {
  for (const char *name : level.features)
    if (name && pdlabi::isSameText(name, feature))
      return true;
  return false;
}

void pdlrt::limitCpuFacts(CpuFacts &facts, const char *limit) {
  CpuFacts kept;
  kept.xcr0 = facts.xcr0;
  for (const CpuLevel &level : cpuLevels) {
    for (const CpuFeature &feature : cpuFeatures)
      if (isIn(level, feature.name))
        kept.words[size_t(feature.word)] |=
            facts.words[size_t(feature.word)] & (1u << feature.bit);
    if (pdlabi::isSameText(level.name, limit)) {
      facts = kept;
      return;
    }
  }
  facts.isLimitUnknown = true;
}

static CpuFacts readFromCpu() {
  CpuFacts facts;
  auto word = [&facts](CpuidWord which) -> uint32_t & {
    return facts.words[size_t(which)];
  };
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    word(CpuidWord::Leaf1Ecx) = ecx;
  unsigned subleaves = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    subleaves = eax;
    word(CpuidWord::Leaf7Ebx) = ebx;
    word(CpuidWord::Leaf7Ecx) = ecx;
    word(CpuidWord::Leaf7Edx) = edx;
  }
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) {
    word(CpuidWord::Leaf7Sub1Eax) = eax;
    word(CpuidWord::Leaf7Sub1Edx) = edx;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    word(CpuidWord::ExtendedEcx) = ecx;
  // Bit 19 of leaf 7, subleaf 1: AVX10 exists; leaf 0x24 has its version.
  if (((word(CpuidWord::Leaf7Sub1Edx) >> 19) & 1) &&
      __get_cpuid_count(0x24, 0, &eax, &ebx, &ecx, &edx))
    for (unsigned version = 1; version <= (ebx & 0xff) && version < 32;
         ++version)
      word(CpuidWord::Avx10) |= 1u << version;
  // Bit 27: the operating system allows reading XCR0.
  if ((word(CpuidWord::Leaf1Ecx) >> 27) & 1) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    facts.xcr0 = (uint64_t(high) << 32) | low;
  }
  return facts;
}

CpuFacts pdlrt::readCpuFacts() {
  // A virtual machine may take microseconds for each cpuid. The state is an
  // integer, because guards of static variables are in the C++ library.
  enum { Unread, Reading, Read };
  static CpuFacts known;
  static int state = Unread;
  if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == Read)
    return known;
  CpuFacts facts = readFromCpu();
  if (const char *limit = getenv(cpuLimitVariable))
    limitCpuFacts(facts, limit);
  int expected = Unread;
  if (__atomic_compare_exchange_n(&state, &expected, Reading, /*weak=*/false,
                                  __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    known = facts;
    __atomic_store_n(&state, Read, __ATOMIC_RELEASE);
  }
  return facts;
}

bool pdlrt::isCpuLimited() { return getenv(cpuLimitVariable); }

static bool isOfCpu(const CpuFacts &facts, const CpuFeature &feature) {
  return (facts.words[size_t(feature.word)] >> feature.bit) & 1;
}

bool pdlrt::hasCpuFeature(const CpuFacts &facts, const CpuFeature &feature) {
  return isOfCpu(facts, feature) &&
         (facts.xcr0 & feature.state) == feature.state;
}

bool pdlrt::hasCpuFeature(const char *name) {
  const size_t number = pdlabi::cpuFeatureNumber(name);
  return number < cpuFeatureCount &&
         hasCpuFeature(readCpuFacts(), cpuFeatures[number]);
}

namespace {

/// A text of limited size.
class Text {
public:
  Text(char *begin, size_t size) : next(begin), left(size) {
    if (left > 0)
      *next = 0;
  }
  void append(const char *text) {
    for (; *text && left > 1; ++text, --left)
      *next++ = *text;
    if (left > 0)
      *next = 0;
  }

private:
  char *next;
  size_t left;
};

} // namespace

static bool isOfRuntime(const CpuFeature &feature) {
  for (const char *name : runtimeFeatures)
    if (pdlabi::isSameText(name, feature.name))
      return true;
  return false;
}

static bool isOfProgram(const pdl_descriptor *program, size_t number) {
  return program && number / 64 < size_t(program->cpu_feature_word_count) &&
         ((program->cpu_features[number / 64] >> number % 64) & 1);
}

static bool hasFeaturesOf(const CpuFacts &facts,
                          const pdl_descriptor &program) {
  for (size_t i = 0; i < cpuFeatureCount; ++i)
    if (isOfProgram(&program, i) && !hasCpuFeature(facts, cpuFeatures[i]))
      return false;
  return true;
}

void pdlrt::describeMissingCpuFeatures(const CpuFacts &facts,
                                       const pdl_descriptor *program,
                                       char *message, size_t size) {
  Text text(message, size);
  if (facts.isLimitUnknown) {
    text.append(cpuLimitVariable);
    text.append(" names no CPU level; use x86-64-v3 or x86-64-v4, or unset it");
    return;
  }
  bool isMissing = false, isRuntimeMissing = false;
  for (size_t i = 0; i < cpuFeatureCount; ++i) {
    const CpuFeature &feature = cpuFeatures[i];
    if ((!isOfRuntime(feature) && !isOfProgram(program, i)) ||
        hasCpuFeature(facts, feature))
      continue;
    if (isMissing) {
      text.append(", ");
    } else if (program) {
      text.append("this program was compiled for ");
      text.append(program->target_cpu);
      text.append(", but this CPU lacks ");
    } else {
      text.append("this program needs an x86-64-v3 CPU, but this one lacks ");
    }
    isMissing = true;
    isRuntimeMissing |= isOfRuntime(feature);
    text.append(feature.name);
    if (isOfCpu(facts, feature))
      text.append(" (its operating system does not save the registers)");
  }
  if (isRuntimeMissing)
    text.append("; run it on a newer machine: x86-64-v3 (Intel Haswell, AMD "
                "Excavator or later) is the least");
  else if (isMissing)
    text.append("; translate the model with --target-cpu=x86-64-v3, or run it "
                "on a machine that has them");
}

const pdl_descriptor *
pdlrt_choose_descriptor(const pdl_descriptor *const *descriptors,
                        int32_t count) {
  const CpuFacts facts = readCpuFacts();
  int32_t choice = 0;
  while (choice < count - 1 && !hasFeaturesOf(facts, *descriptors[choice]))
    ++choice;
  return descriptors[choice];
}

void pdlrt::requireSupportedCpu(const pdl_descriptor *program) {
  char message[1024];
  describeMissingCpuFeatures(readCpuFacts(), program, message, sizeof(message));
  if (!*message)
    return;
  const char *parts[] = {"error: ", message, "\n"};
  for (const char *part : parts) {
    // If writing to the error stream fails, this cannot be reported.
    [[maybe_unused]] ssize_t written = write(2, part, strlen(part));
  }
  _exit(1);
}
