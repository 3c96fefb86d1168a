//===- StateServer.h - State that a server owns -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A server's part of a program's state, and the changes that requests make to
// it: in rounds or one by one, depending on the mode. docs/Protocol.md defines
// the payloads.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_STATESERVER_H
#define PDLRT_SERVER_STATESERVER_H

#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/SaveFolder.h"
#include "pdlrt/Server/SaveService.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Server/ServerCosts.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Sum/RunningSum.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pdlrt {

/// Waiting rules from the flags, for modes that use them.
struct StepBounds {
  /// Maximum number of steps that a sender may be ahead of the slowest; none:
  /// no bound.
  std::optional<int64_t> staleness = std::nullopt;
  /// Number of trainers that close a round; none: all.
  std::optional<uint32_t> quorum = std::nullopt;
  LateGradients late = LateGradients::Count;
};

/// Inputs of a server. References must outlive it.
struct ServerSetup {
  /// Has role pserver and has passed `checkDescriptor`.
  const pdl_descriptor &descriptor;
  const Placement &placement;
  /// Its own handshake, with rank (`serverRank`), trainers, seed and job.
  Handshake handshake;
  Scheduler &scheduler;
  SaveFolder saves = {};
  StepBounds bounds = {};
  /// Reported in the handshake; the caller limits the tables.
  TableBound tableBound = {};
};

/// A server's part of a program's state: passes each request to what handles
/// it. Calls come one at a time, unless noted.
class StateServer final : public ServerApplication {
public:
  ~StateServer() override;

  /// Returns this server's part of the state.
  Model &model();
  /// Returns the server's own handshake.
  const Handshake &handshake() const;
  /// Records that the run resumes from a checkpoint of that many steps. Call
  /// before any join.
  void setStartStep(int64_t steps);
  /// Sets the number of workers of each trainer, which was 0 before. The first
  /// trainer that joins provides it.
  void setWorkers(int64_t workers);
  /// Called if loaded values differ from the initial ones and trainers that
  /// hold values do not know them. Call before any join; throws std::bad_alloc.
  void noteLoaded();
  /// Returns what writes the server's part of checkpoints.
  SaveService &saves();
  /// Information on this server about the step that was applied last.
  struct LastStep {
    /// True if no later step has been applied in part.
    bool isWhole = true;
    /// Sums by objective; none: the step had no gradients, or they are not
    /// stored.
    std::optional<std::vector<ObjectiveSums>> sums = std::nullopt;
  };
  /// Returns that information. Call only between requests.
  LastStep lastStep() const;
  /// Returns the number of steps in the state, if steps are rounds of all
  /// trainers. Thread-safe.
  uint64_t stepsInState() const;
  /// Makes trainers save after the current step, unless they have no folder for
  /// it. Returns false if servers of this mode cannot request that.
  /// Thread-safe.
  bool requestSave();
  /// Returns the number of steps after which trainers have requested a save of
  /// each other. Always 0 if their requests do not pass through servers.
  /// Thread-safe.
  int64_t saveRequestsOfTrainers() const;
  /// Returns the costs of steps so far.
  ServerCosts costs() const;

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) override;
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  bool isOfJob(const Message &handshake) const override;
  bool mayBeOfJob(const Message &handshake) const override;
  Expected<Message> respondToVisit(const Message &payload) override;
  Expected<Message> respondToRead(const Message &payload) override;
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override;
  const RoundPolicy &roundPolicy() const override;
  Expected<Message> handle(const Envelope &request, Message payload) override;
  Status take(const Envelope &request, Message payload, Turn turn) override;
  Status closeRound(MessageKind kind) override;
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override;

private:
  friend Expected<std::unique_ptr<StateServer>>
  createStateServer(const ServerSetup &setup);
  explicit StateServer(const ServerSetup &setup);
  Expected<StepFacts> checkStep(const Envelope &request,
                                const Message &payload);
  Expected<ExchangeMessage>
  decodeRequest(const Message &payload, const ExchangeLayout &layout,
                const std::vector<bool> &scattered) const;

  struct Parts;
  const std::unique_ptr<Parts> parts;
};

/// Creates the server of the descriptor's mode, with initial values.
Expected<std::unique_ptr<StateServer>>
createStateServer(const ServerSetup &setup);

} // namespace pdlrt

#endif // PDLRT_SERVER_STATESERVER_H
