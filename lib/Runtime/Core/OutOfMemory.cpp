//===- OutOfMemory.cpp - Errors of memory allocation ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/OutOfMemory.h"

#include "pdlabi/abi/codes.h"

#include <fmt/format.h>

#include <cstdint>
#include <sys/mman.h>

using namespace pdlrt;

/// Requests huge pages for large memory, such as the values of a step. Matrix
/// products access many pages at once, and page walks are expensive, above all
/// in a virtual machine. If the system refuses, only performance suffers.
static void preferHugePages(void *memory, size_t bytes) {
  constexpr uintptr_t hugePage = uintptr_t(2) << 20;
  // In small buffers, a huge page would often be mostly unused, but would be
  // allocated as a whole.
  if (bytes < 2 * hugePage)
    return;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + hugePage - 1) / hugePage * hugePage;
  const uintptr_t last = (begin + bytes) / hugePage * hugePage;
  (void)madvise(static_cast<char *>(memory) + (first - begin), last - first,
                MADV_HUGEPAGE);
}

void *pdlrt::allocateAligned(size_t bytes) {
  try {
    void *memory =
        ::operator new(bytes, std::align_val_t(PDL_BUFFER_ALIGNMENT));
    preferHugePages(memory, bytes);
    return memory;
  } catch (const std::bad_alloc &) {
    throw OutOfMemory(bytes);
  }
}

std::string pdlrt::describeOutOfMemory(const std::bad_alloc &error,
                                       const std::string &doing) {
  const std::string what = "out of memory while it " + doing;
  const auto *known = dynamic_cast<const OutOfMemory *>(&error);
  if (!known)
    return what;
  return fmt::format("{} (it asked for {:.1f} MiB)", what,
                     double(known->bytesRequested()) / (1 << 20));
}
