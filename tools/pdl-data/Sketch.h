//===- Sketch.h - Summaries of many values in little memory -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_SKETCH_H
#define PDL_TOOLS_PDL_DATA_SKETCH_H

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

/// Returns the hash of a value that all summaries use.
uint64_t hashOfValue(std::string_view text);

/// Counts distinct values: exactly up to `exactLimit`, then by HyperLogLog with
/// 4,096 registers, whose standard error is 1.6 %. The result depends only on
/// the set of values. Not thread-safe.
class DistinctCounter {
public:
  static constexpr size_t exactLimit = 2048;
  static constexpr double relativeError = 0.01625;

  /// `hash`: that of `hashOfValue`.
  void add(uint64_t hash);
  bool isExact() const { return isSmall; }
  int64_t count() const;

private:
  static constexpr int bits = 12;
  bool isSmall = true;
  std::unordered_set<uint64_t> seen;
  std::array<uint8_t, size_t(1) << bits> registers = {};
};

/// Finds the most frequent values in bounded memory. It counts up to
/// `maxCounters` values; if there are more, it subtracts the median of the
/// counts from all of them, and forgets values without a count. So a count may
/// be too low by up to `error`, and a value with more occurrences is never
/// forgotten. Not thread-safe.
class FrequentTexts {
public:
  static constexpr size_t maxCounters = 1024;

  void add(std::string_view text);
  int64_t error() const { return subtracted; }
  /// Returns up to `count` values, the most frequent first. Of equal counts,
  /// the first in byte order comes first.
  std::vector<std::pair<std::string, int64_t>> top(size_t count) const;
  /// Returns the number of counted values.
  size_t size() const { return counts.size(); }

private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const {
      return size_t(hashOfValue(text));
    }
  };
  void purge();

  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> counts;
  int64_t subtracted = 0;
};

/// Range, mean, and a sample of numbers for quantiles and histograms. The
/// sample has the values at the positions with the lowest random numbers, so it
/// does not depend on how rows are divided into files. Not thread-safe.
class NumberSummary {
public:
  static constexpr size_t sampleSize = 4096;

  void add(double number);
  int64_t count() const { return total; }
  double min() const { return least; }
  double max() const { return most; }
  double mean() const { return total ? sum / double(total) : 0; }
  /// Returns true if the sample has all numbers.
  bool isWhole() const { return total <= int64_t(sampleSize); }
  /// Returns the sample in ascending order.
  std::vector<double> sorted() const;

private:
  int64_t total = 0;
  double least = 0, most = 0, sum = 0;
  /// A heap with the greatest random number on top.
  std::vector<std::pair<uint64_t, double>> kept;
};

#endif // PDL_TOOLS_PDL_DATA_SKETCH_H
