//===- Metrics.cpp - Figures of merit ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Area under the curve
//===----------------------------------------------------------------------===//

LogicalResult AucAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t buckets) {
  if (buckets < 2 || buckets > (1 << 24))
    return emitError() << "#nn.auc needs between 2 and 16777216 buckets, got "
                       << buckets;
  return success();
}

int32_t AucAttr::getAbiKind() const { return PDL_METRIC_AUC; }

/// The bucket of a prediction; outside of [0, 1] the nearest one, NaN the
/// first.
static int64_t bucketOf(double prediction, int64_t buckets) {
  double scaled = std::floor(prediction * static_cast<double>(buckets));
  if (!(scaled > 0))
    return 0;
  return scaled >= static_cast<double>(buckets) ? buckets - 1
                                                : static_cast<int64_t>(scaled);
}

void AucAttr::observe(MetricSums &sums, double prediction, double label) const {
  sums.negatives.resize(getBuckets());
  sums.positives.resize(getBuckets());
  std::vector<int64_t> &counts = label > 0.5 ? sums.positives : sums.negatives;
  ++counts[bucketOf(prediction, getBuckets())];
}

/// The share of pairs of a positive and a negative that stand in the right
/// order, a pair within one bucket counting half. Counted in integers: exact up
/// to the final division.
static double areaUnderCurve(ArrayRef<int64_t> negatives,
                             ArrayRef<int64_t> positives) {
  unsigned __int128 doubledPairs = 0, positiveTotal = 0, negativeTotal = 0;
  for (auto [negative, positive] : llvm::zip_equal(negatives, positives)) {
    doubledPairs += static_cast<unsigned __int128>(positive) *
                    (2 * negativeTotal + negative);
    negativeTotal += negative;
    positiveTotal += positive;
  }
  if (negativeTotal == 0 || positiveTotal == 0)
    return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(doubledPairs) /
         (2.0 * static_cast<double>(positiveTotal * negativeTotal));
}

double AucAttr::finish(const MetricSums &sums) const {
  return areaUnderCurve(sums.negatives, sums.positives);
}

//===----------------------------------------------------------------------===//
// Quotients of sums
//===----------------------------------------------------------------------===//

static double quotient(const MetricSums &sums) {
  if (sums.sums[1] == 0)
    return std::numeric_limits<double>::quiet_NaN();
  return sums.sums[0] / sums.sums[1];
}

int32_t LogLossAttr::getAbiKind() const { return PDL_METRIC_LOG_LOSS; }

void LogLossAttr::observe(MetricSums &sums, double prediction,
                          double label) const {
  double p = prediction < 1e-7 ? 1e-7 : prediction;
  p = p > 1.0 - 1e-7 ? 1.0 - 1e-7 : p;
  sums.sums[0] += -std::log(label > 0.5 ? p : 1.0 - p);
  sums.sums[1] += 1.0;
}

double LogLossAttr::finish(const MetricSums &sums) const {
  return quotient(sums);
}

int32_t CopcAttr::getAbiKind() const { return PDL_METRIC_COPC; }

void CopcAttr::observe(MetricSums &sums, double prediction,
                       double label) const {
  sums.sums[0] += label;
  sums.sums[1] += prediction;
}

double CopcAttr::finish(const MetricSums &sums) const { return quotient(sums); }
