//===- TrainingReport.cpp - Report of a training --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingReport.h"

#include "Programs/Trainer/Reports.h"
#include "Programs/Trainer/TrainingSummary.h"
#include "pdlrt/Engine/StepCosts.h"

#include <fmt/format.h>

using namespace pdlrt;

static std::string joinLines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : ", ") + line;
  return text;
}

std::string pdlrt::epochLine(int64_t epoch, bool hasEnded, int64_t steps,
                             const std::vector<std::string> &lines) {
  const std::string name = fmt::format(
      "epoch {}{}", epoch + 1,
      hasEnded ? std::string() : fmt::format(" ({} steps, not ended)", steps));
  if (!lines.empty())
    return name + ": " + joinLines(lines);
  return hasEnded ? fmt::format("{}: ended after {} steps", name, steps) : name;
}

std::string pdlrt::describeNothingLeft(const SessionOptions &options,
                                       const TrainingState &state) {
  const bool endsBySteps = options.steps && state.totalSteps >= *options.steps;
  const char *flag = endsBySteps ? "--steps" : "--epochs";
  const int64_t given =
      endsBySteps ? *options.steps : options.epochs.value_or(1);
  return fmt::format("nothing left to train: the checkpoint in {} already has "
                     "all {} asked for ({} {}{}, {} steps trained); {} counts "
                     "from the beginning of the training, so give more than {}",
                     options.checkpoint, endsBySteps ? "steps" : "epochs", flag,
                     given, endsBySteps || options.epochs ? "" : " by default",
                     state.totalSteps, flag, given);
}

/// Prints the number of steps, and why the training has ended early or done no
/// step.
static void reportSteps(const TrainingResult &result) {
  const TrainingState &state = result.state;
  if (!state.dataFailure.ok())
    printLine("stopped after the current step by data that cannot be read");
  else if (result.hasGivenUp)
    printLine("stopped because checkpoints cannot be saved");
  else if (result.hasStopped)
    printLine("stopped by a signal after the current step");
  else if (!result.stoppedEarly.empty())
    printLine(result.stoppedEarly);
  if (!result.nothingLeft.empty())
    printLine(result.nothingLeft);
  const RunCounts counts(state);
  if (state.resumedSteps > 0)
    printLine(fmt::format("resumed after {} steps, {} samples",
                          state.resumedSteps, state.resumedSamples));
  printLine(fmt::format(
      "trained {} steps, {} samples{} in {:.1f} s ({:.0f} samples/s)",
      counts.steps, counts.samples,
      state.earlierSteps > 0
          ? fmt::format(", {} steps since it came back", counts.ownSteps)
          : std::string(),
      state.jobSeconds,
      state.jobSeconds > 0 ? counts.ownSamples / state.jobSeconds : 0.0));
  for (const std::string &line : costLines(result.trainer.engine->costs(),
                                           state.seconds, state.cpuSeconds))
    printLine(line);
  if (state.skippedUpdates)
    printLine(fmt::format("updates skipped for a zero sum of weights {}",
                          state.skippedUpdates));
}

/// Prints the sizes of tables and the memory of devices.
static Status reportState(const pdl_descriptor &descriptor,
                          const TrainingResult &result) {
  const Model &model = result.model;
  PDLRT_RETURN_IF_ERROR(summarizeTables(model));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (model.table(i)) {
      const Expected<TableSize> size = model.tableSize(i);
      if (!size)
        return size.status();
      printLine(fmt::format(
          "table @{} keys {}, {:.1f} MiB{}", descriptor.symbols[i].name,
          size->rows, double(size->bytes) / (1 << 20),
          model.placesTablesOnDevice() ? " on the device" : ""));
    }
  if (model.evictedRows() > 0)
    printLine(fmt::format("rows {} {}",
                          model.spillsRows() ? "spilled" : "evicted",
                          model.evictedRows()));
  for (const Device *device : result.devices)
    printLine(fmt::format("device memory {:.1f} MiB at most on {}",
                          double(device->maxBytes()) / (1 << 20),
                          device->describe()));
  return {};
}

Status pdlrt::reportTraining(const pdl_descriptor &descriptor,
                             const TrainingResult &result) {
  reportSteps(result);
  PDLRT_RETURN_IF_ERROR(reportState(descriptor, result));
  const PassReport &trained = result.trained, &tested = result.tested;
  if (!result.printsFigures) {
    reportBadRows("train ", result.trainer, trained, /*printsFigures=*/false);
    if (tested.samples > 0)
      reportBadRows("test ", result.tester, tested, /*printsFigures=*/false);
    return {};
  }
  if (trained.samples > 0) {
    reportBadRows("train ", result.trainer, trained);
    for (const std::string &line :
         reportLines("train", descriptor, true, trained))
      printLine(line);
  }
  if (tested.samples > 0) {
    const ProgramRun &tester = result.tester;
    reportBadRows("test ", tester, tested);
    reportKeys("test", tester.pulls);
    for (const std::string &line : reportLines(
             "test", descriptor, tester.program->objective_count > 0, tested))
      printLine(line);
  }
  return {};
}
