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

/// Returns the position of a probability p on a scale from 0 to 1 that is
/// similar to the logarithm of the odds. Each of the 32 octaves of p below 1/2,
/// and of 1 - p above 1/2, has the same width. So buckets resolve click rates
/// of 1e-5 as well as those near 1/2. Probabilities of at most 2^-33 have
/// position 0. The scale is symmetric: position(1 - p) = 1 - position(p). It
/// never decreases as p increases. Within an octave it is linear, so no
/// logarithm is needed, and the result is the same on every machine.
inline double positionOfOdds(double probability) {
  constexpr int octaves = 32;
  // Position of a probability of at most 1/2; that of 1/2 is 1/2.
  const auto ofSmall = [](double small) {
    if (!(small > 0.0))
      return 0.0;
    int exponent;
    const double mantissa = std::frexp(small, &exponent);
    const double octave =
        static_cast<double>(exponent + octaves - 1) + 2.0 * mantissa;
    return octave > 0.0 ? octave / (2.0 * octaves) : 0.0;
  };
  return probability <= 0.5 ? ofSmall(probability)
                            : 1.0 - ofSmall(1.0 - probability);
}

/// The area under the ROC curve: the weight of the pairs of a positive and a
/// negative sample that are in the correct order, divided by the weight of all
/// such pairs. It is computed from a histogram of predictions, with buckets on
/// the scale of positionOfOdds. A pair within one bucket counts half.
struct AreaUnderCurve : ClickHistogram {
  static constexpr int32_t kind = PDL_METRIC_AUC;
  static constexpr const char *spelling = "#nn.auc<buckets = N>";
  static constexpr int digits = 4;
  static std::string title(double) { return "AUC"; }

  static void observe(double buckets, double prediction, double label,
                      double weight, double *sums) {
    count(bucketOf(positionOfOdds(prediction), buckets), buckets, label, weight,
          sums);
  }

  /// Returns the maximum difference from the exact AUC: half of the fraction of
  /// pairs whose two samples are in the same bucket.
  static double errorBound(double parameter, const double *sums) {
    const int64_t buckets = static_cast<int64_t>(parameter);
    double within = 0, negatives = 0, positives = 0;
    for (int64_t i = 0; i < buckets; ++i) {
      within += sums[i] * sums[buckets + i];
      negatives += sums[i];
      positives += sums[buckets + i];
    }
    return 0.5 * within / (positives * negatives);
  }

  /// Returns the error bound as text, rounded up to the decimal places of
  /// reports.
  static std::string remark(double parameter, const double *sums) {
    constexpr int64_t unit = 10000;
    const double units = std::ceil(errorBound(parameter, sums) * unit);
    if (!(units > 0 && units <= unit))
      return {};
    const std::string decimals = std::to_string(static_cast<int64_t>(units));
    return units == unit
               ? "exact to 1"
               : "exact to 0." + std::string(digits - decimals.size(), '0') +
                     decimals;
  }

  /// Returns the AUC of the histogram. If all sums are whole numbers, which is
  /// the case without weights, it is exact except for the rounding of the final
  /// division. Otherwise it is computed in f64, in ascending order of buckets.
  /// Returns NaN if the positives or the negatives have no weight.
  static double value(double parameter, const double *sums) {
    const int64_t buckets = static_cast<int64_t>(parameter);
    const double *negatives = sums;
    const double *positives = sums + buckets;
    constexpr double maxExact = 9007199254740992.0; // 2^53
    double negativeTotal = 0, positiveTotal = 0;
    bool isWhole = true;
    for (int64_t i = 0; i < buckets; ++i) {
      negativeTotal += negatives[i];
      positiveTotal += positives[i];
      isWhole &= negatives[i] >= 0 &&
                 std::floor(negatives[i]) == negatives[i] &&
                 positives[i] >= 0 && std::floor(positives[i]) == positives[i];
    }
    isWhole &= negativeTotal < maxExact && positiveTotal < maxExact;
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
    // Twice the number of pairs in correct order: a whole number.
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
