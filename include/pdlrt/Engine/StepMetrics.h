//===- StepMetrics.h - Registered metrics of a trainer's steps --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The numbers that engines count, as metrics of the process. Each class has the
// same members as the class of costs with a similar name in StepCosts.h, and
// returns the costs for reports. All updates are atomic, so an exporter may
// read the metrics during a step.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_STEPMETRICS_H
#define PDLRT_ENGINE_STEPMETRICS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/State/Placement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Metrics of the steps of an engine, or of one worker that steps
/// independently.
struct StepMetrics {
  explicit StepMetrics(const pdl_program &program);
  /// Returns the costs so far, without the costs of exchanges.
  StepCosts costs() const;

  Counter steps, samples, skippedUpdates, ids, keys;
  RealCounter read, prepare, prepareInBackground, compute;
};

/// Adds a counter for the time in which this process sums gradients and applies
/// optimizer rules.
RealCounter addApplySeconds(const pdl_program &program);

/// Metrics of the traffic with one owner of state.
class TrafficMetrics {
public:
  TrafficMetrics(const pdl_program &program, std::string owner);

  /// Records a request with `payload` bytes. Returns its size in bytes.
  int64_t noteRequest(size_t payload);
  /// Records bytes of gradients that were sent early.
  void noteParts(size_t bytes) { bytesSent += int64_t(bytes); }
  /// Records a response. Returns its size in bytes.
  int64_t noteResponse(size_t payload);

  const std::string &name() const { return owner; }
  ServerTraffic costs() const;

private:
  std::string owner;
  Counter messages, bytesSent, bytesReceived;
};

/// Metrics of pushes and pulls in the background.
struct BackgroundMetrics {
  explicit BackgroundMetrics(const pdl_program &program);
  BackgroundCosts costs() const;
  /// Records that pushes with `bytes` bytes are in flight now, for the maximum.
  void noteInFlight(int64_t bytes);

  Counter pushes, pushedSteps;
  RealCounter push, pushWait, pull, pullWait;
  Gauge maxBytes;
};

/// Metrics of dense gradients that were sent before the end of their step.
struct EarlyMetrics {
  explicit EarlyMetrics(const pdl_program &program);
  EarlyCosts costs() const;

  std::string choice;
  Counter steps, parts, bytes;
  RealCounter background, wait;
};

/// Metrics of the communication with the owners of a placement.
struct ExchangeMetrics {
  ExchangeMetrics(const pdl_program &program, const Placement &placement);
  ExchangeCosts costs() const;

  RealCounter serialize, wait;
  std::vector<TrafficMetrics> servers;
};

/// Declares the metrics of trainers' steps, so that they appear in lists of
/// metrics before the first step.
void declareStepMetrics();

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPMETRICS_H
