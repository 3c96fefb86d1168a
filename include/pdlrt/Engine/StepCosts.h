//===- StepCosts.h - What a trainer's steps cost ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_STEPCOSTS_H
#define PDLRT_ENGINE_STEPCOSTS_H

#include "pdlrt/State/Placement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// What went between this trainer and one owner of state in the steps of a
/// program. Bytes are those of whole messages, with their heads; what the
/// network adds, repetitions and beats are not counted.
struct ServerTraffic {
  /// The owner's: "server 1".
  std::string name;
  /// Requests; each has one answer.
  int64_t messages = 0;
  int64_t bytesSent = 0;
  int64_t bytesReceived = 0;

  /// A request with that many bytes of payload leaves; returns its bytes.
  int64_t noteRequest(size_t payload);
  /// Its answer has come; returns its bytes.
  int64_t noteAnswer(size_t payload);
};

/// Of each owner of a placement, with nothing sent.
std::vector<ServerTraffic> trafficOf(const Placement &placement);

/// Pushes and pulls that travel beside steps, in seconds summed over workers.
struct BesideCosts {
  int64_t pushes = 0;
  /// Steps whose gradients they brought.
  int64_t pushedSteps = 0;
  /// In which some push was under way, and in which its worker waited for one.
  double push = 0, pushWait = 0;
  /// The same of pulls.
  double pull = 0, pullWait = 0;
  /// The most bytes of a worker's pushes that were under way at once.
  int64_t mostBytes = 0;

  void add(const BesideCosts &other);
};

/// What it took to talk to servers.
struct ExchangeCosts {
  /// Seconds in which messages were put together and taken apart.
  double serialise = 0;
  /// Seconds from sending until the last server had answered.
  double wait = 0;
  /// By server; empty where the state is in this process.
  std::vector<ServerTraffic> servers;
  BesideCosts beside;

  /// Adds what another worker sent.
  void add(const ExchangeCosts &other);
};

/// What steps cost, in seconds of the thread that drives them, since the engine
/// was made. The parts follow each other but where it says otherwise. What
/// begins a pass (its first batch and exchange) counts too, though it is no
/// step.
struct StepCosts {
  int64_t steps = 0;
  /// Of lookups, over the workers of this process: ids, and distinct keys of a
  /// worker's batch. Not where workers talk by themselves.
  int64_t ids = 0, keys = 0;
  /// Reading, or waiting for the reader.
  double read = 0;
  /// Ids, distinct keys, rows.
  double prepare = 0;
  /// The same of the next batch, beside `compute` and none of the parts.
  double prepareBeside = 0;
  /// Losses, gradients, and their sums over the workers of this process.
  double compute = 0;
  /// Sums over groups and the rule, where the state is in this process.
  double apply = 0;
  /// Where workers talk by themselves: times are means over them.
  ExchangeCosts exchange;
};

/// Lines for the user: means of a step, then the traffic with each server.
/// `seconds` and `cpuSeconds` (of all threads): what the passes took.
std::vector<std::string> costLines(const StepCosts &costs, double seconds,
                                   double cpuSeconds);

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPCOSTS_H
