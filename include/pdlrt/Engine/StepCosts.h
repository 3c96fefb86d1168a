//===- StepCosts.h - Time and traffic of a trainer's steps ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_STEPCOSTS_H
#define PDLRT_ENGINE_STEPCOSTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Traffic between this trainer and one owner of state in the steps of a
/// program. Bytes are those of whole messages with their headers, including
/// content that was sent ahead in parts. Network overhead, headers of parts,
/// retries and heartbeats are not counted.
struct ServerTraffic {
  /// The owner's name: "server 1".
  std::string name;
  /// Number of requests; each has one response.
  int64_t messages = 0;
  int64_t bytesSent = 0;
  int64_t bytesReceived = 0;
};

/// Pushes and pulls in the background; seconds are summed over workers.
struct BackgroundCosts {
  int64_t pushes = 0;
  /// Number of steps whose gradients they contained.
  int64_t pushedSteps = 0;
  /// Time with a push in flight, and time that workers waited for one.
  double push = 0, pushWait = 0;
  /// Time with a pull in flight, and time that workers waited for one.
  double pull = 0, pullWait = 0;
  /// Maximum number of bytes of a worker's pushes in flight at the same time.
  int64_t maxBytes = 0;

  void add(const BackgroundCosts &other);
};

/// Dense gradients that were sent before their step was computed.
struct EarlyCosts {
  /// The decision and its reason; empty if gradients cannot be sent early.
  std::string choice;
  /// Number of steps with early gradients, of their parts and of their bytes,
  /// without headers.
  int64_t steps = 0, parts = 0, bytes = 0;
  /// Seconds of these steps: with parts in flight during computation, and spent
  /// waiting for responses afterwards.
  double background = 0, wait = 0;
};

/// Cost of communication with servers.
struct ExchangeCosts {
  /// Seconds for writing and parsing messages.
  double serialize = 0;
  /// Seconds from sending until the last server had responded.
  double wait = 0;
  /// Indexed by server; empty if the state is in this process.
  std::vector<ServerTraffic> servers;
  BackgroundCosts background;
  /// Used if a trainer's workers send together.
  EarlyCosts early;

  /// Adds the costs of another worker.
  void add(const ExchangeCosts &other);
};

/// Costs of steps since the engine was made, in seconds of the thread that
/// drives them. Unless noted otherwise, the parts do not overlap. The start of
/// a pass (its first batch and exchange) is included, although it is not a
/// step.
struct StepCosts {
  int64_t steps = 0;
  /// Lookups of this process's workers: ids, and distinct keys of a worker's
  /// batch. Not counted if workers communicate separately.
  int64_t ids = 0, keys = 0;
  /// Reading, or waiting for the reader.
  double read = 0;
  /// Ids, distinct keys, rows.
  double prepare = 0;
  /// Ids, distinct keys and rows of the next batch; overlaps with `compute`.
  double prepareInBackground = 0;
  /// Losses, gradients, and their sums over the workers of this process.
  double compute = 0;
  /// Sums over groups and the optimizer rule, if the state is in this process.
  double apply = 0;
  /// If workers communicate separately, times are means over them.
  ExchangeCosts exchange;
};

/// Returns lines for the user: means per step, then the traffic with each
/// server. `seconds` and `cpuSeconds` (of all threads): duration of the passes.
std::vector<std::string> costLines(const StepCosts &costs, double seconds,
                                   double cpuSeconds);

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPCOSTS_H
