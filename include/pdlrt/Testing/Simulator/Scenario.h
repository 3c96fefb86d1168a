//===- Scenario.h - Scenarios generated from seeds --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_SCENARIO_H
#define PDLRT_TESTING_SIMULATOR_SCENARIO_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Server/RoundPolicy.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Testing/Simulator/FaultyTransport.h"
#include "pdlrt/Testing/Simulator/Toy.h"
#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// A crash of a trainer.
struct ToyCrash {
  uint32_t trainer = 0;
  ClockTime when{0};
  /// Time from the crash to the restart of the trainer; negative: no restart.
  ClockTime back{0};
  /// True if the trainer has sent a Leave message with its failure, which may
  /// arrive after the restart.
  bool saysSo = false;
};

/// A period of time in which a trainer is disconnected: no message reaches or
/// leaves it.
struct ToyCut {
  uint32_t trainer = 0;
  ClockTime when{0};
  ClockTime length{0};
};

/// The start of a second process of a trainer, whether or not the first one is
/// alive.
struct ToySecond {
  uint32_t trainer = 0;
  ClockTime when{0};
};

/// The mode of a job, which determines its rounds and waits.
enum class ToyMode {
  /// Steps are rounds of all trainers.
  Sync,
  /// Workers send their own steps.
  Async,
  /// Like Async, with a limit for the number of steps that a worker may be
  /// ahead of the slowest.
  BoundedStaleness,
  /// Steps are rounds of the first trainers to arrive.
  Quorum,
  /// Each trainer has a copy of the state, and sends its changes.
  Geo,
};

/// Returns the mode with this name, or nullopt if there is none.
std::optional<ToyMode> toyModeOf(std::string_view name);
/// Returns the names of all modes.
std::vector<std::string> toyModeNames();

/// The configuration of one simulated job and its network faults.
struct Scenario {
  uint64_t seed = 0;
  ToyMode mode = ToyMode::Sync;
  /// `staleness`: bound for BoundedStaleness. `quorum`: number of trainers for
  /// Quorum.
  int64_t staleness = 0;
  uint32_t quorum = 1;
  LateGradients late = LateGradients::Count;
  uint32_t servers = 1;
  uint32_t trainers = 1;
  /// Number of workers of each trainer that send their own steps. 0: trainers
  /// send steps.
  uint32_t workers = 0;
  /// Kinds of the requests of worker 0, in order.
  std::vector<MessageKind> program;
  /// Kinds of the requests of each other worker, in order.
  std::vector<MessageKind> workerProgram;
  ServerCoreOptions core;
  FaultRates faults;
  std::vector<ToyCrash> crashes;
  std::vector<ToyCut> cuts;
  std::vector<ToySecond> seconds;
  /// Rank of a trainer that fails with an error message at step `failingStep`;
  /// -1: none.
  int failingTrainer = -1;
  uint64_t failingStep = 0;
  /// True if an additional sender sends requests with an outdated version of
  /// the map of owners, and random bytes.
  bool hasGhost = false;

  /// Returns true if the job must succeed in spite of its faults.
  bool succeeds() const;
  /// Returns the ranks of the trainers that may cause the job to fail.
  std::set<uint32_t> culprits() const;
  /// In mode geo, a meeting of trainers consists of four requests: an exchange
  /// of the remaining changes, a sum, an exchange without changes, and a sum.
  /// `isRequestOnly` returns true for the exchange without changes, and
  /// `endsMeeting` for the last of the four requests.
  bool isRequestOnly(uint64_t step) const;
  bool endsMeeting(uint64_t step) const;
  /// Returns true if a round of requests of this kind waits for all trainers.
  bool isRoundOfAll(MessageKind kind) const {
    return kind == MessageKind::Reduce ||
           (mode == ToyMode::Sync && isOfSteps(kind));
  }
  /// Returns the role of a request among the steps of its sender.
  StepFacts factsOf(uint32_t worker, const ToyRequest &request) const;
  const std::vector<MessageKind> &programOf(uint32_t worker) const {
    return worker == 0 ? program : workerProgram;
  }
  /// Returns the scenario as one line.
  std::string describe() const;
};

/// Generates a random scenario of mode sync or async.
Scenario scenarioOfSeed(uint64_t seed);
/// Generates a random scenario of mode `mode`.
Scenario scenarioOfSeed(uint64_t seed, ToyMode mode);

/// Returns the request of a sender to a server in step `step`. `previous` is
/// the last response of this server that the sender has read. The result only
/// depends on the arguments, as gradients of a trainer do.
ToyRequest toyRequestOf(const Scenario &scenario, uint32_t server,
                        uint32_t trainer, uint32_t worker, uint64_t step,
                        const ToyResponse &previous);

/// Returns a random number that is a function of its arguments.
uint64_t drawFor(uint64_t seed, uint32_t purpose, uint64_t number);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SCENARIO_H
