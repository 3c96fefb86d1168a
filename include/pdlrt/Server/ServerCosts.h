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

/// Costs of step requests (Exchange and Norm) on a server. Times are in seconds
/// of the threads that handle requests, one at a time. Bytes are those of whole
/// messages with their heads; network overhead, copies and heartbeats do not
/// count.
struct ServerCosts {
  /// Number of steps with gradients: rounds in mode sync, pushes in mode async.
  int64_t steps = 0;
  /// Numbers of gradients that arrived after their round was closed and counted
  /// in the next one, or did not count.
  int64_t late = 0, dropped = 0;
  /// Number of workers' steps that were pushed together with steps of other
  /// workers.
  int64_t mergedSteps = 0;
  /// Maximum number of bytes of values stored because senders have read them
  /// and may still push gradients computed from them.
  int64_t seenBytes = 0;
  int64_t messages = 0;
  int64_t bytesReceived = 0;
  int64_t bytesSent = 0;
  /// Decoding and checking of requests.
  double check = 0;
  /// Summation of gradients, and the check for NaN and infinity.
  double sum = 0;
  /// Creation of rows and application of optimizer rules.
  double apply = 0;
  /// Building of responses.
  double response = 0;
  /// Part of the times above: from the request that completes a round, or that
  /// is answered by itself, until the responses are ready.
  double closing = 0;
  /// From the first request to the last response: wall-clock time, and CPU time
  /// of the process.
  double elapsed = 0;
  double cpu = 0;
};

/// Histogram of staleness: entry i counts responses that were i steps ahead of
/// the slowest sender when they were given. The last entry counts all larger
/// values too.
using StalenessCounts = std::vector<int64_t>;

/// Returns one line for the user; empty if nothing was counted.
std::string describeStaleness(const StalenessCounts &counts);

/// Returns lines for the user: mean costs per step, then the traffic. Empty if
/// there were no steps.
std::vector<std::string> costLines(const ServerCosts &costs);

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCOSTS_H
