//===- Metric.cpp - Figures of merit --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/State.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::interpreter;
using namespace pdlc::nn;

FailureOr<Metric> Metric::create(MetricOp op) {
  Metric metric;
  if (auto auc = dyn_cast<AucAttr>(op.getKind())) {
    metric.kind = Kind::auc;
    metric.negatives.assign(auc.getBuckets(), 0);
    metric.positives.assign(auc.getBuckets(), 0);
  } else if (isa<LogLossAttr>(op.getKind())) {
    metric.kind = Kind::logLoss;
  } else if (isa<CopcAttr>(op.getKind())) {
    metric.kind = Kind::copc;
  } else {
    return op.emitOpError()
           << "of kind " << op.getKind() << " cannot be interpreted";
  }
  return metric;
}

/// The bucket of a prediction; outside of [0, 1] the nearest one, NaN the
/// first.
static int64_t bucketOf(double prediction, int64_t buckets) {
  double scaled = std::floor(prediction * static_cast<double>(buckets));
  if (!(scaled > 0))
    return 0;
  return scaled >= static_cast<double>(buckets) ? buckets - 1
                                                : static_cast<int64_t>(scaled);
}

void Metric::observe(const Tensor &predictions, const Tensor &labels) {
  predictions.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    for (auto [element, labelElement] :
         llvm::zip_equal(elements, labels.get<T>())) {
      double p = static_cast<double>(element);
      double label = static_cast<double>(labelElement);
      bool isPositive = label > 0.5;
      switch (kind) {
      case Kind::auc:
        ++(isPositive ? positives : negatives)[bucketOf(p, negatives.size())];
        break;
      case Kind::logLoss:
        p = p < 1e-7 ? 1e-7 : p;
        p = p > 1.0 - 1e-7 ? 1.0 - 1e-7 : p;
        sums[0] += -std::log(isPositive ? p : 1.0 - p);
        sums[1] += 1.0;
        break;
      case Kind::copc:
        sums[0] += label;
        sums[1] += p;
        break;
      }
    }
  });
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

double Metric::value() const {
  if (kind == Kind::auc)
    return areaUnderCurve(negatives, positives);
  if (sums[1] == 0)
    return std::numeric_limits<double>::quiet_NaN();
  return sums[0] / sums[1];
}
