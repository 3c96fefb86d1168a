//===- MetricsTest.cpp - Sums and values of metrics -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Metrics.h"
#include "pdlabi/abi/calls.h"

#include "pdlabi/metrics.h"
#include "pdlrt/Kernels/ObservedSamples.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

using namespace pdlrt;

namespace {

pdl_metric metricOf(int32_t kind, double parameter = 0) {
  pdl_metric metric{};
  metric.struct_size = sizeof(metric);
  metric.name = "m";
  metric.kind = kind;
  metric.parameter = parameter;
  return metric;
}

/// Returns the sums of these samples; empty labels or weights mean none.
template <typename T>
std::vector<double>
sumsOf(const pdl_metric &metric, const std::vector<T> &predictions,
       const std::vector<T> &labels, const std::vector<T> &weights = {}) {
  std::vector<double> sums(metricSumSize(metric));
  pdlrt_observe(sizeof(T) == 8 ? PDL_F64 : PDL_F32, metric.kind,
                metric.parameter, int64_t(predictions.size()), 1,
                predictions.data(), 1, labels.empty() ? nullptr : labels.data(),
                weights.empty() ? nullptr : weights.data(), sums.data());
  return sums;
}

/// Returns the sums of lists with `width` scores each, and with as many labels,
/// or with one position each.
template <typename T>
std::vector<double> sumsOfLists(const pdl_metric &metric, int64_t width,
                                const std::vector<T> &scores,
                                const std::vector<T> &labels,
                                const std::vector<T> &weights = {}) {
  std::vector<double> sums(metricSumSize(metric));
  const int64_t lists = int64_t(scores.size()) / width;
  pdlrt_observe(sizeof(T) == 8 ? PDL_F64 : PDL_F32, metric.kind,
                metric.parameter, lists, width, scores.data(),
                lists ? int64_t(labels.size()) / lists : width, labels.data(),
                weights.empty() ? nullptr : weights.data(), sums.data());
  return sums;
}

/// Returns all metrics of one value or pair per sample, with a parameter each.
std::vector<pdl_metric> metricsOfSamples() {
  return {
      metricOf(PDL_METRIC_AUC, 128),      metricOf(PDL_METRIC_LOG_LOSS),
      metricOf(PDL_METRIC_COPC),          metricOf(PDL_METRIC_MEAN),
      metricOf(PDL_METRIC_MAE),           metricOf(PDL_METRIC_RMSE),
      metricOf(PDL_METRIC_ACCURACY, 0.5), metricOf(PDL_METRIC_BUCKET_ERROR, 8)};
}

/// Returns all metrics of ranked lists.
std::vector<pdl_metric> metricsOfLists(double k) {
  return {metricOf(PDL_METRIC_ACCURACY_AT, k),
          metricOf(PDL_METRIC_RECALL_AT, k), metricOf(PDL_METRIC_NDCG_AT, k),
          metricOf(PDL_METRIC_MRR)};
}

bool hasLabels(const pdl_metric &metric) {
  return pdlabi::metricInput(metric.kind) != pdlabi::MetricInput::Value;
}

/// Returns the sums of samples that a group metric stores.
std::vector<double> sumsOfGroups(const pdlabi::GroupedSamples &samples) {
  std::vector<double> sums(metricSumSize(metricOf(PDL_METRIC_GROUPED_AUC)));
  for (double weight : samples.weights)
    sums[0] += weight;
  pdlabi::sumGroups(samples, sums.data());
  return sums;
}

// Replicas store parts of the samples.
TEST(MetricsTest, GroupsMayLieInParts) {
  std::mt19937 random(3);
  pdlabi::GroupedSamples all, parts[3];
  for (int i = 0; i < 200; ++i) {
    const auto group = int64_t(random() % 9);
    const double prediction = double(random() % 11), weight = random() % 3;
    const bool isPositive = random() % 2;
    all.add(group, prediction, isPositive, weight);
    parts[random() % 2 * 2].add(group, prediction, isPositive, weight);
  }
  const std::vector<double> whole = sumsOfGroups(all);
  std::vector<double> sums = {whole[0], 0, 0, 0, 0};
  const pdlabi::GroupedSamples *const pointers[] = {&parts[0], &parts[1],
                                                    &parts[2]};
  pdlabi::sumGroups(pointers, sums.data());
  EXPECT_EQ(sums, whole);
}

TEST(MetricsTest, GroupedAUCEqualsCountingThePairsOfEachGroup) {
  const pdl_metric metric = metricOf(PDL_METRIC_GROUPED_AUC);
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    pdlabi::GroupedSamples samples;
    for (int i = 0; i < 300; ++i)
      // Keys of all 64 bits, logits, and many ties.
      samples.add(int64_t(random() % 40) * 0x0123456789abcdef - 7,
                  double(random() % 9) - 4, random() % 3 == 0,
                  double(random() % 4));
    double total = 0, weight = 0, counted = 0, oneSided = 0;
    for (int64_t key : std::set(samples.groups.begin(), samples.groups.end())) {
      double pairs = 0, right = 0, own = 0;
      for (size_t i = 0; i < samples.size(); ++i) {
        if (samples.groups[i] != key)
          continue;
        own += samples.weights[i];
        for (size_t j = 0; j < samples.size(); ++j) {
          if (samples.groups[j] != key || !samples.labels[i] ||
              samples.labels[j])
            continue;
          const double both = samples.weights[i] * samples.weights[j];
          pairs += both;
          if (samples.predictions[i] > samples.predictions[j])
            right += both;
          if (samples.predictions[i] == samples.predictions[j])
            right += both / 2;
        }
      }
      if (pairs == 0) {
        ++oneSided;
        continue;
      }
      ++counted;
      total += own * (right / pairs);
      weight += own;
    }
    const std::vector<double> sums = sumsOfGroups(samples);
    EXPECT_NEAR(metricValue(metric, sums), total / weight, 1e-14) << seed;
    EXPECT_EQ(sums[pdlabi::GroupedAreaUnderCurve::Counted], counted);
    EXPECT_EQ(sums[pdlabi::GroupedAreaUnderCurve::OneSided], oneSided);
  }
}

