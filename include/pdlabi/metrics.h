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
// from the sums alone. Each metric is a file of metrics/; what one consists of
// is in metrics/Metric.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_H
#define PDLABI_METRICS_H

#include "pdlabi/abi.h"
#include "pdlabi/metrics/Accuracy.h"
#include "pdlabi/metrics/AccuracyAt.h"
#include "pdlabi/metrics/AreaUnderCurve.h"
#include "pdlabi/metrics/BucketError.h"
#include "pdlabi/metrics/ClicksOverPredicted.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlabi/metrics/LogLoss.h"
#include "pdlabi/metrics/Mean.h"
#include "pdlabi/metrics/MeanAbsoluteError.h"
#include "pdlabi/metrics/NdcgAt.h"
#include "pdlabi/metrics/RankedList.h"
#include "pdlabi/metrics/RecallAt.h"
#include "pdlabi/metrics/ReciprocalRank.h"
#include "pdlabi/metrics/RootMeanSquaredError.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace pdlabi {

/// A list of metrics, to be asked for one by its kind.
template <typename... Metrics> struct MetricList {
  /// Calls visit(metric) with the metric of a kind; false if there is none.
  template <typename Visit> static bool visit(int32_t kind, Visit visit) {
    return ((Metrics::kind == kind && (visit(Metrics()), true)) || ...);
  }
  /// Calls visit(metric) with each of them.
  template <typename Visit> static void visitAll(Visit visit) {
    (visit(Metrics()), ...);
  }
};

/// All metrics, in the order in which messages name them.
using AllMetrics = MetricList<AreaUnderCurve, GroupedAreaUnderCurve, LogLoss,
                              ClicksOverPredicted, Mean, MeanAbsoluteError,
                              RootMeanSquaredError, Accuracy, BucketError,
                              AccuracyAt, RecallAt, NdcgAt, ReciprocalRank>;

/// Whether there is such a metric, and the parameter one that it can have.
inline bool isMetric(int32_t kind, double parameter) {
  bool accepts = false;
  return AllMetrics::visit(kind,
                           [&](auto metric) {
                             accepts = decltype(metric)::accepts(parameter);
                           }) &&
         accepts;
}

/// Whether a metric counts predictions that are no probabilities.
template <typename Metric>
inline constexpr bool countsOutside =
    requires { requires Metric::expectsProbabilities; };

/// The elements of a metric's sums.
inline int64_t metricSumCount(int32_t kind, double parameter) {
  int64_t count = 0;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    count = Metric::sumCount(parameter) + (countsOutside<Metric> ? 1 : 0);
  });
  return count;
}

inline bool expectsProbabilities(int32_t kind) {
  bool expects = false;
  AllMetrics::visit(
      kind, [&](auto metric) { expects = countsOutside<decltype(metric)>; });
  return expects;
}

/// How many predictions of some weight lay outside of [0, 1], of a metric that
/// expects probabilities; 0 of any other.
inline int64_t predictionsOutside(int32_t kind, double parameter,
                                  const double *sums) {
  int64_t count = 0;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    if constexpr (countsOutside<Metric>)
      count = static_cast<int64_t>(sums[Metric::sumCount(parameter)]);
  });
  return count;
}

/// Whether metrics of this kind with other parameters have other numbers of
/// sums, if they have a parameter at all.
inline bool sumCountTellsParameter(int32_t kind) {
  bool tells = true;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    tells = Metric::domain == nullptr || Metric::sumCountTellsParameter;
  });
  return tells;
}

inline MetricInput metricInput(int32_t kind) {
  MetricInput input = MetricInput::Value;
  AllMetrics::visit(kind,
                    [&](auto metric) { input = decltype(metric)::input; });
  return input;
}

/// Whether it is one of groups of samples, which keeps the samples.
inline bool observesGroups(int32_t kind) {
  return metricInput(kind) == MetricInput::GroupedPair;
}

/// What reports call it.
inline std::string metricTitle(int32_t kind, double parameter) {
  std::string title;
  AllMetrics::visit(
      kind, [&](auto metric) { title = decltype(metric)::title(parameter); });
  return title;
}

/// The digits behind the point that reports show.
inline int metricDigits(int32_t kind) {
  int digits = 0;
  AllMetrics::visit(kind,
                    [&](auto metric) { digits = decltype(metric)::digits; });
  return digits;
}

