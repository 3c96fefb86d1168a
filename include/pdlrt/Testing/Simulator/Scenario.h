//===- Scenario.h - What a seed stands for ----------------------*- C++ -*-===//
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

/// A trainer that dies.
struct ToyCrash {
  uint32_t trainer = 0;
  ClockTime when{0};
  /// How long after its death a new start comes; negative: never.
  ClockTime back{0};
  /// Its last words, that it failed, are on their way and may come after the
  /// new start.
  bool saysSo = false;
};

/// A trainer that no message reaches or leaves for a while.
struct ToyCut {
  uint32_t trainer = 0;
  ClockTime when{0};
  ClockTime length{0};
};

/// A second start of a trainer that begins whether or not the first one lives.
struct ToySecond {
  uint32_t trainer = 0;
  ClockTime when{0};
};

/// Whose rounds, and whose waiting, a job has.
enum class ToyMode {
  /// Steps are rounds of all trainers.
  Sync,
  /// Workers send by themselves.
  Async,
  /// The same, and nobody is far ahead of the slowest.
  BoundedStaleness,
  /// Steps are rounds of those that come first.
  Quorum,
  /// Each trainer has a copy, and sends what it has changed.
  Geo,
};

/// The mode of that name; none if there is none.
std::optional<ToyMode> toyModeOf(std::string_view name);
/// The names of all modes.
std::vector<std::string> toyModeNames();

/// Who does what in one simulated job, and how bad the network is.
struct Scenario {
  uint64_t seed = 0;
  ToyMode mode = ToyMode::Sync;
  /// Of bounded staleness; of a quorum.
  int64_t staleness = 0;
  uint32_t quorum = 1;
  LateGradients late = LateGradients::Count;
  uint32_t servers = 1;
  uint32_t trainers = 1;
  /// 0: trainers send steps. Otherwise each trainer has that many workers which
  /// send by themselves.
  uint32_t workers = 0;
  /// What worker 0 sends, one after the other.
  std::vector<MessageKind> program;
  /// What other workers send.
  std::vector<MessageKind> workerProgram;
  ServerCoreOptions core;
  FaultRates faults;
  std::vector<ToyCrash> crashes;
  std::vector<ToyCut> cuts;
  std::vector<ToySecond> seconds;
  /// A trainer that gives up with a sentence instead of that step; -1: none.
  int failingTrainer = -1;
  uint64_t failingStep = 0;
  /// Somebody sends requests with the epoch of an earlier map, and noise.
  bool hasGhost = false;

  /// Whether the job must come to its end as if nothing had happened.
  bool succeeds() const;
  /// The trainers that may end it.
  std::set<uint32_t> culprits() const;
  /// Of mode geo: trainers meet in an exchange of what is left, a sum, an
  /// exchange that only asks, and a sum. Whether that step is the exchange
  /// which only asks; whether it is the last of the four.
  bool onlyAsks(uint64_t step) const;
  bool endsMeeting(uint64_t step) const;
  /// Whether a round of such requests waits for all trainers.
  bool isRoundOfAll(MessageKind kind) const {
    return kind == MessageKind::Reduce ||
           (mode == ToyMode::Sync && isOfSteps(kind));
  }
  /// What a request of a sender is to its steps.
  StepFacts factsOf(uint32_t worker, const ToyRequest &request) const;
  const std::vector<MessageKind> &programOf(uint32_t worker) const {
    return worker == 0 ? program : workerProgram;
  }
  /// One line.
  std::string describe() const;
};

/// Draws a scenario: of mode sync or async.
Scenario scenarioOfSeed(uint64_t seed);
/// Draws one of that mode.
Scenario scenarioOfSeed(uint64_t seed, ToyMode mode);

/// What a sender gives to a server in a step, having read `previous` from it:
/// always the same, as a trainer's gradients are.
ToyRequest toyRequestOf(const Scenario &scenario, uint32_t server,
                        uint32_t trainer, uint32_t worker, uint64_t step,
                        const ToyAnswer &previous);

/// Draws without state: a function of the seed and of what it is for.
uint64_t drawFor(uint64_t seed, uint32_t purpose, uint64_t number);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SCENARIO_H
