//===- TrackedMetric.cpp - Metric whose best value is tracked -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrackedMetric.h"

#include "pdlabi/metrics.h"
#include "pdlabi/names.h"

#include <cmath>
#include <fmt/format.h>
#include <optional>

using namespace pdlrt;
using Goal = TrackedMetric::Goal;

static Goal goalOf(pdl_metric_kind kind) {
  // Without a default, so that the compiler reports a new kind.
  switch (kind) {
  case PDL_METRIC_AUC:
  case PDL_METRIC_GROUPED_AUC:
  case PDL_METRIC_ACCURACY:
  case PDL_METRIC_ACCURACY_AT:
  case PDL_METRIC_RECALL_AT:
  case PDL_METRIC_NDCG_AT:
  case PDL_METRIC_MRR:
    return Goal::Highest;
  case PDL_METRIC_LOG_LOSS:
  case PDL_METRIC_MEAN:
  case PDL_METRIC_MAE:
  case PDL_METRIC_RMSE:
  case PDL_METRIC_BUCKET_ERROR:
    return Goal::Lowest;
  case PDL_METRIC_COPC:
    return Goal::One;
  }
  return Goal::Highest;
}

static TrackedMetric metricAt(const pdl_descriptor &descriptor, int32_t index) {
  const pdl_metric &metric = descriptor.metrics[index];
  return {.index = index,
          .name = std::string("@") + metric.name,
          .goal = goalOf(pdl_metric_kind(metric.kind))};
}

Expected<TrackedMetric> TrackedMetric::find(const pdl_descriptor &descriptor,
                                            const pdl_program &program,
                                            const std::string &name) {
  const std::string plain = name.starts_with('@') ? name.substr(1) : name;
  std::optional<TrackedMetric> first, auc;
  std::string known;
  for (int32_t i = 0; i < descriptor.metric_count; ++i) {
    const pdl_metric &metric = descriptor.metrics[i];
    if (!pdlabi::isMetricOfModel(metric.name))
      continue;
    const TrackedMetric found = metricAt(descriptor, i);
    if (plain == metric.name)
      return found;
    known += (known.empty() ? "" : ", ") + found.name;
    if (!first)
      first = found;
    if (!auc && metric.kind == PDL_METRIC_AUC)
      auc = found;
  }
  if (name.empty() && auc)
    return *auc;
  if (name.empty() && first)
    return *first;
  if (known.empty())
    return Status::invalidArgument(fmt::format(
        "program @{} has no metric; observe one in it", program.name));
  return Status::invalidArgument(
      fmt::format("program @{} has no metric '{}', only {}; name one of them",
                  program.name, name, known));
}

double TrackedMetric::valueIn(const PassReport &report) const {
  return report.metrics[size_t(index)].value;
}

std::string TrackedMetric::describe(const pdl_descriptor &descriptor,
                                    double value) const {
  const int digits = pdlabi::metricDigits(descriptor.metrics[index].kind);
  return fmt::format("{:.{}f}", value, digits);
}

/// Returns a number that is higher for better values.
static double scoreOf(Goal goal, double value) {
  return goal == Goal::Highest  ? value
         : goal == Goal::Lowest ? -value
                                : -std::abs(value - 1);
}

bool TrackedMetric::note(double value, int64_t steps, double minDelta,
                         BestValue &best) const {
  best.metric = name;
  const bool isBetter =
      std::isfinite(value) &&
      (best.steps == 0 ||
       scoreOf(goal, value) > scoreOf(goal, best.value) + minDelta);
  if (!isBetter) {
    ++best.misses;
    return false;
  }
  best = {.metric = name, .value = value, .steps = steps, .misses = 0};
  return true;
}
