//===- NdcgAt.h - Normalized discounted cumulative gain ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_NDCGAT_H
#define PDLABI_METRICS_NDCGAT_H

#include "pdlabi/metrics/RankedList.h"

#include <cmath>

namespace pdlabi {

/// The mean over lists of the discounted gain of the first k items, divided by
/// the discounted gain of the first k items in the best order. The discounted
/// gain of an item is its label, if it is positive, divided by log2(2 + number
/// of items before it). The quotient is 0 for a list in which no order has a
/// gain.
struct NdcgAt : FirstItemsMetric {
  static constexpr int32_t kind = PDL_METRIC_NDCG_AT;
  static constexpr const char *spelling = "#nn.ndcg_at<k = N>";
  static std::string title(double k) { return numbered("NDCG", k); }

  template <typename T>
  static void observe(double k, const RankedList<T> &list, double weight,
                      double *sums) {
    double gain = 0, best = 0;
    list.forEachRelevant([&](int64_t item, double label) {
      const auto gained = [&](int64_t rank) {
        const double before = static_cast<double>(rank);
        return before < k ? label / std::log2(before + 2.0) : 0.0;
      };
      gain += gained(list.rankOf(item));
      best += gained(list.bestRankOf(item));
    });
    add(best > 0 ? gain / best : 0.0, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_NDCGAT_H
