//===- MetricsTest.cpp - AUC, log loss, COPC and mean ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Metrics.h"

#include "pdlabi/metrics.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace pdlrt;

namespace {

pdl_metric metricOf(int32_t kind, int64_t buckets = 0) {
  pdl_metric metric{};
  metric.struct_size = sizeof(metric);
  metric.name = "m";
  metric.kind = kind;
  metric.bucket_count = buckets;
  return metric;
}

/// The sums of these samples; without labels or weights where those are empty.
template <typename T>
std::vector<double>
sumsOf(const pdl_metric &metric, const std::vector<T> &predictions,
       const std::vector<T> &labels, const std::vector<T> &weights = {}) {
  std::vector<double> sums(metricSumSize(metric));
  pdlrt_observe(sizeof(T) == 8 ? PDL_F64 : PDL_F32, metric.kind,
                metric.bucket_count, int64_t(predictions.size()),
                predictions.data(), labels.empty() ? nullptr : labels.data(),
                weights.empty() ? nullptr : weights.data(), sums.data());
  return sums;
}

TEST(MetricsTest, AUCEqualsCountingAllPairs) {
  // Predictions on the borders of the buckets: the histogram loses nothing, so
  // counting pairs one by one is an exact oracle, ties included.
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const pdl_metric metric = metricOf(PDL_METRIC_AUC, 64);
    std::vector<float> predictions, labels, weights;
    for (int i = 0; i < 300; ++i) {
      labels.push_back(random() % 3 == 0 ? 1.f : 0.f);
      const unsigned top = labels.back() > 0 ? 65 : 50;
      predictions.push_back(static_cast<float>(random() % top) / 64.f);
      weights.push_back(static_cast<float>(random() % 4));
    }
    for (const bool weighted : {false, true}) {
      int64_t doubled = 0, pairs = 0;
      for (int i = 0; i < 300; ++i)
        for (int j = 0; j < 300; ++j) {
          if (labels[i] < 0.5f || labels[j] > 0.5f)
            continue;
          const int64_t weight =
              weighted ? int64_t(weights[i] * weights[j]) : 1;
          pairs += weight;
          // The value 1 shares the last bucket with those in [63/64, 1).
          const float p = std::min(predictions[i], 63.f / 64.f);
          const float q = std::min(predictions[j], 63.f / 64.f);
          doubled += weight * (p > q ? 2 : p == q ? 1 : 0);
        }
      EXPECT_EQ(metricValue(metric,
                            sumsOf(metric, predictions, labels,
                                   weighted ? weights : std::vector<float>())),
                static_cast<double>(doubled) /
                    (2.0 * static_cast<double>(pairs)))
          << "seed " << seed;
    }
  }
}

TEST(MetricsTest, AUCOfPerfectReversedAndConstantPredictions) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 4096);
  const std::vector<double> labels = {0, 0, 1, 1, 1};
  auto auc = [&](const std::vector<double> &predictions) {
    return metricValue(metric, sumsOf(metric, predictions, labels));
  };
  EXPECT_EQ(auc({0.1, 0.2, 0.7, 0.8, 1.0}), 1.0);
  EXPECT_EQ(auc({0.9, 0.8, 0.3, 0.2, 0.0}), 0.0);
  EXPECT_EQ(auc({0.5, 0.5, 0.5, 0.5, 0.5}), 0.5);
}

TEST(MetricsTest, AUCOfOneClassIsUndefined) {
  const double sums[] = {3, 4, 0, 0};
  EXPECT_TRUE(std::isnan(metricValue(metricOf(PDL_METRIC_AUC, 2), sums)));
}

TEST(MetricsTest, AUCOfManyCountsStaysExact) {
  // 10^12 of each class: the products pass 2^64.
  const double n = 1000000000000;
  const double sums[] = {n / 2, n / 2, n / 4, 3 * (n / 4)};
  EXPECT_DOUBLE_EQ(metricValue(metricOf(PDL_METRIC_AUC, 2), sums), 0.625);
}

// A common factor of all weights changes no metric: fractions take the f64
// path, whole numbers the exact one.
TEST(MetricsTest, AFactorOfAllWeightsChangesNothing) {
  std::mt19937 random(7);
  std::vector<double> predictions, labels, whole, fractions;
  for (int i = 0; i < 500; ++i) {
    predictions.push_back(double(random() % 1000) / 1000);
    labels.push_back(double(random() % 2));
    whole.push_back(double(random() % 5));
    fractions.push_back(whole.back() * 0.3);
  }
  for (const int32_t kind : {PDL_METRIC_AUC, PDL_METRIC_LOG_LOSS,
                             PDL_METRIC_COPC, PDL_METRIC_MEAN}) {
    const pdl_metric metric = metricOf(kind, kind == PDL_METRIC_AUC ? 128 : 0);
    const std::vector<double> none;
    const std::vector<double> &y =
        pdlabi::metricHasLabels(kind) ? labels : none;
    const double exact =
        metricValue(metric, sumsOf(metric, predictions, y, whole));
    EXPECT_NEAR(metricValue(metric, sumsOf(metric, predictions, y, fractions)),
                exact, 1e-13 * exact)
        << "kind " << kind;
    EXPECT_NE(metricValue(metric, sumsOf(metric, predictions, y)), exact)
        << "kind " << kind;
  }
}

