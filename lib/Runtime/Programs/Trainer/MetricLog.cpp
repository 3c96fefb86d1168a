//===- MetricLog.cpp - File of metrics over time --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/MetricLog.h"

#include "Programs/Trainer/EventContents.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

using namespace pdlrt;
using Json = nlohmann::ordered_json;

Status pdlrt::checkMetricLogFlags(const SessionOptions &options) {
  const bool setsSeconds =
      options.logMetricsSeconds != SessionOptions().logMetricsSeconds;
  if (!options.logMetrics.empty() || !options.tensorboard.empty() ||
      (!options.logMetricsSteps && !setsSeconds))
    return {};
  return Status::invalidArgument(
      fmt::format("{} sets the interval of --log-metrics and --tensorboard; "
                  "give one of them too",
                  options.logMetricsSteps ? "--log-metrics-steps"
                                          : "--log-metrics-seconds"));
}

/// Returns the number of lines at the beginning of a file that describe at most
/// `steps` steps.
static int64_t linesUpTo(const std::string &path, int64_t steps) {
  std::ifstream file(path);
  int64_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const Json found = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto step = found.is_object() ? found.find("step") : found.end();
    if (step == found.end() || !step->is_number_integer() ||
        step->get<int64_t>() > steps)
      break;
  }
  return lines;
}

Status MetricLog::open(const Outputs &outputs, const Interval &every,
                       int64_t steps) {
  interval = every;
  planNext(steps);
  if (!outputs.lines.empty())
    PDLRT_RETURN_IF_ERROR(openLines(outputs.lines, steps));
  return outputs.events.empty() ? Status() : events.open(outputs.events, steps);
}

Status MetricLog::openLines(const std::string &path, int64_t steps) {
  if (steps == 0)
    return file.open(path);
  // Pipes have no earlier lines, and must not be opened for reading.
  std::error_code error;
  const int64_t lines = std::filesystem::is_regular_file(path, error)
                            ? linesUpTo(path, steps)
                            : 0;
  return file.openAfter(path, lines).status();
}

void MetricLog::planNext(int64_t step) {
  if (interval.steps)
    nextStep = (step / *interval.steps + 1) * *interval.steps;
  nextTime =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                         std::chrono::duration<double>(interval.seconds));
}

void MetricLog::add(const char *kind, const Point &point, const Json &figures) {
  if (!isOpen())
    return;
  if (kind == std::string_view("steps"))
    planNext(point.step);
  if (events.isOpen()) {
    EventSummary summary;
    summary.addFigures(kind, figures);
    events.write(point.step, summary);
  }
  if (!file.isOpen())
    return;
  Json line = {{"time", currentTime()},
               {"kind", kind},
               {"step", point.step},
               {"epoch", point.epoch + 1}};
  line.update(figures);
  note(file.write(line.dump()));
  // Readers follow the file while the training runs.
  if (file.isOpen())
    note(file.flush());
}

void MetricLog::addHistograms(int64_t step, const Model &model) {
  if (!events.isOpen() || histogramStep == step)
    return;
  histogramStep = step;
  EventSummary summary;
  if (const Status status = pdlrt::addHistograms(model, summary); !status.ok())
    logWarningOnce(status.message() + "; --tensorboard gets no histograms");
  events.write(step, summary);
}

void MetricLog::close() {
  events.close();
  if (file.isOpen())
    note(file.close());
}

void MetricLog::note(const Status &status) {
  if (status.ok())
    return;
  logWarning(status.message() +
             "; the training continues without --log-metrics; to write it "
             "again, correct the cause and resume from a checkpoint");
  // Ignores a further error: the first one was just logged.
  static_cast<void>(file.close());
}
