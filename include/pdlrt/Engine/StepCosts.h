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

/// Traffic between this trainer and one owner of state (a server) in the steps
/// of a program. Numbers of bytes include the headers of messages, and
/// gradients that were sent early. They do not include network overhead,
/// headers of early parts, retries and heartbeats.
struct ServerTraffic {
  /// The owner's name: "server 1".
  std::string name;
  /// Number of requests; each has one response.
  int64_t messages = 0;
  int64_t bytesSent = 0;
  int64_t bytesReceived = 0;
};

/// Pushes and pulls in the background. Times are in seconds, summed over
/// workers.
struct BackgroundCosts {
  int64_t pushes = 0;
  /// Number of steps whose gradients the pushes contained.
  int64_t pushedSteps = 0;
  /// `push`: time during which a push was in flight. `pushWait`: time that
  /// workers waited for pushes.
  double push = 0, pushWait = 0;
  /// The same two times for pulls.
  double pull = 0, pullWait = 0;
  /// Maximum size of the pushes of one worker that were in flight at the same
  /// time, in bytes.
  int64_t maxBytes = 0;

  void add(const BackgroundCosts &other);
};

/// Dense gradients that were sent before the end of their step (EarlySender.h).
struct EarlyCosts {
  /// The decision whether to send early, and its reason. Empty if the program
  /// has no EarlySender.
  std::string choice;
  /// `steps`: number of steps with early gradients. `parts`, `bytes`: number
  /// and total size of their parts, without headers.
  int64_t steps = 0, parts = 0, bytes = 0;
  /// Times of these steps, in seconds. `background`: time of the computation
  /// during which parts were in flight. `wait`: time spent waiting for
  /// responses afterwards.
  double background = 0, wait = 0;
};

/// Costs of the communication with servers.
struct ExchangeCosts {
  /// Seconds for writing and parsing messages.
  double serialize = 0;
  /// Seconds from sending until the last server had responded.
  double wait = 0;
  /// Indexed by server; empty if the state is in this process.
  std::vector<ServerTraffic> servers;
  BackgroundCosts background;
  /// Used if the workers of a trainer step together.
  EarlyCosts early;

  /// Adds the costs of another worker to these.
  void add(const ExchangeCosts &other);
};

/// Costs of all steps since the engine was created. Times are in seconds,
/// measured on the thread that drives the steps; if workers step independently,
/// means over their threads. Unless noted otherwise, the times do not overlap.
/// The start of a pass, with its first batch and exchange, is included although
/// it is not a step.
struct StepCosts {
  int64_t steps = 0;
  /// Numbers of ids, and of distinct keys per batch, that the workers of this
  /// process have looked up. Not counted if workers communicate separately.
  int64_t ids = 0, keys = 0;
  /// Time for reading data, or for waiting for the reader.
  double read = 0;
  /// Time of stage prepare: reading ids, deduplicating keys, finding rows.
  double prepare = 0;
  /// Time of stage prepare for the next batch; overlaps with `compute`.
  double prepareInBackground = 0;
  /// Time for losses, gradients, and their sums over the workers of this
  /// process.
  double compute = 0;
  /// Time for sums over groups and for the optimizer rules, if the state is in
  /// this process.
  double apply = 0;
  /// Costs of exchanges. Background costs are sums over the workers.
  ExchangeCosts exchange;
};

/// Returns lines for the user: means per step, then the traffic with each
/// server. `seconds` is the duration of the passes, and `cpuSeconds` their CPU
/// time in all threads.
std::vector<std::string> costLines(const StepCosts &costs, double seconds,
                                   double cpuSeconds);

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPCOSTS_H
