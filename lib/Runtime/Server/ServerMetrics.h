//===- ServerMetrics.h - Registered metrics of a server's steps -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_SERVERMETRICS_H
#define LIB_RUNTIME_SERVER_SERVERMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Server/ServerCosts.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Counters of a server, which are metrics of the process. `costs` returns them
/// as ServerCosts for the report. All updates are atomic, so an exporter may
/// read the counters during a step.
struct ServerMetrics {
  /// `owner`: name of the server, such as "server 1".
  explicit ServerMetrics(const std::string &owner);
  ServerCosts costs() const;
  /// Raises `seenBytes`, a maximum, to the number of bytes of values that are
  /// stored now for delay compensation.
  void noteSeenBytes(int64_t bytes);

  Counter steps, late, dropped, mergedSteps;
  Gauge seenBytes;
  Counter messages, bytesReceived, bytesSent;
  RealCounter check, sum, apply, response, closing, elapsed, cpu;
};

/// Adds the histogram of staleness. Its buckets are those of `StalenessCounts`.
Histogram addStaleness();

/// Counts a trainer that was lost.
void countLostTrainer();

/// Declares the metrics of servers, including those that count nothing.
void declareServerMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_SERVERMETRICS_H
