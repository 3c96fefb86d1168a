//===- AllocatorTest.cpp - Memory for large messages ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Allocator.h"

#include "pdlabi/abi.h"
#include "pdlrt/Core/OutOfMemory.h"

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <string>
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

/// Returns true if huge pages were requested for the mapping that contains
/// `address`.
bool prefersHugePages(const void *address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  bool isInside = false;
  for (std::string line; std::getline(file, line);) {
    uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) ==
        2)
      isInside = begin <= wanted && wanted < end;
    else if (isInside && line.starts_with("VmFlags:"))
      return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(AllocatorTest, LargeMemoryPrefersHugePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  // The small one first: freed memory that is used again keeps its advice.
  const size_t small = size_t(3) << 20, large = size_t(16) << 20;
  for (const size_t bytes : {small, large}) {
    auto *memory = static_cast<char *>(pdlrt::allocateAligned(bytes));
    EXPECT_EQ(prefersHugePages(memory + bytes / 2), bytes == large);
    ::operator delete(memory, std::align_val_t(PDL_BUFFER_ALIGNMENT));
  }
}

} // namespace
