//===- Sketch.cpp - Summaries of many values in little memory -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sketch.h"

#include "pdlabi/philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <xxhash.h>

uint64_t hashOfValue(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

void DistinctCounter::add(uint64_t hash) {
  if (isSmall) {
    seen.insert(hash);
    if (seen.size() <= exactLimit)
      return;
    isSmall = false;
    for (const uint64_t earlier : seen)
      add(earlier);
    seen = {};
    return;
  }
  const uint64_t rest = hash << bits;
  const auto rank = uint8_t(rest ? std::countl_zero(rest) + 1 : 65 - bits);
  uint8_t &entry = registers[size_t(hash >> (64 - bits))];
  entry = std::max(entry, rank);
}

int64_t DistinctCounter::count() const {
  if (isSmall)
    return int64_t(seen.size());
  const auto m = double(registers.size());
  double sum = 0;
  int64_t zeros = 0;
  for (const uint8_t rank : registers) {
    sum += std::ldexp(1.0, -int(rank));
    zeros += rank == 0;
  }
  const double estimate = 0.7213 / (1 + 1.079 / m) * m * m / sum;
  // Few values: the number of empty registers says more.
  if (estimate <= 2.5 * m && zeros > 0)
    return std::llround(m * std::log(m / double(zeros)));
  return std::llround(estimate);
}

void FrequentTexts::add(std::string_view text) {
  const auto found = counts.find(text);
  if (found != counts.end()) {
    ++found->second;
    return;
  }
  if (counts.size() == maxCounters)
    purge();
  counts.emplace(text, 1);
}

void FrequentTexts::purge() {
  std::vector<int64_t> all;
  all.reserve(counts.size());
  for (const auto &[text, count] : counts)
    all.push_back(count);
  const auto middle = all.begin() + int64_t(all.size() / 2);
  std::ranges::nth_element(all, middle);
  const int64_t median = *middle;
  subtracted += median;
  for (auto entry = counts.begin(); entry != counts.end();) {
    entry->second -= median;
    entry = entry->second <= 0 ? counts.erase(entry) : std::next(entry);
  }
}

std::vector<std::pair<std::string, int64_t>>
FrequentTexts::top(size_t count) const {
  std::vector<std::pair<std::string, int64_t>> all(counts.begin(),
                                                   counts.end());
  std::ranges::sort(all, [](const auto &a, const auto &b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  all.resize(std::min(all.size(), count));
  return all;
}

void NumberSummary::add(double number) {
  least = total ? std::min(least, number) : number;
  most = total ? std::max(most, number) : number;
  sum += number;
  const auto position = uint64_t(total++);
  const pdlabi::PhiloxBlock block = pdlabi::philox(
      {{uint32_t(position), uint32_t(position >> 32), 0, 0}}, /*seed=*/0);
  const uint64_t key = block.words[0] | uint64_t(block.words[1]) << 32;
  if (kept.size() == sampleSize) {
    if (key >= kept.front().first)
      return;
    std::ranges::pop_heap(kept);
    kept.back() = {key, number};
  } else {
    kept.emplace_back(key, number);
  }
  std::ranges::push_heap(kept);
}

std::vector<double> NumberSummary::sorted() const {
  std::vector<double> numbers;
  for (const auto &[key, number] : kept)
    numbers.push_back(number);
  std::ranges::sort(numbers);
  return numbers;
}
