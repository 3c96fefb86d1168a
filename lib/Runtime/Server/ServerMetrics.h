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

/// Counts of a server, as metrics of the process. The fields are those of
/// ServerCosts, which the report is made from. All updates are atomic, so an
/// exporter may read them during a step.
struct ServerMetrics {
  /// `owner`: the name of the server, such as "server 1".
  explicit ServerMetrics(const std::string &owner);
  ServerCosts costs() const;
  /// Records how many bytes of values are stored for delay compensation.
  void noteSeenBytes(int64_t bytes);

  Counter steps, late, dropped, mergedSteps;
  Gauge seenBytes;
  Counter messages, bytesReceived, bytesSent;
  RealCounter check, sum, apply, response, closing, elapsed, cpu;
};

/// Adds the histogram of staleness. `StalenessCounts` are its buckets.
Histogram addStaleness();

/// Counts a trainer that was lost.
void countLostTrainer();

/// Declares the metrics of servers, also if nothing is counted.
void declareServerMetrics();

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_SERVERMETRICS_H
