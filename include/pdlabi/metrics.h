//===- metrics.h - Metrics: their sums and values ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metrics of models, with one implementation for interpreter and runtime.
// The state of a metric is an array of f64 sums, to which samples are added in
// order. The sums of replicas are added element by element, in the order of
// replicas. The value of a metric is computed only from its sums. Each metric
// has a file in metrics/; metrics/Metric.h describes the members of a metric.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_METRICS_H
#define PDLABI_METRICS_H

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

/// A list of metric types.
template <typename... Metrics> struct MetricList {
  /// Calls visit(metric) with the metric of kind `kind`. Returns false if there
  /// is none.
  template <typename Visit> static bool visit(int32_t kind, Visit visit) {
    return ((Metrics::kind == kind && (visit(Metrics()), true)) || ...);
  }
  /// Calls visit(metric) with each metric.
  template <typename Visit> static void visitAll(Visit visit) {
    (visit(Metrics()), ...);
  }
};

/// The metrics, in the order in which messages list them.
using AllMetrics = MetricList<AreaUnderCurve, GroupedAreaUnderCurve, LogLoss,
                              ClicksOverPredicted, Mean, MeanAbsoluteError,
                              RootMeanSquaredError, Accuracy, BucketError,
                              AccuracyAt, RecallAt, NdcgAt, ReciprocalRank>;

/// Returns true if there is a metric of kind `kind` and it accepts `parameter`.
inline bool isMetric(int32_t kind, double parameter) {
  bool accepts = false;
  return AllMetrics::visit(kind,
                           [&](auto metric) {
                             accepts = decltype(metric)::accepts(parameter);
                           }) &&
         accepts;
}

/// True if a metric expects probabilities; it then counts predictions outside
/// of [0, 1] in an additional sum.
template <typename Metric>
inline constexpr bool countsOutside = requires { Metric::meaningOutside; };

/// Returns the number of sums of a metric.
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

/// Returns a text for messages: how a metric that expects probabilities treats
/// predictions outside of [0, 1]. Empty for other metrics.
inline std::string meaningOutside(int32_t kind) {
  std::string meaning;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    if constexpr (countsOutside<Metric>)
      meaning = Metric::meaningOutside;
  });
  return meaning;
}

/// Returns the number of samples with a nonzero weight whose prediction was
/// outside of [0, 1], if the metric expects probabilities; 0 for other metrics.
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

/// Returns true if metrics of this kind have no parameter, or if it follows
/// from the number of sums.
inline bool sumCountDefinesParameter(int32_t kind) {
  bool tells = true;
  AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    tells = Metric::domain == nullptr || Metric::sumCountDefinesParameter;
  });
  return tells;
}

inline MetricInput metricInput(int32_t kind) {
  MetricInput input = MetricInput::Value;
  AllMetrics::visit(kind,
                    [&](auto metric) { input = decltype(metric)::input; });
  return input;
}

/// Returns true for kinds of grouped metrics, which store their samples.
inline bool observesGroups(int32_t kind) {
  return metricInput(kind) == MetricInput::GroupedPair;
}

/// Returns the name of a metric in reports.
inline std::string metricTitle(int32_t kind, double parameter) {
  std::string title;
  AllMetrics::visit(
      kind, [&](auto metric) { title = decltype(metric)::title(parameter); });
  return title;
}

/// Returns the number of decimal places of a metric's value in reports.
inline int metricDigits(int32_t kind) {
  int digits = 0;
  AllMetrics::visit(kind,
                    [&](auto metric) { digits = decltype(metric)::digits; });
  return digits;
}

/// The samples of a batch that a metric observes. Arrays have one row per
/// sample.
template <typename T> struct Observations {
  int64_t samples;
  /// Number of values, predictions or scores per sample.
  int64_t width;
  const T *predictions;
  /// Number of labels per sample. `labels` is null if the metric has no labels.
  int64_t labelWidth;
  const T *labels;
  /// Weight of each sample; null: all weights are 1.
  const T *weights;
};

/// Returns true if all numbers of the sample are finite.
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

/// Calls visit(i, weight) for each sample whose numbers are finite, in order.
/// Any other sample sets the first sum to NaN.
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

/// Adds weighted samples to the sums of a metric, in order. If a number of a
/// sample is not finite, the metric becomes invalid: its first sum, and so its
/// value, are NaN from then on.
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

/// Stores the samples of a grouped metric in `samples`, in order. `groups` has
/// the group of each sample. Adds their weights to the first sum, or sets it to
/// NaN if a number is not finite. `sumGroups` computes the other sums. Throws
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

/// Returns true if the metric is invalid because it has observed a number that
/// is not finite.
inline bool isSpoilt(const double *sums) { return std::isnan(sums[0]); }

/// Returns the value of a metric. It is NaN if the metric has observed nothing
/// or is invalid, or if its sums do not define a value.
inline double metricValue(int32_t kind, double parameter, const double *sums) {
  double value = undefinedMetric;
  if (isSpoilt(sums))
    return value;
  AllMetrics::visit(kind, [&](auto metric) {
    value = decltype(metric)::value(parameter, sums);
  });
  return value;
}

/// Returns the reason why a metric has no value. Call only if its sums are not
/// all 0.
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

/// Returns the text that reports print after the value of a metric; may be
/// empty.
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
