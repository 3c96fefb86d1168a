//===- Distribution.h - Percentiles and histograms --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_DISTRIBUTION_H
#define PDL_TOOLS_PDL_CHECKPOINT_DISTRIBUTION_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// Distribution of numbers, in bounded memory. Numbers are rounded toward zero
/// to 12 significant bits, so percentiles are too small by at most 0.05 %.
/// Whole numbers up to 4096, the minimum, the maximum and the mean are exact.
class Distribution {
public:
  /// A half-open range [from, to); the last one of a histogram includes `to`.
  struct Bucket {
    double from, to;
    int64_t count;
  };

  void add(double number);
  /// Returns the number of finite numbers that were added.
  int64_t count() const { return finite; }
  int64_t notFinite() const { return others; }
  // Need at least one number.
  double min() const { return least; }
  double max() const { return most; }
  double mean() const { return sum / double(finite); }
  /// Returns the smallest number of which at least `percent` of all numbers are
  /// not larger. `percent` must be in (0, 100].
  double percentile(double percent) const;
  /// Returns the numbers in about `buckets` ranges of equal size. If most
  /// numbers are much smaller than the maximum, the ranges end at powers of
  /// two.
  std::vector<Bucket> histogram(int buckets) const;

private:
  int64_t finite = 0, others = 0;
  double least = 0, most = 0, sum = 0;
  /// Number of numbers by rounded number.
  std::map<double, int64_t> rounded;
};

#endif // PDL_TOOLS_PDL_CHECKPOINT_DISTRIBUTION_H
