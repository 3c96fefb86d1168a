//===- MetricLog.h - File of metrics over time ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_METRICLOG_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_METRICLOG_H

#include "Files/LineFile.h"
#include "Programs/Trainer/EventFile.h"
#include "Programs/Trainer/EventSummary.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace pdlrt {

class Model;

/// Returns an error if the interval is set without a file.
Status checkMetricLogFlags(const SessionOptions &options);

/// Metrics over time: in a file with one JSON object per line (--log-metrics;
/// docs/Reference/Summary.md) and in an event file of TensorBoard
/// (--tensorboard). If a file cannot be written, it is closed with a warning,
/// and the training continues. All functions but `open` do nothing if no file
/// is open. Not thread-safe.
class MetricLog {
public:
  /// Interval of lines about steps: a number of steps, or of seconds if there
  /// is none.
  struct Interval {
    std::optional<int64_t> steps;
    double seconds = 10;
  };
  /// Point of a training that a line describes. `step` counts from the
  /// beginning of the training, and `epoch` from 0.
  struct Point {
    int64_t step = 0, epoch = 0;
  };

  /// Paths of files; empty: none.
  struct Outputs {
    /// File of lines, and folder of event files.
    std::string lines, events;
  };
  /// Opens the files. If the training has done `steps` steps before, keeps the
  /// lines up to them, and appends. Otherwise truncates the file of lines. The
  /// event file is always new.
  Status open(const Outputs &outputs, const Interval &interval, int64_t steps);
  bool isOpen() const { return file.isOpen() || events.isOpen(); }
  bool writesEvents() const { return events.isOpen(); }
  /// Returns true if a line about steps is pending after `step` steps. Takes
  /// little time, so it can be called in each step.
  bool isDue(int64_t step) const {
    if (!isOpen())
      return false;
    return interval.steps ? step >= nextStep : Clock::now() >= nextTime;
  }
  /// Writes a line of kind `kind`: "steps", "epoch" or "test". `figures` are
  /// its other members.
  void add(const char *kind, const Point &point,
           const nlohmann::ordered_json &figures);
  /// Writes values that lines cannot have to the event file.
  void addEvents(int64_t step, const EventSummary &summary) {
    events.write(step, summary);
  }
  /// Writes the distributions of the model's values after `step` steps to the
  /// event file (EventContents.h), once for each number of steps. Call between
  /// steps. Throws std::bad_alloc.
  void addHistograms(int64_t step, const Model &model);
  void close();

private:
  using Clock = std::chrono::steady_clock;
  Status openLines(const std::string &path, int64_t steps);
  void planNext(int64_t step);
  void note(const Status &status);

  LineFile file;
  EventFile events;
  Interval interval;
  int64_t nextStep = 0;
  Clock::time_point nextTime;
  /// Number of steps before the last histograms; -1: there are none.
  int64_t histogramStep = -1;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_METRICLOG_H
