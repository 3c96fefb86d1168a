//===- ServerCosts.h - What a server's steps cost ---------------*- C++ -*-===//
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

/// What the requests of steps (Exchange and Norm) have cost a server. Times are
/// seconds of the threads that worked on requests, one at a time. Bytes are
/// those of whole messages, with their heads; what the network adds, copies and
/// beats are not counted.
struct ServerCosts {
  /// Steps with a contribution: rounds in mode sync, pushes in mode async.
  int64_t steps = 0;
  /// Gradients that came when their round was closed: those that counted in the
  /// next one, and those that did not count.
  int64_t late = 0, dropped = 0;
  /// Steps of workers that came with those of others in one push.
  int64_t mergedSteps = 0;
  /// The most bytes of values that were kept because senders have seen them,
  /// and may still push gradients that were computed on them.
  int64_t seenBytes = 0;
  int64_t messages = 0;
  int64_t bytesReceived = 0;
  int64_t bytesSent = 0;
  /// Requests taken apart and checked.
  double check = 0;
  /// Gradients summed, and tested for what is not finite.
  double sum = 0;
  /// New rows made, rules applied.
  double apply = 0;
  /// Answers put together.
  double answer = 0;
  /// Part of the above: from the request that completed a round, or asked for
  /// an answer of its own, until the answers were there.
  double closing = 0;
  /// From the first request to the last answer, by the clock and as CPU time of
  /// the process.
  double elapsed = 0;
  double cpu = 0;
};

/// How often an answer was that many steps ahead of the slowest sender when it
/// was given: the last entry counts all that were more.
using StalenessCounts = std::vector<int64_t>;

/// One line for the user; empty where nothing was counted.
std::string describeStaleness(const StalenessCounts &counts);

/// Lines for the user: means of a step, then the traffic. None without steps.
std::vector<std::string> costLines(const ServerCosts &costs);

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERCOSTS_H
