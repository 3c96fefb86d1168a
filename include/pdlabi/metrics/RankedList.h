//===- RankedList.h - Items of a sample, ranked by score --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_RANKEDLIST_H
#define PDLABI_METRICS_RANKEDLIST_H

#include "pdlabi/metrics/Metric.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace pdlabi {

/// One sample of a metric of ranked lists. Each item has a score and a label,
/// its relevance. Items are ranked by descending score; equal scores keep the
/// order of the sample. In place of a label for each item, a sample may have a
/// single number: the position of the only relevant item, whose label is then
/// 1. If the number is not a position of the list, the list does not contain
/// the relevant item.
template <typename T> class RankedList {
public:
  RankedList(int64_t size, const T *scores, int64_t labelCount, const T *labels)
      : size(size), scores(scores), labelCount(labelCount), labels(labels) {}

  /// Calls visit(item, label) for each item with a label above 0, in the order
  /// of positions.
  template <typename Visit> void forEachRelevant(Visit visit) const {
    if (labelCount == size) {
      for (int64_t i = 0; i < size; ++i)
        if (labels[i] > T(0))
          visit(i, static_cast<double>(labels[i]));
      return;
    }
    const double position = static_cast<double>(labels[0]);
    if (position >= 0 && position < static_cast<double>(size) &&
        std::floor(position) == position)
      visit(static_cast<int64_t>(position), 1.0);
  }

  /// Returns the rank of an item: the number of items that are ranked before
  /// it.
  int64_t rankOf(int64_t item) const { return rank(item, scores); }
  /// Returns the rank that an item has if items are ranked by label.
  int64_t bestRankOf(int64_t item) const {
    return labelCount == size ? rank(item, labels) : 0;
  }

  /// Returns the lowest rank of all relevant items, or nullopt if there are
  /// none.
  std::optional<int64_t> firstRelevantRank() const {
    std::optional<int64_t> first;
    forEachRelevant([&](int64_t item, double label) {
      if (isPositiveLabel(label))
        first = std::min(rankOf(item), first.value_or(size));
    });
    return first;
  }

private:
  int64_t rank(int64_t item, const T *keys) const {
    const T own = keys[item];
    int64_t before = 0;
    for (int64_t i = 0; i < item; ++i)
      before += keys[i] >= own ? 1 : 0;
    for (int64_t i = item + 1; i < size; ++i)
      before += keys[i] > own ? 1 : 0;
    return before;
  }

  int64_t size;
  const T *scores;
  int64_t labelCount;
  const T *labels;
};

/// Base of metrics that evaluate the first k items of each list, and are a
/// weighted mean over lists.
struct FirstItemsMetric : QuotientMetric {
  static constexpr MetricInput input = MetricInput::List;
  static constexpr const char *domain = "a k between 1 and 16777216";
  static constexpr int digits = 4;
  static bool accepts(double k) { return k >= 1 && k <= 16777216; }
  static std::string numbered(const char *name, double k) {
    return std::string(name) + "@" + std::to_string(static_cast<int64_t>(k));
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_RANKEDLIST_H
