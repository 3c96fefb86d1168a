//===- metrics.h - Figures of merit: their sums and values ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One source for the interpreter and the runtime. A metric is an array of f64
// sums, to which samples add in their order; the sums of replicas are added
// element by element, in the settled order of replicas, and its value follows
// from the sums alone.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_H
#define PDLABI_METRICS_H

#include "pdlabi/abi.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace pdlabi {

/// The elements of a metric's sums. AUC: buckets of negatives, then buckets of
/// positives, each the sum of its samples' weights; all others: a numerator and
/// a denominator.
inline int64_t metricSumCount(int32_t kind, int64_t buckets) {
  return kind == PDL_METRIC_AUC ? 2 * buckets : 2;
}

/// What reports call it; null for a kind that does not exist.
inline const char *metricTitle(int32_t kind) {
  switch (kind) {
  case PDL_METRIC_AUC:
    return "AUC";
  case PDL_METRIC_LOG_LOSS:
    return "log loss";
  case PDL_METRIC_COPC:
    return "COPC";
  case PDL_METRIC_MEAN:
    return "mean";
  default:
    return nullptr;
  }
}

/// Whether a sample is a pair of a prediction and a label, or one value alone.
inline bool metricHasLabels(int32_t kind) { return kind != PDL_METRIC_MEAN; }

/// For AUC and log loss.
inline bool isPositiveLabel(double label) { return label > 0.5; }

/// The bucket of a finite prediction: min(buckets - 1, floor(p * buckets)), 0
/// for p below 0.
inline int64_t bucketOfPrediction(double prediction, int64_t buckets) {
  const double scaled = prediction * static_cast<double>(buckets);
  if (!(scaled > 0.0))
    return 0;
  if (scaled >= static_cast<double>(buckets))
    return buckets - 1;
  return static_cast<int64_t>(scaled);
}

/// -log(p) of a positive, -log(1 - p) of a negative, p kept within
/// [1e-7, 1 - 1e-7].
inline double logLossOf(double prediction, double label) {
  constexpr double least = 1e-7;
  double p = prediction < least ? least : prediction;
  p = p > 1.0 - least ? 1.0 - least : p;
  return -std::log(isPositiveLabel(label) ? p : 1.0 - p);
}

/// Adds one sample that counts `weight` times. Where the metric has no labels,
/// `prediction` is the value and `label` is finite. A number that is not finite
/// spoils the metric: its first sum is NaN from then on, and so is its value.
inline void observeSample(int32_t kind, int64_t buckets, double prediction,
                          double label, double weight, double *sums) {
  if (!(std::isfinite(prediction) && std::isfinite(label) &&
        std::isfinite(weight))) {
    sums[0] = std::numeric_limits<double>::quiet_NaN();
    return;
  }
  switch (kind) {
  case PDL_METRIC_AUC:
    sums[bucketOfPrediction(prediction, buckets) +
         (isPositiveLabel(label) ? buckets : 0)] += weight;
    return;
  case PDL_METRIC_LOG_LOSS:
    sums[0] += weight * logLossOf(prediction, label);
    sums[1] += weight;
    return;
  case PDL_METRIC_COPC:
    sums[0] += weight * label;
    sums[1] += weight * prediction;
    return;
  default:
    sums[0] += weight * prediction;
    sums[1] += weight;
    return;
  }
}

/// Whether the metric met a number that is not finite.
inline bool isSpoilt(const double *sums) { return std::isnan(sums[0]); }

/// The area under the ROC curve of the histogram that `metricSumCount` lays
/// out: the weight of the pairs of a positive and a negative that stand in the
/// right order, pairs within one bucket counting half, over that of all pairs.
/// Exact up to the final division where all sums are whole numbers, as they are
/// without weights; else added in f64 by ascending bucket. NaN where one of the
/// classes weighs nothing.
inline double areaUnderCurve(int64_t buckets, const double *sums) {
  const double *negatives = sums;
  const double *positives = sums + buckets;
  constexpr double mostExact = 9007199254740992.0; // 2^53
  double negativeTotal = 0, positiveTotal = 0;
  bool isWhole = true;
  for (int64_t i = 0; i < buckets; ++i) {
    negativeTotal += negatives[i];
    positiveTotal += positives[i];
    isWhole &= negatives[i] >= 0 && std::floor(negatives[i]) == negatives[i] &&
               positives[i] >= 0 && std::floor(positives[i]) == positives[i];
  }
  isWhole &= negativeTotal < mostExact && positiveTotal < mostExact;
  if (!(negativeTotal > 0 && positiveTotal > 0))
    return std::numeric_limits<double>::quiet_NaN();
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

/// The value: the AUC, or the quotient of the two sums (mean log loss, clicks
/// over predicted clicks, mean). NaN where nothing was observed, and of a
/// spoilt metric.
inline double metricValue(int32_t kind, int64_t buckets, const double *sums) {
  if (kind == PDL_METRIC_AUC)
    return areaUnderCurve(buckets, sums);
  return sums[1] == 0.0 ? std::numeric_limits<double>::quiet_NaN()
                        : sums[0] / sums[1];
}

} // namespace pdlabi

#endif // PDLABI_METRICS_H