TEST(MetricsTest, TheOrderOfSamplesIsNoPartOfAGroupedAUC) {
  std::mt19937 random(3);
  pdlabi::GroupedSamples samples, shuffled;
  for (int i = 0; i < 500; ++i)
    samples.add(random() % 7, double(random() % 5), random() % 2,
                std::ldexp(double(random()), -31));
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  for (size_t i : order)
    shuffled.add(samples.groups[i], samples.predictions[i], samples.labels[i],
                 samples.weights[i]);
  const std::vector<double> sums = sumsOfGroups(samples);
  const std::vector<double> others = sumsOfGroups(shuffled);
  // The first sum depends on the order of samples; it only says whether there
  // were any.
  EXPECT_TRUE(std::equal(sums.begin() + 1, sums.end(), others.begin() + 1));
}

TEST(MetricsTest, AGroupedAUCWithoutPairsSaysSo) {
  const pdl_metric metric = metricOf(PDL_METRIC_GROUPED_AUC);
  pdlabi::GroupedSamples samples;
  samples.add(1, 0.5, true, 1);
  samples.add(2, 0.5, false, 1);
  samples.add(3, 0.5, true, 0); // not stored
  std::vector<double> sums = sumsOfGroups(samples);
  EXPECT_TRUE(std::isnan(metricValue(metric, sums)));
  EXPECT_EQ(pdlabi::whyMetricIsUndefined(metric.kind, 0, sums.data()),
            "no group has labels of both kinds");
  samples.add(2, 0.75, true, 1);
  sums = sumsOfGroups(samples);
  EXPECT_EQ(metricValue(metric, sums), 1);
  EXPECT_EQ(pdlabi::metricRemark(metric.kind, 0, sums.data()),
            "1 of 2 groups have labels of one kind and do not count");
  // Now each group has both classes.
  samples.add(1, 0.75, false, 1);
  samples.add(3, 0.5, true, 1);
  samples.add(3, 0.75, false, 2);
  sums = sumsOfGroups(samples);
  EXPECT_EQ(metricValue(metric, sums), 2.0 / 7);
  EXPECT_EQ(pdlabi::metricRemark(metric.kind, 0, sums.data()), "");
}