TEST(MetricsTest, OddPredictionsStayInsideTheHistogram) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 8);
  EXPECT_EQ(
      sumsOf<float>(metric, {-1.f, 2.f, 3e38f, -3e38f, 1.f}, {0, 0, 0, 0, 1}),
      (std::vector<double>{2, 0, 0, 0, 0, 0, 0, 2, //
                           0, 0, 0, 0, 0, 0, 0, 1}));
}

// A number that is not finite is never counted as one that is: the metric has
// no value then, whatever else it observes.
TEST(MetricsTest, ANumberThatIsNotFiniteSpoilsTheMetric) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int32_t kind : {PDL_METRIC_AUC, PDL_METRIC_LOG_LOSS,
                             PDL_METRIC_COPC, PDL_METRIC_MEAN}) {
    const pdl_metric metric = metricOf(kind, kind == PDL_METRIC_AUC ? 8 : 0);
    const std::vector<float> good = {0.25f, 0.75f, 0.5f}, ones = {1, 1, 1};
    const std::vector<float> labels = pdlabi::metricHasLabels(kind)
                                          ? std::vector<float>{0, 1, 1}
                                          : std::vector<float>();
    EXPECT_FALSE(pdlabi::isSpoilt(sumsOf(metric, good, labels, ones).data()));
    for (const float bad : {std::nanf(""), infinity, -infinity})
      for (int place = 0; place < 3; ++place) {
        std::vector<float> p = good, y = labels, w = ones;
        std::vector<float> &spoilt = place == 0 ? p : place == 1 ? y : w;
        if (spoilt.empty())
          continue;
        spoilt[1] = bad;
        const std::vector<double> sums = sumsOf(metric, p, y, w);
        EXPECT_TRUE(pdlabi::isSpoilt(sums.data())) << kind << " " << place;
        EXPECT_TRUE(std::isnan(metricValue(metric, sums)));
        std::vector<double> job = sumsOf(metric, good, labels, ones);
        addMetric(sums, job);
        EXPECT_TRUE(std::isnan(metricValue(metric, job)));
      }
  }
}

TEST(MetricsTest, LogLossMatchesItsFormulaAndIsBounded) {
  const pdl_metric metric = metricOf(PDL_METRIC_LOG_LOSS);
  // ln 4, ln 2, 7 ln 10 and nearly nothing.
  const double want =
      (3 * std::log(2.0) + 7 * std::log(10.0) - std::log1p(-1e-7)) / 4;
  EXPECT_NEAR(metricValue(metric, sumsOf<double>(metric, {0.25, 0.5, 0.0, 1.0},
                                                 {1, 0, 1, 1})),
              want, 1e-13);
}

TEST(MetricsTest, COPCDividesClicksByPredictedClicks) {
  const pdl_metric metric = metricOf(PDL_METRIC_COPC);
  EXPECT_TRUE(std::isnan(metricValue(metric, sumsOf<float>(metric, {}, {}))));
  EXPECT_EQ(metricValue(metric,
                        sumsOf<float>(metric, {0.25f, 0.5f, 0.5f}, {1, 0, 1})),
            2.0 / 1.25);
}

TEST(MetricsTest, MeanTakesOneValueASample) {
  const pdl_metric metric = metricOf(PDL_METRIC_MEAN);
  EXPECT_TRUE(std::isnan(metricValue(metric, sumsOf<double>(metric, {}, {}))));
  EXPECT_EQ(metricValue(metric, sumsOf<double>(metric, {1, 2, 6}, {})), 3);
  EXPECT_EQ(
      metricValue(metric, sumsOf<double>(metric, {1, 2, 6}, {}, {0, 3, 1})), 3);
}

TEST(MetricsTest, ReplicasAdd) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 4);
  const std::vector<double> all =
      sumsOf<float>(metric, {0.1f, 0.9f, 0.6f, 0.3f}, {0, 1, 0, 1});
  std::vector<double> one = sumsOf<float>(metric, {0.1f, 0.9f}, {0, 1});
  addMetric(sumsOf<float>(metric, {0.6f, 0.3f}, {0, 1}), one);
  EXPECT_EQ(one, all);
  EXPECT_EQ(metricSumSize(metric), 8);
}

} // namespace
