//===- AddressBlocks.cpp - Memory that grows and never moves --------------===//
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

/// Addresses that nothing backs yet, aligned to a step; null where the system
/// has none.
static char *reserve(size_t bytes) {
  // One step more, for the alignment.
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
  // Random rows of a large table cost a page walk each without huge pages. For
  // the whole block at once, so that it stays one mapping. A refusal only costs
  // speed.
  (void)madvise(first + before, bytes, MADV_HUGEPAGE);
  return first + before;
}

AddressBlocks::~AddressBlocks() {
  for (const Block &block : blocks)
    munmap(block.start, block.bytes);
}

void AddressBlocks::reserveBlock(size_t least) {
  least = roundUp(least);
  // The next push_back must not fail.
  if (blocks.size() == blocks.capacity())
    blocks.reserve(2 * blocks.size() + 1);
  for (size_t bytes = std::max(least, roundUp(preferredBytes));;
       bytes = std::max(least, roundUp(bytes / 2))) {
    if (char *start = reserve(bytes)) {
      blocks.push_back({start, bytes});
      next = backed = start;
      end = start + bytes;
      // What was refused once is not asked for again.
      preferredBytes = std::min(preferredBytes, bytes);
      return;
    }
    if (bytes == least)
      throw OutOfMemory(least);
  }
}

/// Makes a huge page of the small pages that have been written. A refusal only
/// costs speed.
static void collapse(char *page) {
#ifndef MADV_COLLAPSE
  constexpr int MADV_COLLAPSE = 25;
#endif
  (void)madvise(page, AddressBlocks::stepBytes, MADV_COLLAPSE);
}

/// Backs the next `bytes` of the last block.
void AddressBlocks::commit(size_t bytes) {
  const auto missing = size_t(next + bytes - backed);
  const auto before = size_t(backed - blocks.back().start);
  const bool isFirstStep = blocks.size() == 1 && before < stepBytes;
  size_t more = roundUp(missing);
  // A mapping that is smaller than a huge page gets small ones.
  if (isFirstStep && before + missing <= stepBytes)
    more = std::max(leastBytes, std::bit_ceil(before + missing)) - before;
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
