//===- StepMetrics.h - Registered metrics of a trainer's steps --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What engines count, as metrics of the process. Each class has the fields of
// the costs of the same name in StepCosts.h, which reports are made from, and
// returns them. All updates are atomic, so an exporter may read them during a
// step.
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

/// Metrics of the steps of an engine, or of one worker that steps by itself.
struct StepMetrics {
  explicit StepMetrics(const pdl_program &program);
  /// Returns the counts so far, without those of exchanges.
  StepCosts costs() const;

  Counter steps, samples, skippedUpdates, ids, keys;
  RealCounter read, prepare, prepareInBackground, compute;
};

/// Metrics of the rules and sums that this process applies.
RealCounter addApplySeconds(const pdl_program &program);

/// Metrics of the traffic with one owner of state.
class TrafficMetrics {
public:
  TrafficMetrics(const pdl_program &program, std::string owner);

  /// Records a request with `payload` bytes. Returns its size in bytes.
  int64_t noteRequest(size_t payload);
  /// Records bytes that were sent ahead in parts.
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
  /// Records how many bytes are in flight.
  void noteInFlight(int64_t bytes);

  Counter pushes, pushedSteps;
  RealCounter push, pushWait, pull, pullWait;
  Gauge maxBytes;
};

/// Metrics of dense gradients that were sent before their step was computed.
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

/// Declares the metrics of the steps of trainers, also if nothing is counted.
void declareStepMetrics();

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPMETRICS_H