TEST(MetricsTest, ANumberThatIsNotFiniteSpoilsAGroupedAUC) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<int64_t> groups = {1, 1, 1};
  const float fine[] = {0.25f, 0.5f, 1}, labels[] = {0, 1, 1};
  for (int bad = 0; bad < 4; ++bad) {
    std::array<std::array<float, 3>, 3> all = {
        {{fine[0], fine[1], fine[2]},
         {labels[0], labels[1], labels[2]},
         {1, 1, 1}}};
    if (bad < 3)
      all[bad][2] = nan;
    pdlabi::GroupedSamples samples;
    std::vector<double> sums(pdlabi::GroupedAreaUnderCurve::SumCount);
    pdlabi::observeGroups<float>(
        {3, 1, all[0].data(), 1, all[1].data(), all[2].data()}, groups.data(),
        samples, sums.data());
    pdlabi::sumGroups(samples, sums.data());
    EXPECT_EQ(pdlabi::isSpoilt(sums.data()), bad < 3) << bad;
    EXPECT_EQ(
        std::isnan(pdlabi::metricValue(PDL_METRIC_GROUPED_AUC, 0, sums.data())),
        bad < 3);
  }
}

/// Returns the start of bucket `i` of 128 of an AUC: there are two per octave.
static double borderOfOdds(int i) {
  if (i > 64)
    return 1 - borderOfOdds(128 - i);
  return std::ldexp(1 + 0.5 * (i % 2), i / 2 - 33);
}

TEST(MetricsTest, AUCEqualsCountingAllPairs) {
  // Predictions are on the borders of the buckets, so the histogram loses
  // nothing. Counting pairs is then an exact oracle, including ties.
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const pdl_metric metric = metricOf(PDL_METRIC_AUC, 128);
    std::vector<double> predictions, labels, weights;
    for (int i = 0; i < 300; ++i) {
      labels.push_back(random() % 3 == 0 ? 1 : 0);
      const unsigned top = labels.back() > 0 ? 129 : 100;
      predictions.push_back(borderOfOdds(int(random() % top)));
      weights.push_back(double(random() % 4));
    }
    for (const bool weighted : {false, true}) {
      int64_t doubled = 0, pairs = 0;
      for (int i = 0; i < 300; ++i)
        for (int j = 0; j < 300; ++j) {
          if (labels[i] < 0.5 || labels[j] > 0.5)
            continue;
          const int64_t weight =
              weighted ? int64_t(weights[i] * weights[j]) : 1;
          pairs += weight;
          // The value 1 shares the last bucket with smaller values.
          const double p = std::min(predictions[i], borderOfOdds(127));
          const double q = std::min(predictions[j], borderOfOdds(127));
          doubled += weight * (p > q ? 2 : p == q ? 1 : 0);
        }
      EXPECT_EQ(metricValue(metric,
                            sumsOf(metric, predictions, labels,
                                   weighted ? weights : std::vector<double>())),
                static_cast<double>(doubled) /
                    (2.0 * static_cast<double>(pairs)))
          << "seed " << seed;
    }
  }
}

/// Returns the area under the ROC curve of distinct predictions, by sorting.
static double areaBySorting(const std::vector<float> &predictions,
                            const std::vector<float> &labels) {
  std::vector<size_t> order(predictions.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, {}, [&](size_t i) { return predictions[i]; });
  double below = 0, pairs = 0;
  for (size_t i = 0; i < order.size();) {
    double equal[2] = {0, 0};
    size_t end = i;
    for (;
         end < order.size() && predictions[order[end]] == predictions[order[i]];
         ++end)
      equal[labels[order[end]] > 0.5f] += 1;
    pairs += equal[1] * (below + 0.5 * equal[0]);
    below += equal[0];
    i = end;
  }
  return pairs / (below * (double(predictions.size()) - below));
}

