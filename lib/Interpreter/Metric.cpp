//===- Metric.cpp - Metrics ----------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/metrics.h"
#include "pdlc/Interpreter/State.h"

using namespace pdlc;
using namespace pdlc::interpreter;

Metric::Metric(MetricAttrInterface kind)
    : kind(kind.getAbiKind()), buckets(kind.getBuckets()),
      sums(pdlabi::metricSumCount(this->kind, buckets)) {}

void Metric::observe(const Tensor &predictions, const Tensor *labels,
                     const Tensor *weights) {
  predictions.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    for (size_t i = 0; i < elements.size(); ++i)
      pdlabi::observeSample(kind, buckets, static_cast<double>(elements[i]),
                            labels ? double(labels->get<T>()[i]) : 0.0,
                            weights ? double(weights->get<T>()[i]) : 1.0,
                            sums.data());
  });
}

double Metric::value() const {
  return pdlabi::metricValue(kind, buckets, sums.data());
}
