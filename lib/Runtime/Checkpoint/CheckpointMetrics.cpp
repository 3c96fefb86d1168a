//===- CheckpointMetrics.cpp - Registered metrics of checkpoints ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/CheckpointMetrics.h"

#include <chrono>
#include <vector>

using namespace pdlrt;

/// From a millisecond to an hour.
static std::vector<double> secondsBounds() {
  return {0.001, 0.003, 0.01, 0.03, 0.1, 0.3,  1,
          3,     10,    30,   100,  300, 1000, 3600};
}

namespace {

/// The metric families of saves.
struct CheckpointFamilies {
  const CounterFamily count{
      {.name = "pdl_checkpoints_total",
       .unit = "checkpoints",
       .help = "Checkpoints that the first trainer wrote, or parts of "
               "checkpoints that a server wrote, by outcome",
       .labels = {"outcome"}}};
  const HistogramFamily seconds{
      {.name = "pdl_checkpoint_seconds",
       .unit = "seconds",
       .help = "Time from the start of a checkpoint until it was "
               "complete",
       .bounds = secondsBounds()}};
  const HistogramFamily pause{
      {.name = "pdl_checkpoint_pause_seconds",
       .unit = "seconds",
       .help = "Time in which steps had to wait for a checkpoint",
       .bounds = secondsBounds()}};
  const GaugeFamily last{
      {.name = "pdl_checkpoint_last_success_timestamp_seconds",
       .unit = "seconds",
       .help =
           "Time at which the last checkpoint of this process was complete, "
           "since 1970; absent before the first one"}};
};

} // namespace

/// Returns the metric families. They are declared by the first call, not by a
/// static initializer: `main` must check the CPU before other code runs.
static const CheckpointFamilies &checkpointFamilies() {
  return processMetrics<CheckpointFamilies>();
}

void pdlrt::declareCheckpointMetrics() { checkpointFamilies(); }

CheckpointMetrics::CheckpointMetrics()
    : saved(checkpointFamilies().count.add({"ok"})),
      failed(checkpointFamilies().count.add({"failed"})),
      seconds(checkpointFamilies().seconds.add()),
      pause(checkpointFamilies().pause.add()) {}

void CheckpointMetrics::count(const Status &status) {
  ++(status.ok() ? saved : failed);
  if (!status.ok())
    return;
  // All owners of state in this process share it.
  static Gauge &last = *new Gauge(checkpointFamilies().last.add());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  last.set(std::chrono::duration<double>(now).count());
}
