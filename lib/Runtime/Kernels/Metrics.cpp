//===- Metrics.cpp - Sums of a program's metrics --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Kernels/Metrics.h"

#include "pdlabi/metrics.h"

using namespace pdlrt;

int64_t pdlrt::metricSumSize(const pdl_metric &metric) {
  return pdlabi::metricSumCount(metric.kind, metric.parameter);
}

void pdlrt::addMetric(std::span<const double> from, std::span<double> into) {
  for (size_t i = 0; i < into.size(); ++i)
    into[i] += from[i];
}

double pdlrt::metricValue(const pdl_metric &metric,
                          std::span<const double> sums) {
  return pdlabi::metricValue(metric.kind, metric.parameter, sums.data());
}

MetricSums::MetricSums(const pdl_descriptor &descriptor, int64_t replicas) {
  int64_t size = 0;
  for (int32_t m = 0; m < descriptor.metric_count; ++m)
    size += metricSumSize(descriptor.metrics[m]);
  sums.resize(replicas * size);
}
