//===- RoundCoordinator.h - Requests that the application handles -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_ROUNDCOORDINATOR_H
#define LIB_RUNTIME_SERVER_ROUNDCOORDINATOR_H

#include "Server/OpenRound.h"
#include "Server/Outbox.h"
#include "Server/ProtocolState.h"
#include "Server/ServerMetrics.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Server/ServerCosts.h"
#include "pdlrt/Server/StepProgress.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Passes admitted requests to the application: one at a time, or in rounds
/// that it opens, closes and responds to as the policy says. Thread-safe;
/// concurrent calls wait for each other.
class RoundCoordinator {
public:
  /// `core` must outlive this object.
  explicit RoundCoordinator(ProtocolState &core)
      : core(core), requests{RoundRequests(core.options.trainers),
                             RoundRequests(core.options.trainers)},
        progress(core.options.trainers) {}

  /// Handles a request that `Admission` has admitted.
  void handle(Frame frame, Outbox &out);
  /// Runs a task between two requests (`ServerCore::betweenRequests`).
  Status runBetween(const ServerCore::BetweenTask &task, Outbox &out);
  /// Returns the histogram of the steps by which senders were ahead of the
  /// slowest sender when their responses were sent. `--max-staleness` bounds
  /// these numbers. Steps with responses to a whole round are not counted.
  StalenessCounts staleness();

private:
  /// Taken request whose response may be delayed.
  struct Held {
    Envelope head;
    /// True if the request carried gradients.
    bool endsStep;
  };
  /// Relation of a request to its round.
  struct Entry {
    Turn turn = Turn::InRound;
    /// True if the round was completed without this trainer, so that the
    /// response to its request is sent immediately.
    bool hasMissed = false;
  };

  /// Returns the policy of the application, which is open.
  const RoundPolicy &policy() const PDLRT_REQUIRES(core.applicationMutex) {
    return core.application->roundPolicy();
  }
  void handleAlone(Frame frame, const StepFacts &facts, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void handleInRound(Frame frame, const StepFacts &facts, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void handleOther(Frame frame, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  std::optional<Entry> enter(const Envelope &head, RoundIndex index,
                             Outbox &out) PDLRT_REQUIRES(core.applicationMutex);
  void noteProgress(const Envelope &head, const StepFacts &facts)
      PDLRT_REQUIRES(core.applicationMutex);
  void shareProgress() PDLRT_REQUIRES(core.applicationMutex);
  bool take(const Envelope &head, Message payload, Turn turn, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void closeIfComplete(RoundIndex index, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void endRound(RoundIndex index, MessageKind kind, bool isFull)
      PDLRT_REQUIRES(core.applicationMutex);
  void closeResponded(Outbox &out) PDLRT_REQUIRES(core.applicationMutex);
  void respond(const std::vector<Envelope> &heads, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void respondToHeld(Outbox &out) PDLRT_REQUIRES(core.applicationMutex);
  void countStaleness(const Envelope &head)
      PDLRT_REQUIRES(core.applicationMutex);
  void refuse(const Envelope &head, const std::string &why, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);

  ProtocolState &core;
  /// Requests of the open rounds, whose members are in `core.rounds`.
  std::array<RoundRequests, roundCount>
      requests PDLRT_GUARDED_BY(core.applicationMutex);
  StepProgress progress PDLRT_GUARDED_BY(core.applicationMutex);
  /// Histogram of staleness, created by the first response to a step outside of
  /// rounds.
  std::optional<Histogram> ahead PDLRT_GUARDED_BY(core.applicationMutex);
  std::vector<Held> held PDLRT_GUARDED_BY(core.applicationMutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_ROUNDCOORDINATOR_H
