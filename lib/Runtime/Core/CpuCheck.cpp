//===- CpuCheck.cpp - Does this CPU run the program?
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -march=x86-64. It uses no C++ library: an inline function that
// another object instantiates with AVX could be the one that the linker keeps.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/CpuCheck.h"

#include <cpuid.h>
#include <string.h>
#include <unistd.h>

using namespace pdlrt;

CpuFacts pdlrt::readCpuFacts() {
  CpuFacts facts;
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx))
    facts.leaf1Ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
    facts.leaf7Ebx = ebx;
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx))
    facts.extendedEcx = ecx;
  // Bit 27: the operating system lets us read XCR0.
  if (facts.leaf1Ecx & (1u << 27)) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    facts.xcr0 = (uint64_t(high) << 32) | low;
  }
  return facts;
}

const char *pdlrt::missingCpuFeature(const CpuFacts &facts) {
  struct Feature {
    const char *name;
    uint32_t word;
    int bit;
  };
  const Feature features[] = {
      {"sse4.2", facts.leaf1Ecx, 20}, {"popcnt", facts.leaf1Ecx, 23},
      {"avx", facts.leaf1Ecx, 28},    {"f16c", facts.leaf1Ecx, 29},
      {"fma", facts.leaf1Ecx, 12},    {"movbe", facts.leaf1Ecx, 22},
      {"avx2", facts.leaf7Ebx, 5},    {"bmi1", facts.leaf7Ebx, 3},
      {"bmi2", facts.leaf7Ebx, 8},    {"lzcnt", facts.extendedEcx, 5}};
  for (const Feature &feature : features)
    if (!((feature.word >> feature.bit) & 1))
      return feature.name;
  // The operating system must save the registers xmm (bit 1) and ymm (bit 2).
  if ((facts.xcr0 & 6) != 6)
    return "avx state saved by the operating system";
  return nullptr;
}

void pdlrt::requireSupportedCpu() {
  const char *missing = missingCpuFeature(readCpuFacts());
  if (!missing)
    return;
  const char *parts[] = {"error: this program needs an x86-64-v3 CPU (Intel "
                         "Haswell, AMD Excavator "
                         "or later), but this one lacks: ",
                         missing, "; run it on a newer machine.\n"};
  for (const char *part : parts) {
    // There is nowhere to report a failing write to the error stream.
    [[maybe_unused]] ssize_t written = write(2, part, strlen(part));
  }
  _exit(1);
}
