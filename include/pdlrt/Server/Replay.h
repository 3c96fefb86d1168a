//===- Replay.h - The state again, from logs --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_REPLAY_H
#define PDLRT_SERVER_REPLAY_H

#include "pdlabi/abi.h"
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
  /// Where to write the checkpoint that their states form; empty: nowhere.
  /// Needs the logs of all servers.
  std::string output;
  /// What the job began with: a safetensors file, or a checkpoint that it went
  /// on from. Empty: initial values.
  std::string initFrom, checkpoint;
  /// Whether the job took values alone of `initFrom`.
  bool initValuesOnly = false;
  /// Whether they may be of layout 1 (ModelParts.h).
  bool acceptOldLayout = false;
  /// Replays that many requests of each log, and looks at no more of it.
  std::optional<int64_t> requests;
  int threads = 1;
};

/// Applies what the logs hold with the program's own kernels, one server after
/// the other, and compares each state with the one that its server ended with.
/// `report` gets a line for each log. `descriptor` has passed
/// `checkDescriptor`. An error where a log is damaged or of another program,
/// where the start is another one, or where the states differ.
Status replayLogs(const pdl_descriptor &descriptor,
                  const ReplayOptions &options,
                  const std::function<void(const std::string &)> &report);

} // namespace pdlrt

#endif // PDLRT_SERVER_REPLAY_H