// Equal-width buckets would put most predictions of rare clicks into one.
TEST(MetricsTest, AUCIsRightAtAnyBaseRate) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 16384);
  for (const double rate : {0.5, 0.97, 1e-2, 3e-4, 1e-5})
    for (const double spread : {0.2, 1.0, 2.5}) {
      // The logits of clicks are `spread`^2 above the others, so predictions
      // are calibrated.
      std::mt19937 random(17);
      std::normal_distribution<double> normal;
      const double middle = std::log(rate / (1 - rate));
      std::vector<float> predictions, labels;
      for (int i = 0; i < 40000; ++i) {
        labels.push_back(i % 20 == 0 ? 1 : 0);
        const double z = middle + spread * normal(random) +
                         (i % 20 == 0 ? spread * spread : 0);
        predictions.push_back(float(1 / (1 + std::exp(-z))));
      }
      const std::vector<double> sums = sumsOf(metric, predictions, labels);
      const double exact = areaBySorting(predictions, labels);
      const double off = std::abs(metricValue(metric, sums) - exact);
      const double bound =
          pdlabi::AreaUnderCurve::errorBound(16384, sums.data());
      EXPECT_LT(off, 1e-4) << rate << " " << spread;
      EXPECT_LE(off, bound) << rate << " " << spread;
      EXPECT_LT(bound, spread < 0.5 ? 4e-3 : 2e-3) << rate << " " << spread;
    }
}

TEST(MetricsTest, TheErrorOfAnAUCIsBounded) {
  const auto remarkOf = [](std::vector<double> sums) {
    return pdlabi::metricRemark(PDL_METRIC_AUC, 2, sums.data());
  };
  // A positive and a negative share a bucket in 2 of 4 pairs.
  EXPECT_EQ(pdlabi::AreaUnderCurve::errorBound(
                2, std::vector<double>{1, 1, 1, 1, 0}.data()),
            0.25);
  EXPECT_EQ(remarkOf({1, 1, 1, 1, 0}), "exact to 0.2500");
  // The printed bound is rounded up.
  EXPECT_EQ(remarkOf({1000000, 1, 1, 1000000, 0}), "exact to 0.0001");
  EXPECT_EQ(remarkOf({1, 0, 0, 1, 0}), "");
}

TEST(MetricsTest, ThePositionOfOddsRises) {
  EXPECT_EQ(pdlabi::positionOfOdds(0.5), 0.5);
  EXPECT_EQ(pdlabi::positionOfOdds(0), 0);
  EXPECT_EQ(pdlabi::positionOfOdds(1), 1);
  EXPECT_EQ(pdlabi::positionOfOdds(0x1p-33), 0);
  EXPECT_EQ(pdlabi::positionOfOdds(0x1p-17), 0.25);
  EXPECT_EQ(pdlabi::positionOfOdds(-1), 0);
  EXPECT_EQ(pdlabi::positionOfOdds(2), 1);
  std::mt19937 random(4);
  std::uniform_real_distribution<double> exponents(-40, 0);
  for (int i = 0; i < 10000; ++i) {
    const double p = std::exp2(exponents(random));
    const double at = pdlabi::positionOfOdds(p);
    EXPECT_LE(pdlabi::positionOfOdds(std::nextafter(p, 0)), at) << p;
    EXPECT_GE(at, 0);
    EXPECT_LE(at, 1);
    EXPECT_NEAR(pdlabi::positionOfOdds(1 - p), 1 - at, 1e-6) << p;
  }
}

