//===- CheckpointMetrics.h - Registered metrics of checkpoints --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_CHECKPOINTMETRICS_H
#define PDLRT_CHECKPOINT_CHECKPOINTMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/Status.h"

namespace pdlrt {

/// Metrics of this process about the checkpoints that it saves. Thread-safe.
struct CheckpointMetrics {
  CheckpointMetrics();

  /// Counts a finished save as saved or failed, and records the time of a
  /// success.
  void count(const Status &status);

  Counter saved, failed;
  /// `seconds`: time from the start of a checkpoint until it was complete.
  /// `pause`: time for which steps had to wait for a checkpoint, in seconds.
  Histogram seconds, pause;
};

/// Declares the metrics of checkpoints, so that they appear in lists of metrics
/// before the first checkpoint.
void declareCheckpointMetrics();

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_CHECKPOINTMETRICS_H
