//===- FloatSweep.cpp - The f32 functions at all 2^32 floats --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints each function's largest error in ulp and its argument. Fails if an
// error exceeds the bound of math.h. Takes about a minute on two cores.
//
//===----------------------------------------------------------------------===//

#include "FloatReference.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using namespace pdltest;

namespace {

constexpr uint64_t floatCount = uint64_t(1) << 32;
constexpr uint64_t blockSize = 1 << 16;

struct Worst {
  double ulps = -1;
  uint32_t bits = 0;

  void join(const Worst &other) {
    if (other.ulps > ulps || (other.ulps == ulps && other.bits < bits))
      *this = other;
  }
};

/// Arrays of one thread: a block of arguments, results and true values.
struct Block {
  std::vector<float> in = std::vector<float>(blockSize);
  std::vector<float> out = std::vector<float>(blockSize);
  std::vector<double> reference = std::vector<double>(blockSize);
};

void sweepBlock(const FloatFunction &function, uint64_t first, Worst &worst,
                Block &block) {
  const float *in = block.in.data();
  const float *out = block.out.data();
  const double *reference = block.reference.data();
  for (uint64_t i = 0; i < blockSize; ++i)
    block.in[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i));
  function.compute(in, block.out.data(), blockSize);
  for (uint64_t i = 0; i < blockSize; ++i)
    block.reference[i] = function.reference(in[i]);
  // The bits of nonnegative doubles, read as integers, have the order of the
  // doubles. A maximum of integers is vectorized.
  int64_t largest = 0;
  for (uint64_t i = 0; i < blockSize; ++i)
    largest = std::max(largest,
                       std::bit_cast<int64_t>(ulpsOff(out[i], reference[i])));
  // A block that contains a zero starts with it.
  if (in[0] == 0 && function.odd && std::signbit(in[0]) != std::signbit(out[0]))
    worst.join({std::numeric_limits<double>::infinity(),
                static_cast<uint32_t>(first)});
  if (std::bit_cast<double>(largest) <= worst.ulps)
    return;
  for (uint64_t i = 0; i < blockSize; ++i)
    worst.join(
        {ulpsOff(out[i], reference[i]), static_cast<uint32_t>(first + i)});
}

Worst sweep(const FloatFunction &function, unsigned threadCount) {
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  Worst worst;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < threadCount; ++t)
    threads.emplace_back([&] {
      Block block;
      Worst mine;
      for (uint64_t first; (first = next.fetch_add(blockSize)) < floatCount;)
        sweepBlock(function, first, mine, block);
      const std::lock_guard lock(mutex);
      worst.join(mine);
    });
  for (std::thread &thread : threads)
    thread.join();
  return worst;
}

} // namespace

int main() {
  const unsigned threadCount =
      std::max(1u, std::thread::hardware_concurrency());
  bool passed = true;
  for (const FloatFunction &function : floatFunctions) {
    const Worst worst = sweep(function, threadCount);
    std::printf("%-8s largest error %.3f ulp at %a\n", function.name,
                worst.ulps,
                static_cast<double>(std::bit_cast<float>(worst.bits)));
    std::fflush(stdout);
    passed &= worst.ulps <= ulpBound;
  }
  if (!passed)
    std::fprintf(stderr, "error: a function is beyond %.1f ulp\n", ulpBound);
  return passed ? 0 : 1;
}