/// The observations of a batch, row by row.
template <typename T> struct Observations {
  int64_t samples;
  /// Values, predictions or scores of a sample.
  int64_t width;
  const T *predictions;
  /// Labels of a sample; `labels` is null where the metric takes none.
  int64_t labelWidth;
  const T *labels;
  /// One a sample; null: ones.
  const T *weights;
};

/// Whether all of a sample's numbers are finite.
template <typename T>
bool isFiniteSample(const Observations<T> &all, int64_t sample) {
  const auto areFinite = [sample](const T *numbers, int64_t width) {
    bool result = true;
    for (int64_t i = 0; numbers && i < width; ++i)
      result &= std::isfinite(numbers[sample * width + i]);
    return result;
  };
  return areFinite(all.predictions, all.width) &&
         areFinite(all.labels, all.labelWidth) && areFinite(all.weights, 1);
}

/// Calls visit(i, weight) with each sample whose numbers are finite, in order;
/// any other makes the first sum NaN.
template <typename T, typename Visit>
void forEachFiniteSample(const Observations<T> &all, double *sums,
                         Visit visit) {
  for (int64_t i = 0; i < all.samples; ++i) {
    if (isFiniteSample(all, i))
      visit(i, all.weights ? static_cast<double>(all.weights[i]) : 1.0);
    else
      sums[0] = undefinedMetric;
  }
}

/// Adds the samples to `sums`, in order, each as often as its weight says. A
/// number that is not finite spoils the metric: its first sum is NaN from then
/// on, and so is its value.
template <typename T>
void observeSamples(int32_t kind, double parameter, const Observations<T> &all,
                    double *sums) {
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    forEachFiniteSample(all, sums, [&](int64_t i, double weight) {
      if constexpr (Metric::input == MetricInput::Value)
        Metric::observe(parameter, static_cast<double>(all.predictions[i]),
                        weight, sums);
      else if constexpr (Metric::input == MetricInput::Pair)
        Metric::observe(parameter, static_cast<double>(all.predictions[i]),
                        static_cast<double>(all.labels[i]), weight, sums);
      else if constexpr (Metric::input == MetricInput::List)
        Metric::observe(
            parameter,
            RankedList<T>(all.width, all.predictions + i * all.width,
                          all.labelWidth, all.labels + i * all.labelWidth),
            weight, sums);
      if constexpr (countsOutside<Metric>)
        if (weight != 0 &&
            !(all.predictions[i] >= 0 && all.predictions[i] <= 1))
          sums[Metric::sumCount(parameter)] += 1;
    });
  });
}

/// Keeps the samples of a metric of groups, in order: `groups` says of each
/// where it belongs. The first sum becomes that of their weights, NaN from a
/// number on that is not finite; `sumGroups` makes the others. Throws
/// std::bad_alloc.
template <typename T>
void observeGroups(const Observations<T> &all, const int64_t *groups,
                   GroupedSamples &samples, double *sums) {
  forEachFiniteSample(all, sums, [&](int64_t i, double weight) {
    samples.add(groups[i], static_cast<double>(all.predictions[i]),
                isPositiveLabel(static_cast<double>(all.labels[i])), weight);
    sums[0] += weight;
  });
}

/// Whether the metric met a number that is not finite.
inline bool isSpoilt(const double *sums) { return std::isnan(sums[0]); }

/// The value; NaN where nothing was observed, and of a spoilt metric.
inline double metricValue(int32_t kind, double parameter, const double *sums) {
  double value = undefinedMetric;
  if (isSpoilt(sums))
    return value;
  AllMetrics::visit(kind, [&](auto metric) {
    value = decltype(metric)::value(parameter, sums);
  });
  return value;
}

/// Why sums that are not all 0 have no value.
inline std::string whyMetricIsUndefined(int32_t kind, double parameter,
                                        const double *sums) {
  if (isSpoilt(sums))
    return "it observed a number that is not finite";
  std::string why;
  AllMetrics::visit(kind, [&](auto metric) {
    why = decltype(metric)::whyUndefined(parameter, sums);
  });
  return why;
}

/// What reports add to the value; empty: nothing.
inline std::string metricRemark(int32_t kind, double parameter,
                                const double *sums) {
  std::string remark;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    if constexpr (requires { Metric::remark(parameter, sums); })
      remark = Metric::remark(parameter, sums);
  });
  return remark;
}

} // namespace pdlabi

#endif // PDLABI_METRICS_H
