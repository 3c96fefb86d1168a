//===- Allocator.cpp - Memory for large messages --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/Allocator.h"

#include <climits>
#include <cstdlib>
#include <malloc.h>

static void setUnlessGiven(int parameter, const char *variable, int value) {
  if (!std::getenv(variable))
    ::mallopt(parameter, value);
}

void pdlrt::tuneAllocator() {
  // All three settings are needed. Without the first, large allocations are
  // mapped and unmapped each time. Without the second, the end of the heap is
  // returned to the system. Without the third, the heaps of threads are
  // unmapped when they become empty.
  setUnlessGiven(M_MMAP_THRESHOLD, "MALLOC_MMAP_THRESHOLD_", 1 << 30);
  setUnlessGiven(M_TRIM_THRESHOLD, "MALLOC_TRIM_THRESHOLD_", INT_MAX);
  setUnlessGiven(M_TOP_PAD, "MALLOC_TOP_PAD_", 256 << 20);
}
