//===- MetricsTest.cpp - AUC, log loss and COPC ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Metrics.h"

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

TEST(MetricsTest, AUCEqualsCountingAllPairs) {
  // Predictions on the borders of the buckets: the histogram loses nothing, so
  // counting pairs one by one is an exact oracle, ties included.
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const int64_t buckets = 64;
    std::vector<float> predictions, labels;
    for (int i = 0; i < 300; ++i) {
      labels.push_back(random() % 3 == 0 ? 1.f : 0.f);
      const unsigned top = labels.back() > 0 ? 65 : 50;
      predictions.push_back(static_cast<float>(random() % top) / 64.f);
    }
    std::vector<int64_t> counts(2 * buckets, 0);
    const pdl_metric metric = metricOf(PDL_METRIC_AUC, buckets);
    const pdl_metric_data data{counts.data(), nullptr};
    pdlrt_observe(PDL_F32, metric.kind, buckets, 300, predictions.data(),
                  labels.data(), &data);
    int64_t doubled = 0, pairs = 0;
    for (int i = 0; i < 300; ++i)
      for (int j = 0; j < 300; ++j) {
        if (labels[i] < 0.5f || labels[j] > 0.5f)
          continue;
        ++pairs;
        // The value 1 shares the last bucket with those in [63/64, 1).
        const float p = std::min(predictions[i], 63.f / 64.f);
        const float q = std::min(predictions[j], 63.f / 64.f);
        doubled += p > q ? 2 : p == q ? 1 : 0;
      }
    EXPECT_EQ(metricValue(metric, data),
              static_cast<double>(doubled) / (2.0 * static_cast<double>(pairs)))
        << "seed " << seed;
  }
}

TEST(MetricsTest, AUCOfPerfectReversedAndConstantPredictions) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 4096);
  const double labels[] = {0, 0, 1, 1, 1};
  const double perfect[] = {0.1, 0.2, 0.7, 0.8, 1.0};
  const double reversed[] = {0.9, 0.8, 0.3, 0.2, 0.0};
  const double constant[] = {0.5, 0.5, 0.5, 0.5, 0.5};
  auto auc = [&](const double *predictions) {
    std::vector<int64_t> counts(2 * 4096, 0);
    const pdl_metric_data data{counts.data(), nullptr};
    pdlrt_observe(PDL_F64, metric.kind, 4096, 5, predictions, labels, &data);
    return metricValue(metric, data);
  };
  EXPECT_EQ(auc(perfect), 1.0);
  EXPECT_EQ(auc(reversed), 0.0);
  EXPECT_EQ(auc(constant), 0.5);
}

TEST(MetricsTest, AUCOfOneClassIsUndefined) {
  const int64_t counts[] = {3, 4, 0, 0};
  EXPECT_TRUE(std::isnan(aucOfHistogram(2, counts)));
}

TEST(MetricsTest, AUCOfManyCountsStaysExact) {
  // 10^12 of each class: the products pass 2^64.
  const int64_t n = 1000000000000;
  const int64_t counts[] = {n / 2, n / 2, n / 4, 3 * (n / 4)};
  EXPECT_DOUBLE_EQ(aucOfHistogram(2, counts), 0.625);
}

TEST(MetricsTest, OddPredictionsStayInsideTheHistogram) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 8);
  const float infinity = std::numeric_limits<float>::infinity();
  const float predictions[] = {-1.f,      2.f,           infinity,
                               -infinity, std::nanf(""), 1.f};
  const float labels[] = {0, 0, 0, 0, 0, 1};
  std::vector<int64_t> counts(16, 0);
  const pdl_metric_data data{counts.data(), nullptr};
  pdlrt_observe(PDL_F32, metric.kind, 8, 6, predictions, labels, &data);
  EXPECT_EQ(counts, (std::vector<int64_t>{3, 0, 0, 0, 0, 0, 0, 2, //
                                          0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(MetricsTest, LogLossMatchesItsFormulaAndIsBounded) {
  const pdl_metric metric = metricOf(PDL_METRIC_LOG_LOSS);
  const double predictions[] = {0.25, 0.5, 0.0, 1.0};
  const double labels[] = {1, 0, 1, 1};
  double sums[2] = {0, 0};
  const pdl_metric_data data{nullptr, sums};
  pdlrt_observe(PDL_F64, metric.kind, 0, 4, predictions, labels, &data);
  // ln 4, ln 2, 7 ln 10 and nearly nothing.
  const double want =
      (3 * std::log(2.0) + 7 * std::log(10.0) - std::log1p(-1e-7)) / 4;
  EXPECT_NEAR(metricValue(metric, data), want, 1e-13);
}

TEST(MetricsTest, COPCDividesClicksByPredictedClicks) {
  const pdl_metric metric = metricOf(PDL_METRIC_COPC);
  const float predictions[] = {0.25f, 0.5f, 0.5f};
  const float labels[] = {1, 0, 1};
  double sums[2] = {0, 0};
  const pdl_metric_data data{nullptr, sums};
  EXPECT_TRUE(std::isnan(metricValue(metric, data)));
  pdlrt_observe(PDL_F32, metric.kind, 0, 3, predictions, labels, &data);
  EXPECT_EQ(metricValue(metric, data), 2.0 / 1.25);
}

TEST(MetricsTest, ReplicasAdd) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 4);
  std::vector<int64_t> all(8, 0), one(8, 0), two(8, 0);
  const float predictions[] = {0.1f, 0.9f, 0.6f, 0.3f};
  const float labels[] = {0, 1, 0, 1};
  pdl_metric_data dataAll{all.data(), nullptr}, dataOne{one.data(), nullptr},
      dataTwo{two.data(), nullptr};
  pdlrt_observe(PDL_F32, 0, 4, 4, predictions, labels, &dataAll);
  pdlrt_observe(PDL_F32, 0, 4, 2, predictions, labels, &dataOne);
  pdlrt_observe(PDL_F32, 0, 4, 2, predictions + 2, labels + 2, &dataTwo);
  addMetric(metric, dataTwo, dataOne);
  EXPECT_EQ(one, all);
  EXPECT_EQ(metricCountSize(metric), 8);
  EXPECT_EQ(metricSumSize(metric), 0);
}

} // namespace
