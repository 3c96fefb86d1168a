//===- Replay.h - Recomputes a state from logs ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_REPLAY_H
#define PDLRT_SERVER_REPLAY_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

struct ReplayOptions {
  /// Logs of servers of one job, in any order.
  std::vector<std::string> logs;
  /// Path of the checkpoint to write from the states of all servers; empty:
  /// none. Requires the logs of all servers.
  std::string output;
  /// Initial state of the job: the file of --init-from, or the checkpoint from
  /// which the job has resumed. Empty if it started with initial values.
  std::string initFrom, checkpoint;
  /// True if the job has loaded only values from `initFrom`.
  bool initValuesOnly = false;
  /// True if `initFrom` or `checkpoint` may have layout 1 (ModelParts.h).
  bool acceptOldLayout = false;
  /// Number of requests of each log to replay; further ones are ignored.
  /// Nullopt: all.
  std::optional<int64_t> requests;
  int threads = 1;
};

/// Applies the logged requests with the kernels of the program, one server
/// after the other, and writes `output`. Compares each final state with the
/// digest at the end of its log, unless `requests` ends the replay before.
/// Calls `report` with a line for each log and for `output`. `descriptor` must
/// have passed `checkDescriptor`. Returns an error if the part of a log that is
/// read is damaged or of another program, or if the initial or final state
/// differs from the log.
Status replayLogs(const pdl_descriptor &descriptor,
                  const ReplayOptions &options,
                  const std::function<void(const std::string &)> &report);

} // namespace pdlrt

#endif // PDLRT_SERVER_REPLAY_H
