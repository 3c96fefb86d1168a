//===- GroupedAreaUnderCurve.h - Grouped AUC (GAUC) -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_GROUPEDAREAUNDERCURVE_H
#define PDLABI_METRICS_GROUPEDAREAUNDERCURVE_H

#include "pdlabi/metrics/Metric.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlabi {

/// The stored samples of a grouped metric, in the order in which they were
/// added. A sample takes 25 bytes, and 8 more while `sumGroups` runs. Not
/// thread-safe.
struct GroupedSamples {
  std::vector<int64_t> groups;
  std::vector<double> predictions, weights;
  /// 1 for a positive sample, 0 for a negative one.
  std::vector<uint8_t> labels;

  size_t size() const { return labels.size(); }
  void clear() { *this = {}; }
  /// Adds a sample, unless its weight is 0. On std::bad_alloc, nothing has
  /// changed.
  void add(int64_t group, double prediction, bool isPositive, double weight) {
    if (weight == 0)
      return;
    reserveOneMore();
    groups.push_back(group);
    predictions.push_back(prediction);
    weights.push_back(weight);
    labels.push_back(isPositive);
  }

private:
  void reserveOneMore() {
    if (size() < std::min({groups.capacity(), predictions.capacity(),
                           weights.capacity(), labels.capacity()}))
      return;
    const size_t capacity = std::max<size_t>(1024, 2 * size());
    groups.reserve(capacity);
    predictions.reserve(capacity);
    weights.reserve(capacity);
    labels.reserve(capacity);
  }
};

/// The weighted mean over groups of the area under the ROC curve of each group.
/// The weight of a group is the weight of its samples. Groups that have only
/// positive or only negative samples are left out.
struct GroupedAreaUnderCurve : WithoutParameter {
  static constexpr int32_t kind = PDL_METRIC_GROUPED_AUC;
  static constexpr const char *spelling = "#nn.grouped_auc";
  static constexpr MetricInput input = MetricInput::GroupedPair;
  static constexpr int digits = 4;
  static std::string title(double) { return "grouped AUC"; }

  /// Indices of the sums. `observeGroups` adds to the first one; `sumGroups`
  /// computes the others from all samples.
  enum Sum { Observed, Weighted, Weight, Counted, OneSided, SumCount };
  static constexpr bool sumCountDefinesParameter = true;
  static int64_t sumCount(double) { return SumCount; }
  static double value(double, const double *sums) {
    return sums[Weight] > 0 ? sums[Weighted] / sums[Weight] : undefinedMetric;
  }
  static const char *whyUndefined(double, const double *) {
    return "no group has labels of both kinds";
  }
  static std::string remark(double, const double *sums) {
    const auto whole = [](double number) {
      return std::to_string(static_cast<int64_t>(number));
    };
    if (sums[OneSided] == 0)
      return {};
    return whole(sums[OneSided]) + " of " +
           whole(sums[OneSided] + sums[Counted]) +
           " groups have labels of one kind and do not count";
  }
};

/// Computes all sums of a GroupedAreaUnderCurve except the first, from all
/// samples, which are in up to 65,536 parts. Samples are sorted by group, then
/// by prediction, label and weight, so the sums do not depend on their order.
/// Throws std::bad_alloc.
inline void sumGroups(std::span<const GroupedSamples *const> parts,
                      double *sums) {
  using Metric = GroupedAreaUnderCurve;
  // Location of a sample: its part, and its index in the part.
  constexpr int placeBits = 48;
  const auto part = [&](uint64_t at) -> const GroupedSamples & {
    return *parts[at >> placeBits];
  };
  const auto place = [](uint64_t at) {
    return size_t(at & ((uint64_t(1) << placeBits) - 1));
  };
  const auto groupOf = [&](uint64_t at) { return part(at).groups[place(at)]; };
  const auto predictionOf = [&](uint64_t at) {
    return part(at).predictions[place(at)];
  };
  const auto labelOf = [&](uint64_t at) { return part(at).labels[place(at)]; };
  const auto weightOf = [&](uint64_t at) {
    return part(at).weights[place(at)];
  };
  size_t count = 0;
  for (const GroupedSamples *samples : parts)
    count += samples->size();
  std::vector<uint64_t> order;
  order.reserve(count);
  for (uint64_t p = 0; p < parts.size(); ++p)
    for (uint64_t i = 0; i < parts[p]->size(); ++i)
      order.push_back(p << placeBits | i);
  std::sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) {
    if (groupOf(a) != groupOf(b))
      return groupOf(a) < groupOf(b);
    if (predictionOf(a) != predictionOf(b))
      return predictionOf(a) < predictionOf(b);
    if (labelOf(a) != labelOf(b))
      return labelOf(a) < labelOf(b);
    return weightOf(a) < weightOf(b);
  });
  std::fill(sums + Metric::Weighted, sums + Metric::SumCount, 0.0);
  for (size_t i = 0; i < order.size();) {
    const int64_t group = groupOf(order[i]);
    // Weight of the pairs in correct order, and of the samples so far.
    double pairs = 0, negatives = 0, positives = 0;
    while (i < order.size() && groupOf(order[i]) == group) {
      const double prediction = predictionOf(order[i]);
      double equal[2] = {0, 0};
      for (; i < order.size() && groupOf(order[i]) == group &&
             predictionOf(order[i]) == prediction;
           ++i)
        equal[labelOf(order[i])] += weightOf(order[i]);
      pairs += equal[1] * (negatives + 0.5 * equal[0]);
      negatives += equal[0];
      positives += equal[1];
    }
    if (!(negatives > 0 && positives > 0)) {
      sums[Metric::OneSided] += 1;
      continue;
    }
    const double weight = negatives + positives;
    sums[Metric::Weighted] += weight * (pairs / (negatives * positives));
    sums[Metric::Weight] += weight;
    sums[Metric::Counted] += 1;
  }
}

/// Like the function above, for samples in a single part.
inline void sumGroups(const GroupedSamples &samples, double *sums) {
  const GroupedSamples *const parts[] = {&samples};
  sumGroups(parts, sums);
}

} // namespace pdlabi

#endif // PDLABI_METRICS_GROUPEDAREAUNDERCURVE_H
