//===- SortRows.cpp - Rows in the order of their keys ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/SortRows.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

using namespace pdlrt;

static bool isBefore(const TableRow &a, const TableRow &b) {
  return a.key < b.key;
}

/// Keys that are hashes are spread evenly from the least to the largest one, so
/// that the place of each is almost known: rows are dealt out to ranges of keys
/// in place (McIlroy et al., "Engineering Radix Sort", 1993), and few of them
/// meet in one range. Others lose one pass.
void pdlrt::sortByKey(std::span<TableRow> rows) {
  constexpr size_t mostRanges = 4096, worthRanges = 64;
  if (rows.size() < worthRanges) {
    std::sort(rows.begin(), rows.end(), isBefore);
    return;
  }
  const auto [least, most] =
      std::minmax_element(rows.begin(), rows.end(), isBefore);
  const auto first = uint64_t(least->key);
  const uint64_t spread = uint64_t(most->key) - first;
  const size_t ranges = std::min(std::bit_ceil(rows.size()), mostRanges);
  const int shift = std::max(0, int(std::bit_width(spread)) -
                                    int(std::bit_width(ranges) - 1));
  auto rangeOf = [&](const TableRow &row) {
    return size_t((uint64_t(row.key) - first) >> shift);
  };
  size_t begins[mostRanges + 1], next[mostRanges];
  std::fill_n(begins, ranges + 1, 0);
  for (const TableRow &row : rows)
    ++begins[rangeOf(row) + 1];
  for (size_t r = 0; r < ranges; ++r) {
    begins[r + 1] += begins[r];
    next[r] = begins[r];
  }
  for (size_t r = 0; r < ranges; ++r)
    while (next[r] < begins[r + 1]) {
      const size_t home = rangeOf(rows[next[r]]);
      if (home == r)
        ++next[r];
      else
        std::swap(rows[next[r]], rows[next[home]++]);
    }
  for (size_t r = 0; r < ranges; ++r)
    if (begins[r + 1] - begins[r] > 1)
      std::sort(rows.begin() + int64_t(begins[r]),
                rows.begin() + int64_t(begins[r + 1]), isBefore);
}
