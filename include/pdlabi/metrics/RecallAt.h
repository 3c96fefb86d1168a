//===- RecallAt.h - Recall at k ---------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_RECALLAT_H
#define PDLABI_METRICS_RECALLAT_H

#include "pdlabi/metrics/RankedList.h"

namespace pdlabi {

/// The mean over lists of the fraction of their relevant items that are among
/// the first k; 0 for a list without relevant items.
struct RecallAt : FirstItemsMetric {
  static constexpr int32_t kind = PDL_METRIC_RECALL_AT;
  static constexpr const char *spelling = "#nn.recall_at<k = N>";
  static std::string title(double k) { return numbered("recall", k); }

  template <typename T>
  static void observe(double k, const RankedList<T> &list, double weight,
                      double *sums) {
    double relevant = 0, found = 0;
    list.forEachRelevant([&](int64_t item, double label) {
      if (!isPositiveLabel(label))
        return;
      relevant += 1.0;
      found += static_cast<double>(list.rankOf(item)) < k ? 1.0 : 0.0;
    });
    add(relevant > 0 ? found / relevant : 0.0, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_RECALLAT_H
