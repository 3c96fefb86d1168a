//===- AddressBlocks.cpp - Growing memory that never moves ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Core/AddressBlocks.h"

#include "pdlrt/Core/OutOfMemory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <sys/mman.h>

using namespace pdlrt;

static size_t roundUp(size_t bytes) {
  constexpr size_t step = AddressBlocks::stepBytes;
  if (bytes > SIZE_MAX - 2 * step)
    throw OutOfMemory(bytes);
  return (bytes + step - 1) / step * step;
}

/// Reserves addresses without memory, aligned to `stepBytes`. Returns null if
/// the system refuses.
static char *reserve(size_t bytes) {
  // One more step, for the alignment.
  constexpr size_t step = AddressBlocks::stepBytes;
  void *mapped = mmap(nullptr, bytes + step, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto *first = static_cast<char *>(mapped);
  const size_t before =
      (step - reinterpret_cast<uintptr_t>(first) % step) % step;
  if (before > 0)
    munmap(first, before);
  if (before < step)
    munmap(first + before + bytes, step - before);
  // Without huge pages, each access to a random row of a large table costs a
  // page walk. The advice is given for the whole block at once, so that the
  // block remains one mapping. If the system refuses it, only performance
  // suffers.
  (void)madvise(first + before, bytes, MADV_HUGEPAGE);
  return first + before;
}

AddressBlocks::~AddressBlocks() {
  for (const Block &block : blocks)
    munmap(block.start, block.bytes);
}

void AddressBlocks::reserveBlock(size_t least) {
  least = roundUp(least);
  // The later push_back must not fail.
  if (blocks.size() == blocks.capacity())
    blocks.reserve(2 * blocks.size() + 1);
  for (size_t bytes = std::max(least, roundUp(preferredBytes));;
       bytes = std::max(least, roundUp(bytes / 2))) {
    if (char *start = reserve(bytes)) {
      blocks.push_back({start, bytes});
      next = backed = start;
      end = start + bytes;
      // Do not request a refused size again.
      preferredBytes = std::min(preferredBytes, bytes);
      return;
    }
    if (bytes == least)
      throw OutOfMemory(least);
  }
}

/// Merges the small pages at `page` that have been written into one huge page.
/// If the system refuses, only performance suffers.
static void collapse(char *page) {
#ifndef MADV_COLLAPSE
  constexpr int MADV_COLLAPSE = 25;
#endif
  (void)madvise(page, AddressBlocks::stepBytes, MADV_COLLAPSE);
}

/// Commits the next `bytes` of the last block.
void AddressBlocks::commit(size_t bytes) {
  const auto missing = size_t(next + bytes - backed);
  const auto before = size_t(backed - blocks.back().start);
  const bool isFirstStep = blocks.size() == 1 && before < stepBytes;
  size_t more = roundUp(missing);
  // A mapping smaller than a huge page gets small pages.
  if (isFirstStep && before + missing <= stepBytes)
    more = std::max(minBytes, std::bit_ceil(before + missing)) - before;
  else if (isFirstStep)
    more = roundUp(before + missing) - before;
  more = std::min(more, size_t(end - backed));
  if (mprotect(backed, more, PROT_READ | PROT_WRITE) != 0)
    throw OutOfMemory(more);
  backed += more;
  held += more;
  if (isFirstStep && before > 0 && before + more >= stepBytes)
    collapse(blocks.back().start);
}

char *AddressBlocks::take(size_t bytes) {
  if (size_t(end - next) < bytes)
    reserveBlock(bytes);
  if (next + bytes > backed)
    commit(bytes);
  char *taken = next;
  next += bytes;
  return taken;
}