// The partition of samples into replicas and processes has no effect.
TEST(MetricsTest, AUCOfAnyReplicasIsEqualToTheBit) {
  const pdl_metric metric = metricOf(PDL_METRIC_AUC, 64);
  std::mt19937 random(9);
  std::vector<float> predictions, labels, weights;
  for (int i = 0; i < 500; ++i) {
    predictions.push_back(float(random()) / float(std::mt19937::max()));
    labels.push_back(float(random() % 2));
    weights.push_back(float(random() % 1000) / 8);
  }
  for (const bool weighted : {false, true}) {
    std::vector<double> whole = sumsOf(
        metric, predictions, labels, weighted ? weights : std::vector<float>());
    for (const size_t replicas : {2, 3, 7}) {
      std::vector<double> all(whole.size());
      for (size_t r = 0; r < replicas; ++r) {
        std::vector<float> p, y, w;
        for (size_t i = r; i < predictions.size(); i += replicas) {
          p.push_back(predictions[i]);
          y.push_back(labels[i]);
          if (weighted)
            w.push_back(weights[i]);
        }
        addMetric(sumsOf(metric, p, y, w), all);
      }
      EXPECT_EQ(all, whole);
    }
  }
}

TEST(MetricsTest, PredictionsThatAreNoProbabilitiesAreCounted) {
  const std::vector<float> p = {-0.5f, 0, 0.5f, 1, 1.5f, 7}, y(6),
                           w = {1, 1, 1, 1, 1, 0};
  for (const pdl_metric &metric : metricsOfSamples()) {
    const bool expects = pdlabi::expectsProbabilities(metric.kind);
    const auto outside = [&](const std::vector<float> &weights) {
      return pdlabi::predictionsOutside(
          metric.kind, metric.parameter,
          sumsOf(metric, p, hasLabels(metric) ? y : std::vector<float>(),
                 weights)
              .data());
    };
    EXPECT_EQ(outside({}), expects ? 3 : 0) << metric.kind;
    // A sample without weight is not observed.
    EXPECT_EQ(outside(w), expects ? 2 : 0) << metric.kind;
  }
  EXPECT_TRUE(pdlabi::expectsProbabilities(PDL_METRIC_AUC));
  EXPECT_TRUE(pdlabi::expectsProbabilities(PDL_METRIC_LOG_LOSS));
  EXPECT_TRUE(pdlabi::expectsProbabilities(PDL_METRIC_BUCKET_ERROR));
  EXPECT_TRUE(pdlabi::expectsProbabilities(PDL_METRIC_COPC));
  EXPECT_FALSE(pdlabi::expectsProbabilities(PDL_METRIC_GROUPED_AUC));
  EXPECT_FALSE(pdlabi::expectsProbabilities(PDL_METRIC_ACCURACY));
  EXPECT_NE(pdlabi::meaningOutside(PDL_METRIC_COPC),
            pdlabi::meaningOutside(PDL_METRIC_AUC));
  EXPECT_FALSE(pdlabi::expectsProbabilities(PDL_METRIC_MAE));
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
  // 10^12 of each class: the products exceed 2^64.
  const double n = 1000000000000;
  const double sums[] = {n / 2, n / 2, n / 4, 3 * (n / 4)};
  EXPECT_DOUBLE_EQ(metricValue(metricOf(PDL_METRIC_AUC, 2), sums), 0.625);
}

// A common factor of all weights changes no metric: fractions use the f64 path,
// and whole numbers the exact one.
TEST(MetricsTest, AFactorOfAllWeightsChangesNothing) {
  std::mt19937 random(7);
  std::vector<double> predictions, labels, whole, fractions;
  for (int i = 0; i < 500; ++i) {
    predictions.push_back(double(random() % 1000) / 1000);
    labels.push_back(double(random() % 2));
    whole.push_back(double(random() % 5));
    fractions.push_back(whole.back() * 0.3);
  }
  for (const pdl_metric &metric : metricsOfSamples()) {
    const int32_t kind = metric.kind;
    // A bucket error depends on the number of samples, so weights count.
    if (kind == PDL_METRIC_BUCKET_ERROR)
      continue;
    const std::vector<double> none;
    const std::vector<double> &y = hasLabels(metric) ? labels : none;
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
                           0, 0, 0, 0, 0, 0, 0, 1, 4}));
}

