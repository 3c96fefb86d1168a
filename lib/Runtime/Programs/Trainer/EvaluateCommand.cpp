//===- EvaluateCommand.cpp - Command that evaluates -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/EventContents.h"
#include "Programs/Trainer/EventFile.h"
#include "Programs/Trainer/ObservedFile.h"
#include "Programs/Trainer/Reports.h"
#include "Programs/Trainer/TrainingSummary.h"
#include "pdlrt/Core/Log.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;

namespace {

class EvaluateCommand final : Command {
public:
  using Command::Command;

  Status run();

private:
  Status openEvents();
  void writeEvents(const ProgramRun &tester, const PassReport &report);

  EventFile events;
};

} // namespace

Status EvaluateCommand::openEvents() {
  if (options.tensorboard.empty() || job->rank() != 0)
    return {};
  return events.open(options.tensorboard, /*resumedSteps=*/std::nullopt);
}

/// Writes the results to the event file. Logs a warning if the values of the
/// model cannot be read.
void EvaluateCommand::writeEvents(const ProgramRun &tester,
                                  const PassReport &report) {
  if (!events.isOpen() || stopping)
    return;
  EventSummary summary;
  summary.addFigures(
      "test", figuresOf(descriptor, report,
                        /*hasLoss=*/tester.program->objective_count > 0));
  addCurves(descriptor, report, summary);
  if (const Status status = addHistograms(*model, summary); !status.ok())
    logWarning(status.message() + "; --tensorboard gets no histograms");
  events.write(trainedSteps, summary);
  events.close();
}

Status EvaluateCommand::run() {
  PDLRT_RETURN_IF_ERROR(createTrainedModel());
  ProgramRun tester;
  PDLRT_RETURN_IF_ERROR(
      openProgram(frozenProgram("evaluate"), options.data, layout(), tester));
  PDLRT_RETURN_IF_ERROR(openEvents());
  ObservedFile observed(descriptor, options);
  StepVisitor visit;
  if (!options.output.empty()) {
    PDLRT_RETURN_IF_ERROR(observed.begin(*tester.program, *tester.engine));
    visit = [&](int64_t samples) { return observed.write(samples); };
  }
  PassReport report;
  PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "evaluate", report, visit));
  PDLRT_RETURN_IF_ERROR(
      requireSamples(*tester.program, report, options.data.files));
  PDLRT_RETURN_IF_ERROR(observed.finish());
  if (stopping)
    printLine("stopped by a signal after the current step");
  printLine(fmt::format(
      "evaluated {} samples in {:.1f} s ({:.0f} samples/s)", report.samples,
      report.seconds,
      report.seconds > 0 ? double(report.samples) / report.seconds : 0.0));
  summarizeEvaluation(descriptor, report, tester.program->objective_count > 0);
  reportBadRows("test ", tester, report);
  reportKeys("test", tester.pulls);
  for (const std::string &line : reportLines(
           "test", descriptor, tester.program->objective_count > 0, report))
    printLine(line);
  writeEvents(tester, report);
  return {};
}

Status pdlrt::runEvaluate(const pdl_descriptor &descriptor,
                          const SessionOptions &options) {
  return EvaluateCommand(descriptor, options).run();
}
