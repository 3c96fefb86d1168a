//===- PassReport.cpp - Losses and metrics of a pass over data ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/PassReport.h"

#include "pdlabi/names.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Kernels/Metrics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <new>

using namespace pdlrt;

static constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

void PassReport::add(const StepResult &step) {
  samples += step.samples;
  ++steps;
  skippedUpdates += step.skipped;
  lossSum += step.lossSum;
  weightSum += step.weightSum;
}

double PassReport::meanLoss() const {
  return weightSum > 0 ? lossSum / weightSum : notANumber;
}

static double valueOf(const pdl_descriptor &descriptor,
                      const ReplicaSet &replicas, int32_t index) {
  const pdl_metric &metric = descriptor.metrics[index];
  std::vector<double> sums(metricSumSize(metric));
  replicas.sumMetric(index, sums);
  return metricValue(metric, sums);
}

Status pdlrt::sumGroups(const pdl_metric &metric,
                        std::span<const pdlabi::GroupedSamples *const> parts,
                        double *sums) {
  try {
    pdlabi::sumGroups(parts, sums);
  } catch (const std::bad_alloc &) {
    size_t samples = 0;
    for (const pdlabi::GroupedSamples *part : parts)
      samples += part->size();
    return Status::outOfMemory(
        std::string("out of memory for the value of metric @") + metric.name +
        ": putting its " + std::to_string(samples) +
        " samples in order needs 8 bytes each; test fewer rows");
  }
  return {};
}

double pdlrt::firstAuc(const pdl_descriptor &descriptor,
                       const ReplicaSet &replicas) {
  for (int32_t i = 0; i < descriptor.metric_count; ++i)
    if (descriptor.metrics[i].kind == PDL_METRIC_AUC)
      return valueOf(descriptor, replicas, i);
  return notANumber;
}

RangeWarnings::RangeWarnings(const pdl_descriptor &descriptor)
    : descriptor(descriptor), warned(descriptor.metric_count) {}

void RangeWarnings::check(int32_t index, std::span<const double> sums) {
  const pdl_metric &metric = descriptor.metrics[index];
  const int64_t outside =
      pdlabi::predictionsOutside(metric.kind, metric.parameter, sums.data());
  if (outside == 0 || warned[index])
    return;
  warned[index] = true;
  if (pdlabi::isMetricOfModel(metric.name))
    logWarning(fmt::format(
        "metric @{} expects probabilities, and {} predictions so far lie "
        "outside of [0, 1]: {}; observe nn.sigmoid of the logits",
        metric.name, outside, pdlabi::meaningOutside(metric.kind)));
  else
    logWarning(fmt::format(
        "{} samples so far have a label outside of [0, 1] under a loss that "
        "takes labels from 0 to 1, such as a cross entropy, which has no least "
        "value there; write labels of -1 and 1 as 0 and 1, such as by "
        "values({{\"-1\" = 0.0, \"1\" = 1.0}}) of the field",
        outside));
}

void RangeWarnings::check(const ReplicaSet &replicas) {
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    const pdl_metric &metric = descriptor.metrics[i];
    if (warned[i] || !pdlabi::expectsProbabilities(metric.kind))
      continue;
    std::vector<double> sums(metricSumSize(metric));
    replicas.sumMetric(i, sums);
    check(i, sums);
  }
}

std::string pdlrt::whyUndefined(const pdl_metric &metric,
                                std::span<const double> sums) {
  const bool isEmpty = std::all_of(sums.begin(), sums.end(),
                                   [](double sum) { return sum == 0; });
  if (isEmpty || !std::isnan(metricValue(metric, sums)))
    return {};
  return pdlabi::whyMetricIsUndefined(metric.kind, metric.parameter,
                                      sums.data());
}

std::vector<std::string> pdlrt::reportLines(const std::string &label,
                                            const pdl_descriptor &descriptor,
                                            bool hasLoss,
                                            const PassReport &report) {
  std::vector<std::string> lines;
  bool hasMetrics = false;
  if (hasLoss)
    lines.push_back(fmt::format("{} loss {:.6f}", label, report.meanLoss()));
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    const pdl_metric &metric = descriptor.metrics[i];
    if (!pdlabi::isMetricOfModel(metric.name))
      continue;
    hasMetrics = true;
    const auto &[value, undefined, remark, buckets] = report.metrics[i];
    const std::string title =
        pdlabi::metricTitle(metric.kind, metric.parameter);
    if (!undefined.empty())
      lines.push_back(fmt::format("{} {} undefined: {} (@{})", label, title,
                                  undefined, metric.name));
    else if (!std::isnan(value))
      lines.push_back(fmt::format("{} {} {:.{}f} (@{}{}{})", label, title,
                                  value, pdlabi::metricDigits(metric.kind),
                                  metric.name, remark.empty() ? "" : "; ",
                                  remark));
  }
  if (lines.empty() && hasMetrics)
    lines.push_back(label + " metrics undefined: nothing of any weight was "
                            "observed");
  return lines;
}