// A NaN or an infinity never counts as a finite number: the metric then has no
// value, whatever else it observes.
TEST(MetricsTest, ANumberThatIsNotFiniteSpoilsTheMetric) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const pdl_metric &metric : metricsOfSamples()) {
    const int32_t kind = metric.kind;
    const std::vector<float> good = {0.25f, 0.75f, 0.5f}, ones = {1, 1, 1};
    const std::vector<float> labels =
        hasLabels(metric) ? std::vector<float>{0, 1, 1} : std::vector<float>();
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
  // The terms are ln 4, ln 2, 7 ln 10 and almost 0.
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
  EXPECT_EQ(metricSumSize(metric), 9);
}

TEST(MetricsTest, ErrorsMatchTheirFormulas) {
  const std::vector<double> p = {0.25, 2, -1, 3}, y = {1, 2, 1, 0},
                            w = {2, 5, 1, 0};
  // The values of |p - y| are 0.75, 0, 2 and 3.
  EXPECT_EQ(metricValue(metricOf(PDL_METRIC_MAE),
                        sumsOf(metricOf(PDL_METRIC_MAE), p, y)),
            5.75 / 4);
  EXPECT_EQ(metricValue(metricOf(PDL_METRIC_MAE),
                        sumsOf(metricOf(PDL_METRIC_MAE), p, y, w)),
            3.5 / 8);
  EXPECT_EQ(metricValue(metricOf(PDL_METRIC_RMSE),
                        sumsOf(metricOf(PDL_METRIC_RMSE), p, y)),
            std::sqrt((0.5625 + 4 + 9) / 4));
  EXPECT_EQ(metricValue(metricOf(PDL_METRIC_RMSE),
                        sumsOf(metricOf(PDL_METRIC_RMSE), p, y, w)),
            std::sqrt((2 * 0.5625 + 4) / 8));
}

TEST(MetricsTest, AccuracyComparesWithItsThreshold) {
  // A prediction equal to the threshold means no click.
  const std::vector<float> p = {-1, 0, 0.5f, 0.75f}, y = {0, 0, 1, 1};
  auto accuracy = [&](double threshold, const std::vector<float> &weights) {
    const pdl_metric metric = metricOf(PDL_METRIC_ACCURACY, threshold);
    return metricValue(metric, sumsOf(metric, p, y, weights));
  };
  EXPECT_EQ(accuracy(0.5, {}), 0.75);
  EXPECT_EQ(accuracy(0, {}), 1);
  EXPECT_EQ(accuracy(-2, {}), 0.5);
  EXPECT_EQ(accuracy(0.5, {1, 1, 2, 0}), 0.5);
}

TEST(MetricsTest, BucketErrorJoinsBucketsToSpans) {
  const pdl_metric metric = metricOf(PDL_METRIC_BUCKET_ERROR, 1000);
  // Buckets of 1/1000. At a click rate of 1/2 a span needs more than 400
  // samples, in buckets that are at most 0.01 apart.
  auto error = [&](std::vector<std::array<double, 3>> buckets) {
    std::vector<double> sums(2000);
    for (const auto &[bucket, negatives, positives] : buckets) {
      sums[int64_t(bucket)] = negatives;
      sums[1000 + int64_t(bucket)] = positives;
    }
    return metricValue(metric, sums);
  };
  EXPECT_TRUE(std::isnan(error({})));
  EXPECT_TRUE(std::isnan(error({{500, 199, 200}})));
  EXPECT_EQ(error({{500, 200, 300}}), 300 / 250.0 - 1);
  // Two buckets of one span, then of two spans.
  EXPECT_NEAR(error({{500, 100, 150}, {504, 100, 150}}), 300 / 251.0 - 1,
              1e-14);
  EXPECT_TRUE(std::isnan(error({{500, 100, 150}, {512, 100, 150}})));
  // Two spans whose weights are their samples, and a span with too few samples.
  EXPECT_NEAR(error({{500, 200, 300}, {750, 100, 900}, {900, 1, 1}}),
              (0.2 * 500 + (900 / 750.0 - 1) * 1000) / 1500, 1e-14);
  // The first bucket expects no click, so it says nothing.
  EXPECT_TRUE(std::isnan(error({{0, 10000, 10000}})));
  // A spoilt metric has no value, even if other spans would have one.
  std::vector<double> spoilt(2000);
  spoilt[0] = std::nan("");
  spoilt[500] = spoilt[1500] = 1000;
  EXPECT_TRUE(std::isnan(metricValue(metric, spoilt)));
}

