//===- Report.cpp - Figures of a pass over data ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Report.h"

#include "pdlabi/metrics.h"
#include "pdlrt/Kernels/Metrics.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>

using namespace pdlrt;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void Report::add(const StepResult &step) {
  samples += step.samples;
  ++steps;
  skippedUpdates += step.skipped;
  lossSum += step.lossSum;
  weightSum += step.weightSum;
}

double Report::meanLoss() const {
  return weightSum > 0 ? lossSum / weightSum : notANumber;
}

static double valueOf(const pdl_descriptor &descriptor,
                      const ReplicaSet &replicas, int32_t index) {
  const pdl_metric &metric = descriptor.metrics[index];
  std::vector<double> sums(metricSumSize(metric));
  replicas.sumMetric(index, sums);
  return metricValue(metric, sums);
}

double pdlrt::firstAuc(const pdl_descriptor &descriptor,
                       const ReplicaSet &replicas) {
  for (int32_t i = 0; i < descriptor.metric_count; ++i)
    if (descriptor.metrics[i].kind == PDL_METRIC_AUC)
      return valueOf(descriptor, replicas, i);
  return notANumber;
}

std::vector<std::string> pdlrt::reportLines(const std::string &label,
                                            const pdl_descriptor &descriptor,
                                            bool hasLoss,
                                            const Report &report) {
  std::vector<std::string> lines;
  if (hasLoss)
    lines.push_back(fmt::format("{} loss {:.6f}", label, report.meanLoss()));
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    const pdl_metric &metric = descriptor.metrics[i];
    if (std::isnan(report.metrics[i]))
      continue;
    lines.push_back(
        fmt::format("{} {} {:.{}f} (@{})", label,
                    pdlabi::metricTitle(metric.kind), report.metrics[i],
                    metric.kind == PDL_METRIC_MEAN ? 6 : 4, metric.name));
  }
  return lines;
}
