//===- AllocatorTest.cpp - Memory for large messages ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <sys/resource.h>
#include <thread>

namespace {

/// Returns the page faults of filling 48 MB. The C library maps such a block
/// separately: it raises its threshold to 32 MB at most.
long faultsOfAMessage() {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  const size_t size = size_t(48) << 20;
  const auto bytes = std::make_unique_for_overwrite<char[]>(size);
  std::memset(bytes.get(), 1, size);
  // Prevents the compiler from removing everything.
  asm volatile("" : : "r"(bytes.get()) : "memory");
  getrusage(RUSAGE_SELF, &after);
  return after.ru_minflt - before.ru_minflt;
}

TEST(AllocatorTest, MemoryOfMessagesIsKept) {
  const long pages = (48 << 20) / 4096;
  faultsOfAMessage();
  EXPECT_GT(faultsOfAMessage(), pages / 2) << "what is to be mended";
  pdlrt::tuneAllocator();
  faultsOfAMessage();
  EXPECT_LT(faultsOfAMessage(), pages / 10);
  // Threads have their own heaps.
  std::thread([&] {
    faultsOfAMessage();
    EXPECT_LT(faultsOfAMessage(), pages / 10);
  }).join();
}

} // namespace
