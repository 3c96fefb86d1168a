//===- Distribution.cpp - Percentiles and histograms ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

void Distribution::add(double number) {
  if (!std::isfinite(number)) {
    ++others;
    return;
  }
  least = finite ? std::min(least, number) : number;
  most = finite ? std::max(most, number) : number;
  sum += number;
  ++finite;
  // Of the 52 bits after the first one, 11 are kept.
  constexpr uint64_t kept = ~((uint64_t(1) << 41) - 1);
  // The sum turns -0 into 0.
  ++rounded[std::bit_cast<double>(std::bit_cast<uint64_t>(number) & kept) +
            0.0];
}

double Distribution::percentile(double percent) const {
  const auto wanted =
      std::max(int64_t(1), int64_t(std::ceil(percent / 100 * double(finite))));
  int64_t seen = 0;
  for (const auto &[number, count] : rounded) {
    seen += count;
    if (seen >= wanted)
      return std::clamp(number, least, most);
  }
  return most;
}

std::vector<Distribution::Bucket> Distribution::histogram(int buckets) const {
  if (finite == 0)
    return {};
  constexpr double wide = 16;
  std::vector<double> ends;
  if (least >= 0 && most > wide * percentile(50)) {
    // The first range takes everything that is too small for one of its own.
    const int last = std::ilogb(most) + 1;
    for (int power = last - buckets + 1; power <= last; ++power)
      ends.push_back(std::ldexp(1.0, power));
  } else {
    for (int b = 1; b < buckets && least < most; ++b)
      ends.push_back(least + (most - least) * b / buckets);
    ends.push_back(most);
  }
  std::vector<Bucket> found;
  for (double end : ends)
    found.push_back(
        {found.empty() ? std::min(least, end) : found.back().to, end, 0});
  for (const auto &[number, count] : rounded) {
    const auto bucket = std::ranges::upper_bound(ends, std::max(number, least));
    found[size_t(
              std::min(bucket - ends.begin(), std::ptrdiff_t(ends.size()) - 1))]
        .count += count;
  }
  return found;
}
