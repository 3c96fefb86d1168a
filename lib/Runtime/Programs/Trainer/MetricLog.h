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
#include "pdlrt/Core/Status.h"

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace pdlrt {

/// File with metrics over time, one JSON object per line (--log-metrics;
/// docs/Reference/Summary.md). If the file cannot be written, it is closed with
/// a warning, and the training continues. All functions but `open` do nothing
/// if no file is open. Not thread-safe.
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

  /// Opens the file. If the training has done `steps` steps before, keeps the
  /// lines up to them, and appends. Otherwise truncates the file.
  Status open(const std::string &path, const Interval &interval, int64_t steps);
  bool isOpen() const { return file.isOpen(); }
  /// Returns true if a line about steps is pending after `step` steps. Takes
  /// little time, so it can be called in each step.
  bool isDue(int64_t step) const {
    if (!file.isOpen())
      return false;
    return interval.steps ? step >= nextStep : Clock::now() >= nextTime;
  }
  /// Writes a line of kind `kind`: "steps", "epoch" or "test". `figures` are
  /// its other members.
  void add(const char *kind, const Point &point,
           const nlohmann::ordered_json &figures);
  void close();

private:
  using Clock = std::chrono::steady_clock;
  void planNext(int64_t step);
  void note(const Status &status);

  LineFile file;
  Interval interval;
  int64_t nextStep = 0;
  Clock::time_point nextTime;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_METRICLOG_H
