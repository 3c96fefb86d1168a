//===- AreaUnderCurve.h - AUC -----------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_AREAUNDERCURVE_H
#define PDLABI_METRICS_AREAUNDERCURVE_H

#include "pdlabi/metrics/ClickHistogram.h"

#include <cmath>

namespace pdlabi {

/// The area under the ROC curve of a histogram: the weight of the pairs of a
/// positive and a negative that stand in the right order, pairs within one
/// bucket counting half, over that of all pairs.
struct AreaUnderCurve : ClickHistogram {
  static constexpr int32_t kind = PDL_METRIC_AUC;
  static constexpr const char *spelling = "#nn.auc<buckets = N>";
  static constexpr int digits = 4;
  static std::string title(double) { return "AUC"; }

  /// Exact up to the final division where all sums are whole numbers, as they
  /// are without weights; else added in f64 by ascending bucket. NaN where one
  /// of the classes weighs nothing.
  static double value(double parameter, const double *sums) {
    const int64_t buckets = static_cast<int64_t>(parameter);
    const double *negatives = sums;
    const double *positives = sums + buckets;
    constexpr double mostExact = 9007199254740992.0; // 2^53
    double negativeTotal = 0, positiveTotal = 0;
    bool isWhole = true;
    for (int64_t i = 0; i < buckets; ++i) {
      negativeTotal += negatives[i];
      positiveTotal += positives[i];
      isWhole &= negatives[i] >= 0 &&
                 std::floor(negatives[i]) == negatives[i] &&
                 positives[i] >= 0 && std::floor(positives[i]) == positives[i];
    }
    isWhole &= negativeTotal < mostExact && positiveTotal < mostExact;
    if (!(negativeTotal > 0 && positiveTotal > 0))
      return undefinedMetric;
    if (!isWhole) {
      double pairs = 0, below = 0;
      for (int64_t i = 0; i < buckets; ++i) {
        pairs += positives[i] * (below + 0.5 * negatives[i]);
        below += negatives[i];
      }
      return pairs / (positiveTotal * negativeTotal);
    }
    // Twice the number of pairs in the right order: a whole number.
    unsigned __int128 doubledPairs = 0;
    uint64_t below = 0;
    for (int64_t i = 0; i < buckets; ++i) {
      const uint64_t negative = static_cast<uint64_t>(negatives[i]);
      doubledPairs +=
          static_cast<unsigned __int128>(positives[i]) * (2 * below + negative);
      below += negative;
    }
    const unsigned __int128 allPairs =
        static_cast<unsigned __int128>(positiveTotal) * below;
    return static_cast<double>(doubledPairs) /
           (2.0 * static_cast<double>(allPairs));
  }

  static const char *whyUndefined(double buckets, const double *sums) {
    double negativeTotal = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(buckets); ++i)
      negativeTotal += sums[i];
    return negativeTotal > 0 ? "no positive labels of any weight"
                             : "no negative labels of any weight";
  }
};

} // namespace pdlabi

#endif // PDLABI_METRICS_AREAUNDERCURVE_H
