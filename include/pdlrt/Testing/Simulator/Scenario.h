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

/// A trainer that dies.
struct ToyCrash {
  uint32_t trainer = 0;
  ClockTime when{0};
  /// Time from its death to its restart; negative: no restart.
  ClockTime back{0};
  /// True if its Leave message, which reports the failure, is in flight and may
  /// arrive after the restart.
  bool saysSo = false;
};

/// A trainer that is disconnected for a while: no message reaches or leaves it.
struct ToyCut {
  uint32_t trainer = 0;
  ClockTime when{0};
  ClockTime length{0};
};

/// A second start of a trainer, whether or not the first one is alive.
struct ToySecond {
  uint32_t trainer = 0;
  ClockTime when{0};
};

/// The mode of a job, which determines its rounds and waits.
enum class ToyMode {
  /// Steps are rounds of all trainers.
  Sync,
  /// Workers send separately.
  Async,
  /// The same, with a limit on the distance to the slowest worker.
  BoundedStaleness,
  /// Steps are rounds of the first trainers to arrive.
  Quorum,
  /// Each trainer has a copy, and sends its changes.
  Geo,
};

/// Returns the mode with this name; none if there is none.
std::optional<ToyMode> toyModeOf(std::string_view name);
/// Returns the names of all modes.
std::vector<std::string> toyModeNames();

/// The configuration of one simulated job and its network faults.
struct Scenario {
  uint64_t seed = 0;
  ToyMode mode = ToyMode::Sync;
  /// Parameters of bounded staleness, and of a quorum.
  int64_t staleness = 0;
  uint32_t quorum = 1;
  LateGradients late = LateGradients::Count;
  uint32_t servers = 1;
  uint32_t trainers = 1;
  /// 0: trainers send steps. Otherwise the number of workers of each trainer,
  /// which send separately.
  uint32_t workers = 0;
  /// The requests of worker 0, in order.
  std::vector<MessageKind> program;
  /// The requests of other workers.
  std::vector<MessageKind> workerProgram;
  ServerCoreOptions core;
  FaultRates faults;
  std::vector<ToyCrash> crashes;
  std::vector<ToyCut> cuts;
  std::vector<ToySecond> seconds;
  /// A trainer that fails with an error message instead of doing that step; -1:
  /// none.
  int failingTrainer = -1;
  uint64_t failingStep = 0;
  /// True if an additional sender sends requests with an outdated map epoch,
  /// and random bytes.
  bool hasGhost = false;

  /// Returns true if the job must end as if there had been no faults.
  bool succeeds() const;
  /// Returns the trainers that may end the job.
  std::set<uint32_t> culprits() const;
  /// Mode geo: trainers meet in four requests: an exchange of the remaining
  /// changes, a sum, an exchange that only requests, and a sum. `isRequestOnly`
  /// is true for the exchange that only requests, `endsMeeting` for the last of
  /// the four.
  bool isRequestOnly(uint64_t step) const;
  bool endsMeeting(uint64_t step) const;
  /// Returns true if a round of such requests waits for all trainers.
  bool isRoundOfAll(MessageKind kind) const {
    return kind == MessageKind::Reduce ||
           (mode == ToyMode::Sync && isOfSteps(kind));
  }
  /// Returns the role of a sender's request in its steps.
  StepFacts factsOf(uint32_t worker, const ToyRequest &request) const;
  const std::vector<MessageKind> &programOf(uint32_t worker) const {
    return worker == 0 ? program : workerProgram;
  }
  /// Returns the scenario as one line.
  std::string describe() const;
};

/// Generates a scenario of mode sync or async.
Scenario scenarioOfSeed(uint64_t seed);
/// Generates a scenario of this mode.
Scenario scenarioOfSeed(uint64_t seed, ToyMode mode);

/// Returns a sender's request to a server in a step, after it has read
/// `previous` from it. Always the same for the same arguments, like a trainer's
/// gradients.
ToyRequest toyRequestOf(const Scenario &scenario, uint32_t server,
                        uint32_t trainer, uint32_t worker, uint64_t step,
                        const ToyResponse &previous);

/// Returns a random number that is a function of its arguments.
uint64_t drawFor(uint64_t seed, uint32_t purpose, uint64_t number);

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_SCENARIO_H
