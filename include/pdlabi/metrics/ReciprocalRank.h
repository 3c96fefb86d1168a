//===- ReciprocalRank.h - MRR -----------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_RECIPROCALRANK_H
#define PDLABI_METRICS_RECIPROCALRANK_H

#include "pdlabi/metrics/RankedList.h"

namespace pdlabi {

/// The mean over lists of 1 / (1 + number of items before the first relevant
/// item); 0 for a list without relevant items.
struct ReciprocalRank : QuotientMetric, WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_MRR;
  static constexpr const char *spelling = "#nn.mrr";
  static constexpr MetricInput input = MetricInput::List;
  static constexpr int digits = 4;
  static std::string title(double) { return "MRR"; }

  template <typename T>
  static void observe(double, const RankedList<T> &list, double weight,
                      double *sums) {
    const std::optional<int64_t> rank = list.firstRelevantRank();
    add(rank ? 1.0 / (1.0 + static_cast<double>(*rank)) : 0.0, weight, sums);
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_RECIPROCALRANK_H
