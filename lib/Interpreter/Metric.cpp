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
    : kind(kind.getAbiKind()), parameter(kind.getAbiParameter()),
      sums(pdlabi::metricSumCount(this->kind, parameter)) {}

void Metric::observe(const Tensor &predictions, const Tensor *labels,
                     const Tensor *weights) {
  predictions.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    if constexpr (std::is_floating_point_v<T>)
      pdlabi::observeSamples<T>(kind, parameter,
                                {predictions.dim(0), predictions.dim(1),
                                 elements.data(), labels ? labels->dim(1) : 0,
                                 labels ? labels->get<T>().data() : nullptr,
                                 weights ? weights->get<T>().data() : nullptr},
                                sums.data());
  });
}

double Metric::value() const {
  return pdlabi::metricValue(kind, parameter, sums.data());
}
