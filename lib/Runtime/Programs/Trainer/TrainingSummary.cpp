//===- TrainingSummary.cpp - Members of a summary -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingSummary.h"

#include "pdlabi/names.h"
#include "pdlrt/Files/RunSummary.h"

#include <nlohmann/json.hpp>

using namespace pdlrt;
using Json = nlohmann::ordered_json;

Json pdlrt::figuresOf(const pdl_descriptor &descriptor,
                      const PassReport &report, bool hasLoss) {
  // The library writes numbers that are not finite as null.
  Json figures = {{"samples", report.samples}, {"bad_rows", report.badRows}};
  if (hasLoss)
    figures["loss"] = report.meanLoss();
  Json metrics = Json::object();
  for (size_t i = 0; i < report.metrics.size(); ++i)
    if (pdlabi::isMetricOfModel(descriptor.metrics[i].name))
      metrics[descriptor.metrics[i].name] = report.metrics[i].value;
  figures["metrics"] = std::move(metrics);
  return figures;
}

RunCounts::RunCounts(const TrainingState &state)
    : steps(state.totalSteps - state.resumedSteps),
      // If no step was done, `totalSamples` does not include the samples of the
      // epoch in which the checkpoint was saved, but `resumedSamples` does.
      samples(steps > 0 ? state.totalSamples - state.resumedSamples : 0),
      ownSteps(steps - state.earlierSteps),
      // All steps have the same number of samples, except the last ones.
      ownSamples(steps > 0 ? double(samples) * double(ownSteps) / double(steps)
                           : 0) {}

void pdlrt::summarizeCounts(const TrainingState &state) {
  const RunCounts counts(state);
  processSummary().set(
      "training",
      {{"steps", counts.steps},
       {"samples", counts.samples},
       {"total_steps", state.totalSteps},
       {"resumed_steps", state.resumedSteps},
       {"seconds", state.jobSeconds},
       {"cpu_seconds", state.cpuSeconds},
       {"samples_per_second",
        state.jobSeconds > 0 ? counts.ownSamples / state.jobSeconds : 0.0}});
}

void pdlrt::summarizeEpoch(const pdl_descriptor &descriptor,
                           const TrainingState &state, int64_t epoch,
                           const PassReport &trained, const PassReport &tested,
                           bool testHasLoss) {
  RunSummary &summary = processSummary();
  if (!summary.isOpen())
    return;
  Json entry = {{"epoch", epoch + 1},
                {"has_ended", state.position.hasEnded},
                {"steps", trained.steps},
                {"seconds", trained.seconds},
                {"train", figuresOf(descriptor, trained, /*hasLoss=*/true)}};
  if (tested.samples > 0)
    entry["test"] = figuresOf(descriptor, tested, testHasLoss);
  summary.append("epochs", std::move(entry));
  summarizeCounts(state);
  summary.write();
}

void pdlrt::summarizeTest(const pdl_descriptor &descriptor, int64_t epoch,
                          int64_t steps, const PassReport &tested,
                          bool hasLoss) {
  RunSummary &summary = processSummary();
  if (!summary.isOpen())
    return;
  summary.append("tests", {{"steps", steps},
                           {"epoch", epoch + 1},
                           {"test", figuresOf(descriptor, tested, hasLoss)}});
  summary.write();
}

void pdlrt::summarizeCheckpoint(const std::string &path, int64_t steps) {
  processSummary().append("checkpoints", {{"path", path}, {"steps", steps}});
  processSummary().write();
}

/// Returns the throughput, or 0 if no time has passed.
static double perSecond(int64_t samples, double seconds) {
  return seconds > 0 ? double(samples) / seconds : 0.0;
}

void pdlrt::summarizeEvaluation(const pdl_descriptor &descriptor,
                                const PassReport &report, bool hasLoss) {
  Json figures = figuresOf(descriptor, report, hasLoss);
  figures["seconds"] = report.seconds;
  figures["samples_per_second"] = perSecond(report.samples, report.seconds);
  processSummary().set("evaluation", std::move(figures));
}

void pdlrt::summarizePrediction(const PassReport &report, double seconds,
                                const PullCounts &ids) {
  processSummary().set(
      "prediction",
      {{"samples", report.samples},
       {"bad_rows", report.badRows},
       {"ids", ids.ids},
       {"unknown_ids", ids.unknownInitial + ids.unknownZero},
       {"seconds", seconds},
       {"samples_per_second", perSecond(report.samples, seconds)}});
}

Status pdlrt::summarizeTables(const Model &model) {
  if (!processSummary().isOpen())
    return {};
  const pdl_descriptor &descriptor = model.descriptor();
  Json tables = Json::array();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (model.table(i)) {
      const Expected<TableSize> size = model.tableSize(i);
      if (!size)
        return size.status();
      tables.push_back({{"name", descriptor.symbols[i].name},
                        {"rows", size->rows},
                        {"bytes", size->bytes}});
    }
  processSummary().set("tables", std::move(tables));
  return {};
}
