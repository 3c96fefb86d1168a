//===- StateServer.h - State that a server owns -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds a server's part of the state, and applies requests to it: in rounds or
// one by one, depending on the mode. docs/Protocol.md defines the payloads.
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

/// Values of --max-staleness, --quorum and --late-gradients, for modes that use
/// them.
struct StepBounds {
  /// Maximum number of steps that a sender may be ahead of the slowest sender;
  /// nullopt: no limit.
  std::optional<int64_t> staleness = std::nullopt;
  /// Number of trainers whose gradients suffice to close a round; nullopt: all.
  std::optional<uint32_t> quorum = std::nullopt;
  LateGradients late = LateGradients::Count;
};

/// Arguments for the creation of a server. The referenced objects must outlive
/// the server.
struct ServerSetup {
  /// Must have role pserver and must have passed `checkDescriptor`.
  const pdl_descriptor &descriptor;
  const Placement &placement;
  /// Handshake of the server, with rank (`serverRank`), trainers, seed and job.
  Handshake handshake;
  Scheduler &scheduler;
  SaveFolder saves = {};
  StepBounds bounds = {};
  /// Memory limit of tables, as the handshake reports it. The caller must set
  /// the limit itself (`Model::boundTables`).
  TableBound tableBound = {};
};

/// The application of a server: holds its part of the state and handles
/// requests. Only one call may be in progress at a time, unless noted.
class StateServer final : public ServerApplication {
public:
  ~StateServer() override;

  /// Returns this server's part of the state.
  Model &model();
  /// Returns the handshake of this server.
  const Handshake &handshake() const;
  /// Records that the run resumes from a checkpoint after `steps` steps. Call
  /// before any join.
  void setStartStep(int64_t steps);
  /// Sets the number of workers of each trainer in the handshake. It is 0 until
  /// the first trainer has joined, which provides it.
  void setWorkers(int64_t workers);
  /// Call if values were loaded that differ from the initial values, so that
  /// trainers which have copies of values get the loaded ones. Call before any
  /// join. Throws std::bad_alloc.
  void noteLoaded();
  /// Returns the object that writes the server's files of checkpoints.
  SaveService &saves();
  /// Information about the step that this server has applied last.
  struct LastStep {
    /// False if the gradients of a later step have arrived, and its norms have
    /// not. That step is not applied yet.
    bool isWhole = true;
    /// The sum of the weighted losses and the sum of the sample weights, by
    /// objective. Nullopt if the step had no gradients, or if sums are not
    /// stored.
    std::optional<std::vector<ObjectiveSums>> sums = std::nullopt;
  };
  /// Returns the information about the last step. Call only between requests.
  LastStep lastStep() const;
  /// Returns the number of steps that this process has applied to the state, if
  /// steps are rounds of all trainers; otherwise 0. Thread-safe.
  uint64_t stepsInState() const;
  /// Requests that trainers save after the current step; trainers without a
  /// folder of checkpoints ignore it. Returns false if servers of this mode
  /// cannot request it. Thread-safe.
  bool requestSave();
  /// Returns the number of steps after which some trainer has requested a save
  /// of all trainers (`StepEngine::requestSave`). Always 0 if their requests do
  /// not pass through servers. Thread-safe.
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

/// Creates a server for the mode of the descriptor, with initial values.
Expected<std::unique_ptr<StateServer>>
createStateServer(const ServerSetup &setup);

} // namespace pdlrt

#endif // PDLRT_SERVER_STATESERVER_H
