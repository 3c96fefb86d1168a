//===- RowPool.cpp - The rows of a table, by number -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/RowPool.h"

#include <algorithm>
#include <bit>

using namespace pdlrt;

/// The power of two, at most 2^most, of which so many rows are at most `bytes`
/// bytes; one row where it is larger.
static int shiftOf(size_t bytes, size_t rowBytes, size_t most) {
  return std::bit_width(
             std::clamp<size_t>(bytes / rowBytes, 1, size_t(1) << most)) -
         1;
}

RowPool::RowPool(size_t rowBytes)
    : rowBytes(rowBytes), slabShift(shiftOf(1024, rowBytes, 5)),
      regionShift(shiftOf(AddressBlocks::stepBytes, rowBytes, 32)) {}

uint64_t RowPool::takeSlab() {
  const std::lock_guard lock(mutex);
  const uint64_t row = slabs << slabShift;
  const size_t region = row >> regionShift;
  if (region == regionCount) {
    if (regionCount == listSize) {
      const size_t size = std::max<size_t>(16, 2 * listSize);
      lists.reserve(lists.size() + 1);
      auto longer = std::make_unique<char *[]>(size);
      std::copy_n(regions.load(std::memory_order_relaxed), regionCount,
                  longer.get());
      regions.store(longer.get(), std::memory_order_release);
      lists.push_back(std::move(longer));
      listSize = size;
    }
    lists.back()[region] = blocks.take(rowBytes << regionShift);
    ++regionCount;
  }
  ++slabs;
  return row;
}

size_t RowPool::memoryBytes() const {
  const std::lock_guard lock(mutex);
  // All lists together are less than twice the last one.
  return blocks.heldBytes() + 2 * listSize * sizeof(char *);
}
