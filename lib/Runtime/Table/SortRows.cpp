//===- SortRows.cpp - Sorts rows by key -----------------------------------===//
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

/// Hashed keys are evenly distributed between the smallest and the largest key,
/// so the position of a key is approximately known. First distributes the rows
/// to ranges of keys, in place (McIlroy et al., "Engineering Radix Sort",
/// 1993). Each range then has only a few rows to sort. With other keys, the
/// distribution is useless and costs some time.
void pdlrt::sortByKey(std::span<TableRow> rows) {
  constexpr size_t maxRanges = 4096, worthRanges = 64;
  if (rows.size() < worthRanges) {
    std::sort(rows.begin(), rows.end(), isBefore);
    return;
  }
  const auto [least, most] =
      std::minmax_element(rows.begin(), rows.end(), isBefore);
  const auto first = uint64_t(least->key);
  const uint64_t spread = uint64_t(most->key) - first;
  const size_t ranges = std::min(std::bit_ceil(rows.size()), maxRanges);
  const int shift = std::max(0, int(std::bit_width(spread)) -
                                    int(std::bit_width(ranges) - 1));
  auto rangeOf = [&](const TableRow &row) {
    return size_t((uint64_t(row.key) - first) >> shift);
  };
  size_t begins[maxRanges + 1], next[maxRanges];
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
