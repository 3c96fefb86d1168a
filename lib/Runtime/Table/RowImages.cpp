//===- RowImages.cpp - Copies of rows with headers ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/RowImages.h"

#include <iterator>
#include <new>
#include <utility>

using namespace pdlrt;

void *RowImages::take(const RowLayout &layout) {
  if (taken == rowsOfLast) {
    // A region with several rows must begin at a multiple of its size, which is
    // a power of two.
    constexpr size_t cacheLineBytes = 64;
    const size_t alignment =
        layout.rowsOfRegion() > 1 ? layout.regionBytes() : cacheLineBytes;
    regions.reserve(regions.size() + 1);
    auto *region = static_cast<char *>(
        std::aligned_alloc(alignment, layout.regionBytes()));
    if (!region)
      throw std::bad_alloc();
    regions.emplace_back(region);
    taken = 0;
    rowsOfLast = layout.rowsOfRegion();
  }
  return regions.back().get() + layout.offsetOf(taken++);
}

void RowImages::append(RowImages &&other) {
  regions.insert(regions.end(), std::make_move_iterator(other.regions.begin()),
                 std::make_move_iterator(other.regions.end()));
  if (!other.regions.empty()) {
    taken = other.taken;
    rowsOfLast = other.rowsOfLast;
  }
  other.clear();
}

void RowImages::clear() {
  regions.clear();
  taken = rowsOfLast = 0;
}
