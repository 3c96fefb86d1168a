//===- AccuracyAt.h - Top-k accuracy (hit rate) -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_ACCURACYAT_H
#define PDLABI_METRICS_ACCURACYAT_H

#include "pdlabi/metrics/RankedList.h"

namespace pdlabi {

/// The fraction of lists with a relevant item among the first k. With one
/// relevant item per list, this is top-k accuracy, or the hit rate.
struct AccuracyAt : FirstItemsMetric {
  static constexpr int32_t kind = PDL_METRIC_ACCURACY_AT;
  static constexpr const char *spelling = "#nn.accuracy_at<k = N>";
  static std::string title(double k) { return numbered("accuracy", k); }

  template <typename T>
  static void observe(double k, const RankedList<T> &list, double weight,
                      double *sums) {
    const std::optional<int64_t> rank = list.firstRelevantRank();
    add(rank && static_cast<double>(*rank) < k ? 1.0 : 0.0, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_ACCURACYAT_H
