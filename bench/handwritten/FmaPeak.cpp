//===- FmaPeak.cpp - Peak throughput of multiply-adds ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "pdlrt/Gemm/Gemm.h"

#include <immintrin.h>

using namespace pdlbench;

namespace {

constexpr int64_t rounds = 2000000;

// Twelve independent chains hide the latency of two FMA units. The empty
// assembly prevents the compiler from evaluating the loop.
[[gnu::target("avx512f")]] void chains512() {
  __m512 a[12];
  for (__m512 &x : a)
    x = _mm512_set1_ps(1.0f);
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m512 &x : a)
      x = _mm512_fmadd_ps(x, factor, factor);
    asm volatile(""
                 : "+v"(a[0]), "+v"(a[1]), "+v"(a[2]), "+v"(a[3]), "+v"(a[4]),
                   "+v"(a[5]), "+v"(a[6]), "+v"(a[7]), "+v"(a[8]), "+v"(a[9]),
                   "+v"(a[10]), "+v"(a[11]));
  }
}

[[gnu::target("avx512f,avx512bf16")]] void chainsOfPairs() {
  __m512 a[12];
  for (__m512 &x : a)
    x = _mm512_set1_ps(1.0f);
  const auto factor =
      reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f003f00)); // 0.5, 0.5
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m512 &x : a)
      x = _mm512_dpbf16_ps(x, factor, factor);
    asm volatile(""
                 : "+v"(a[0]), "+v"(a[1]), "+v"(a[2]), "+v"(a[3]), "+v"(a[4]),
                   "+v"(a[5]), "+v"(a[6]), "+v"(a[7]), "+v"(a[8]), "+v"(a[9]),
                   "+v"(a[10]), "+v"(a[11]));
  }
}

void chains256() {
  __m256 a[12];
  for (__m256 &x : a)
    x = _mm256_set1_ps(1.0f);
  const __m256 factor = _mm256_set1_ps(0.5f);
  for (int64_t i = 0; i < rounds; ++i) {
    for (__m256 &x : a)
      x = _mm256_fmadd_ps(x, factor, factor);
    asm volatile(""
                 : "+x"(a[0]), "+x"(a[1]), "+x"(a[2]), "+x"(a[3]), "+x"(a[4]),
                   "+x"(a[5]), "+x"(a[6]), "+x"(a[7]), "+x"(a[8]), "+x"(a[9]),
                   "+x"(a[10]), "+x"(a[11]));
  }
}

} // namespace

double pdlbench::fmaPeak() {
  double peak = 2.0 * 12 * 8 * rounds / bestSeconds(0.3, chains256);
  if (pdlrt::isSupported(pdlrt::GemmIsa::v4))
    peak = std::max(peak, 2.0 * 12 * 16 * rounds / bestSeconds(0.3, chains512));
  return peak;
}

double pdlbench::bfloat16Peak() {
  return pdlrt::isSupported(pdlrt::BFloat16Isa::native)
             ? 4.0 * 12 * 16 * rounds / bestSeconds(0.3, chainsOfPairs)
             : 0;
}
