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
                     const Tensor *weights, const Tensor *groups) {
  predictions.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    if constexpr (std::is_floating_point_v<T>) {
      const pdlabi::Observations<T> all = {
          predictions.dim(0),
          predictions.dim(1),
          elements.data(),
          labels ? labels->dim(1) : 0,
          labels ? labels->get<T>().data() : nullptr,
          weights ? weights->get<T>().data() : nullptr};
      if (groups)
        pdlabi::observeGroups<T>(all, groups->get<int64_t>().data(), samples,
                                 sums.data());
      else
        pdlabi::observeSamples<T>(kind, parameter, all, sums.data());
    }
  });
}

double Metric::value() const {
  std::vector<double> all = sums;
  if (pdlabi::observesGroups(kind))
    pdlabi::sumGroups(samples, all.data());
  return pdlabi::metricValue(kind, parameter, all.data());
}
