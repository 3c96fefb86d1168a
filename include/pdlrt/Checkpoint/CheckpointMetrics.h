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

/// Checkpoints of this process, as metrics of the process. Thread-safe.
struct CheckpointMetrics {
  CheckpointMetrics();

  /// Counts a checkpoint that has ended with that status.
  void count(const Status &status) { ++(status.ok() ? saved : failed); }

  Counter saved, failed;
  /// Seconds from the start of a checkpoint until it was complete, and seconds
  /// in which steps had to wait for it.
  Histogram seconds, pause;
};

/// Declares the metrics of checkpoints, also if nothing is counted.
void declareCheckpointMetrics();

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_CHECKPOINTMETRICS_H