/// Returns the metric of one list, computed by sorting.
double listOracle(int32_t kind, int64_t k, const std::vector<float> &scores,
                  const std::vector<float> &labels) {
  const auto sorted = [](const std::vector<float> &keys) {
    std::vector<int> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](int a, int b) {
      return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
    });
    return order;
  };
  const std::vector<int> order = sorted(scores), best = sorted(labels);
  double relevant = 0, found = 0, first = 0, gain = 0, ideal = 0;
  for (int64_t i = 0; i < int64_t(scores.size()); ++i) {
    const double label = labels[order[i]];
    if (label > 0.5) {
      relevant += 1;
      found += i < k;
      if (first == 0)
        first = 1 / double(i + 1);
    }
    if (i < k) {
      gain += std::max(label, 0.0) / std::log2(double(i + 2));
      ideal +=
          std::max(double(labels[best[i]]), 0.0) / std::log2(double(i + 2));
    }
  }
  switch (kind) {
  case PDL_METRIC_ACCURACY_AT:
    return found > 0;
  case PDL_METRIC_RECALL_AT:
    return relevant > 0 ? found / relevant : 0;
  case PDL_METRIC_NDCG_AT:
    return ideal > 0 ? gain / ideal : 0;
  default:
    return first;
  }
}

TEST(MetricsTest, RankedListsEqualSorting) {
  std::mt19937 random(11);
  for (const int64_t k : {1, 3, 7, 20})
    for (const pdl_metric &metric : metricsOfLists(double(k))) {
      std::vector<float> scores, labels, weights;
      double sum = 0, weightSum = 0;
      for (int list = 0; list < 50; ++list) {
        // Few distinct scores, so that many are equal; graded labels; and lists
        // without a relevant item.
        std::vector<float> s, y;
        for (int i = 0; i < 12; ++i) {
          s.push_back(float(random() % 6) / 4);
          y.push_back(list % 7 == 0 ? 0 : float(int(random() % 8) - 4));
        }
        weights.push_back(float(random() % 3));
        sum += weights.back() * listOracle(metric.kind, k, s, y);
        weightSum += weights.back();
        scores.insert(scores.end(), s.begin(), s.end());
        labels.insert(labels.end(), y.begin(), y.end());
      }
      EXPECT_NEAR(
          metricValue(metric, sumsOfLists(metric, 12, scores, labels, weights)),
          sum / weightSum, 1e-12)
          << metric.kind << " " << k;
    }
}

TEST(MetricsTest, APositionStandsForTheOnlyRelevantItem) {
  for (const pdl_metric &metric : metricsOfLists(2)) {
    const std::vector<float> scores = {3, 1, 2, 1, 1, 1};
    EXPECT_EQ(sumsOfLists<float>(metric, 3, scores, {2, 1}),
              sumsOfLists<float>(metric, 3, scores, {0, 0, 1, 0, 1, 0}))
        << metric.kind;
    // No valid position: an item that is not in the list is never found.
    for (const float position : {-1.f, 3.f, 0.5f, 1e30f})
      EXPECT_EQ(sumsOfLists<float>(metric, 3, {3, 1, 2}, {position}),
                (std::vector<double>{0, 1}))
          << metric.kind << " " << position;
  }
}

TEST(MetricsTest, EqualScoresStandInTheOrderOfTheSample) {
  const pdl_metric metric = metricOf(PDL_METRIC_MRR);
  for (int position = 0; position < 3; ++position)
    EXPECT_EQ(metricValue(metric, sumsOfLists<double>(metric, 3, {5, 5, 5},
                                                      {double(position)})),
              1.0 / (position + 1));
}

