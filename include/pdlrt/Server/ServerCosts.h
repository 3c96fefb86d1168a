//===- ServerCosts.h - Costs of a server's steps ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SERVERCOSTS_H
#define PDLRT_SERVER_SERVERCOSTS_H

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Costs of requests of steps (Exchange and Norm) on a server. Times are in
/// seconds; requests are handled one at a time. Numbers of bytes include the
/// heads of messages. They do not include network overhead, duplicates and
/// heartbeats.
struct ServerCosts {
  /// Number of steps with gradients: rounds in mode sync, pushes in mode async.
  int64_t steps = 0;
  /// Numbers of gradients that arrived after their round was closed. `late`:
  /// they were added to the next round. `dropped`: they were dropped.
  int64_t late = 0, dropped = 0;
  /// Number of steps of workers that were pushed together with steps of other
  /// workers.
  int64_t mergedSteps = 0;
  /// Maximum size of stored values for delay compensation, in bytes: values
  /// that senders have read, and for which they may still push gradients.
  int64_t seenBytes = 0;
  int64_t messages = 0;
  int64_t bytesReceived = 0;
  int64_t bytesSent = 0;
  /// Time for decoding and checking requests.
  double check = 0;
  /// Time for summing gradients, and for checking that they are finite.
  double sum = 0;
  /// Time for inserting rows and applying optimizer rules.
  double apply = 0;
  /// Time for writing responses.
  double response = 0;
  /// The part of these times for which trainers wait: from the request that
  /// completes a round, or that is answered alone, until the responses are
  /// ready.
  double closing = 0;
  /// Times from the first request to the last response: `elapsed` is wall-clock
  /// time, and `cpu` the CPU time of the process.
  double elapsed = 0;
  double cpu = 0;
};

/// Histogram of the steps by which senders are ahead, as `--max-staleness`
/// bounds them. Entry i is the number of responses whose sender was i steps
/// ahead of the slowest sender at the time of the response. The last entry also
/// counts all larger values.
using StalenessCounts = std::vector<int64_t>;

/// Returns a histogram as one line for the user; empty if nothing was counted.
std::string describeStaleness(const StalenessCounts &counts);

/// Returns lines for the user: mean costs per step, then the traffic. Empty if
/// there were no steps.
std::vector<std::string> costLines(const ServerCosts &costs);

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCOSTS_H
