//===- pdlabi/cpu.h - Features of x86-64 CPUs -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The CPU features whose instructions a compiler uses without being asked, with
// LLVM's names and the cpuid bits that report them. A compiled program lists
// the features that its code may use (`pdl_descriptor::cpu_features`), and
// checks them before that code runs. Features whose instructions a compiler
// uses only on request (cryptography, transactions, system instructions) are
// not listed. Virtual machines often hide such features, so that requiring them
// would reject these machines for no reason.
//
// This file is also included by code for the oldest CPU: it has only constants
// and calls no library function.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_CPU_H
#define PDLABI_CPU_H

#include <cstddef>
#include <cstdint>

namespace pdlabi {

/// Results of the instruction `cpuid` that are read. The names contain leaf,
/// subleaf and register.
enum class CpuidWord : uint8_t {
  Leaf1Ecx,
  Leaf7Ebx,
  Leaf7Ecx,
  Leaf7Edx,
  Leaf7Sub1Eax,
  Leaf7Sub1Edx,
  ExtendedEcx, ///< leaf 0x80000001
  Avx10,       ///< no register: bit v is set if AVX10's version is at least v
  Count
};

/// Bits of register XCR0 for the registers that the operating system must save.
inline constexpr uint32_t noState = 0;
inline constexpr uint32_t ymmState = 0x6;     ///< xmm, ymm
inline constexpr uint32_t zmmState = 0xe6;    ///< also masks, zmm
inline constexpr uint32_t apxState = 0x80000; ///< general registers 16 to 31

struct CpuFeature {
  const char *name; ///< LLVM's name
  CpuidWord word;
  uint8_t bit;
  uint32_t state; ///< required bits of XCR0
};

/// List of all features. The index of a feature is its number in
/// `pdl_descriptor::cpu_features`.
inline constexpr CpuFeature cpuFeatures[] = {
    {"sse3", CpuidWord::Leaf1Ecx, 0, noState},
    {"ssse3", CpuidWord::Leaf1Ecx, 9, noState},
    {"fma", CpuidWord::Leaf1Ecx, 12, ymmState},
    {"cx16", CpuidWord::Leaf1Ecx, 13, noState},
    {"sse4.1", CpuidWord::Leaf1Ecx, 19, noState},
    {"sse4.2", CpuidWord::Leaf1Ecx, 20, noState},
    {"movbe", CpuidWord::Leaf1Ecx, 22, noState},
    {"popcnt", CpuidWord::Leaf1Ecx, 23, noState},
    {"avx", CpuidWord::Leaf1Ecx, 28, ymmState},
    {"f16c", CpuidWord::Leaf1Ecx, 29, ymmState},
    {"bmi", CpuidWord::Leaf7Ebx, 3, noState},
    {"avx2", CpuidWord::Leaf7Ebx, 5, ymmState},
    {"bmi2", CpuidWord::Leaf7Ebx, 8, noState},
    {"avx512f", CpuidWord::Leaf7Ebx, 16, zmmState},
    {"avx512dq", CpuidWord::Leaf7Ebx, 17, zmmState},
    {"avx512ifma", CpuidWord::Leaf7Ebx, 21, zmmState},
    {"avx512cd", CpuidWord::Leaf7Ebx, 28, zmmState},
    {"avx512bw", CpuidWord::Leaf7Ebx, 30, zmmState},
    {"avx512vl", CpuidWord::Leaf7Ebx, 31, zmmState},
    {"avx512vbmi", CpuidWord::Leaf7Ecx, 1, zmmState},
    {"avx512vbmi2", CpuidWord::Leaf7Ecx, 6, zmmState},
    {"gfni", CpuidWord::Leaf7Ecx, 8, noState},
    {"avx512vnni", CpuidWord::Leaf7Ecx, 11, zmmState},
    {"avx512bitalg", CpuidWord::Leaf7Ecx, 12, zmmState},
    {"avx512vpopcntdq", CpuidWord::Leaf7Ecx, 14, zmmState},
    {"avx512fp16", CpuidWord::Leaf7Edx, 23, zmmState},
    {"avxvnni", CpuidWord::Leaf7Sub1Eax, 4, ymmState},
    {"avx512bf16", CpuidWord::Leaf7Sub1Eax, 5, zmmState},
    {"avxifma", CpuidWord::Leaf7Sub1Eax, 23, ymmState},
    {"avxvnniint8", CpuidWord::Leaf7Sub1Edx, 4, ymmState},
    {"avxneconvert", CpuidWord::Leaf7Sub1Edx, 5, ymmState},
    {"avxvnniint16", CpuidWord::Leaf7Sub1Edx, 10, ymmState},
    {"egpr", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"push2pop2", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"ppx", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"ndd", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"ccmp", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"nf", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"cf", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"zu", CpuidWord::Leaf7Sub1Edx, 21, apxState},
    {"sahf", CpuidWord::ExtendedEcx, 0, noState},
    {"lzcnt", CpuidWord::ExtendedEcx, 5, noState},
    {"sse4a", CpuidWord::ExtendedEcx, 6, noState},
    {"xop", CpuidWord::ExtendedEcx, 11, ymmState},
    {"fma4", CpuidWord::ExtendedEcx, 16, ymmState},
    {"tbm", CpuidWord::ExtendedEcx, 21, noState},
    {"avx10.1", CpuidWord::Avx10, 1, zmmState},
    {"avx10.2", CpuidWord::Avx10, 2, zmmState},
};

inline constexpr size_t cpuFeatureCount =
    sizeof(cpuFeatures) / sizeof(cpuFeatures[0]);
inline constexpr size_t cpuFeatureWordCount = (cpuFeatureCount + 63) / 64;

constexpr bool isSameText(const char *a, const char *b) {
  for (; *a && *a == *b; ++a, ++b) {
  }
  return *a == *b;
}

/// Returns the number of a feature, or `cpuFeatureCount` if it is not listed.
constexpr size_t cpuFeatureNumber(const char *name) {
  for (size_t i = 0; i < cpuFeatureCount; ++i)
    if (isSameText(cpuFeatures[i].name, name))
      return i;
  return cpuFeatureCount;
}

} // namespace pdlabi

#endif // PDLABI_CPU_H