TEST(MetricsTest, RankedListsWithoutWeightOrWithNumbersThatAreNotFinite) {
  for (const pdl_metric &metric : metricsOfLists(2)) {
    EXPECT_TRUE(
        std::isnan(metricValue(metric, sumsOfLists<float>(metric, 3, {}, {}))));
    EXPECT_TRUE(std::isnan(metricValue(
        metric, sumsOfLists<float>(metric, 3, {1, 2, 3}, {2}, {0}))));
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      // This holds even for an item that no metric would inspect.
      EXPECT_TRUE(pdlabi::isSpoilt(
          sumsOfLists<float>(metric, 3, {1, bad, 3}, {2}).data()));
      EXPECT_TRUE(pdlabi::isSpoilt(
          sumsOfLists<float>(metric, 3, {1, 2, 3}, {1, 0, bad}).data()));
      EXPECT_TRUE(pdlabi::isSpoilt(
          sumsOfLists<float>(metric, 3, {1, 2, 3}, {bad}).data()));
      EXPECT_TRUE(pdlabi::isSpoilt(
          sumsOfLists<float>(metric, 3, {1, 2, 3}, {1}, {bad}).data()));
    }
  }
}

// A model may write exactly what a program may contain, and each kind has its
// own number.
TEST(MetricsTest, EachMetricIsWholeAndFoundByItsKind) {
  std::set<int32_t> kinds;
  pdlabi::AllMetrics::visitAll([&](auto metric) {
    using Metric = decltype(metric);
    EXPECT_TRUE(kinds.insert(Metric::kind).second) << Metric::spelling;
    const double parameter = Metric::domain ? 4 : 0;
    EXPECT_TRUE(pdlabi::isMetric(Metric::kind, parameter)) << Metric::spelling;
    EXPECT_EQ(pdlabi::isMetric(Metric::kind, std::nan("")),
              Metric::domain == nullptr)
        << Metric::spelling;
    EXPECT_FALSE(pdlabi::metricTitle(Metric::kind, parameter).empty());
    EXPECT_GT(pdlabi::metricSumCount(Metric::kind, parameter), 0);
  });
  EXPECT_FALSE(pdlabi::isMetric(int32_t(kinds.size()), 0));
  EXPECT_FALSE(pdlabi::isMetric(-1, 0));
}

TEST(Metrics, WhoWantsToSeeTheirCounts) {
  const std::vector<float> predictions = {0.25, 0.5}, labels = {0, 1};
  const std::vector<double> values = {1, 2}, weights = {3, 4};
  const pdl_metric auc = metricOf(PDL_METRIC_AUC, 16);
  const pdl_metric mean = metricOf(PDL_METRIC_MEAN);
  const std::vector<double> plain = sumsOf(auc, predictions, labels);
  ObservedSamples seen;
  {
    const ObservedSamples::Scope scope(&seen);
    EXPECT_EQ(sumsOf(auc, predictions, labels), plain);
    sumsOf(mean, values, {}, weights);
    // The inner values are not recorded.
    const ObservedSamples::Scope inner(nullptr);
    sumsOf(mean, values, {});
  }
  sumsOf(mean, values, {});
  ASSERT_EQ(seen.all().size(), 2u);
  EXPECT_FALSE(seen.lostSome());
  const ObservedSamples::Observation &first = seen.all()[0];
  EXPECT_EQ(first.type, PDL_F32);
  EXPECT_EQ(first.count, 2);
  EXPECT_EQ(first.predictions.size(), 8u);
  EXPECT_EQ(std::memcmp(first.labels.data(), labels.data(), 8), 0);
  EXPECT_TRUE(first.weights.empty() && first.groups.empty());
  const ObservedSamples::Observation &second = seen.all()[1];
  EXPECT_EQ(second.type, PDL_F64);
  EXPECT_TRUE(second.labels.empty());
  EXPECT_EQ(std::memcmp(second.predictions.data(), values.data(), 16), 0);
  EXPECT_EQ(std::memcmp(second.weights.data(), weights.data(), 16), 0);
  // The next batch starts from zero.
  const ObservedSamples::Scope scope(&seen);
  EXPECT_TRUE(seen.all().empty());
}

} // namespace
