//===- ServerClient.h - A trainer's client of the servers -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_SERVERCLIENT_H
#define PDLRT_ENGINE_SERVERCLIENT_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/EarlySender.h"
#include "pdlrt/Engine/OwnClips.h"
#include "pdlrt/Engine/OwnRules.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Engine/SumWriter.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerGroup.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// RemoteState that sends requests to all servers of the job. It writes their
/// responses to the trainer's copy of the parameters and to the rows of
/// requests. Use after the trainer has joined the job.
class ServerClient final : public RemoteState {
public:
  /// Creates a client for the trained program, which has index `program` in the
  /// descriptor. `mirror` has the trainer's copy of the parameters. The
  /// referenced objects must outlive the client.
  static Expected<std::unique_ptr<ServerClient>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Model &mirror);

  /// Makes servers send all values of parameters with each response from now
  /// on. Needed if the trainer may be restarted, because a restarted trainer
  /// begins with the servers' last response.
  void requestAllValues() { requestsAllValues = true; }
  /// Sets the encoding of keys and gradients in messages. Call before the first
  /// step.
  void setPacking(KeyPacking ofKeys, GradientPacking ofGradients) {
    keyPacking = ofKeys;
    sumWriter.setPacking(ofGradients);
  }
  /// Allows dense gradients to be sent before the end of their step
  /// (EarlySender.h). Call before the first step, and only in modes with
  /// `Mode::gradientsMayLeaveEarly`.
  void sendEarly(const OverlapOptions &options) {
    earlySender =
        std::make_unique<EarlySender>(trained->layout, servers, options);
  }
  EarlyGradients *early() override { return earlySender.get(); }
  /// Makes this trainer apply the optimizer rules of parameters itself
  /// (OwnRules.h). All trainers of the job must do so. Call before the first
  /// step.
  void applyRules(std::unique_ptr<OwnRules> rules) {
    ownRules = std::move(rules);
  }
  /// Discards the rounding errors of quantized gradients (GradientPacker.h).
  void forgetRemainders() { sumWriter.forgetRemainders(); }
  /// Makes `pull` send its requests through `group`, which must outlive the
  /// client.
  void pullOver(ServerGroup &group) { pullServers = &group; }

  Expected<RoundOutcome> exchange(const RoundRequest &roundRequest) override;
  Status beginPull(const RoundRequest &roundRequest) override;
  Expected<RoundOutcome> endPull(const RoundRequest &roundRequest) override;
  Status pull(const pdl_program &program, bool allValues,
              std::span<const RowRequest> requests,
              std::span<uint8_t *const> unknown) override;
  void giveUp() override { servers.giveUp(); }
  ExchangeCosts costsOf(const pdl_program &program) const override;

private:
  /// State of the messages of one program.
  struct Traffic {
    Traffic(ExchangeLayout ofProgram, const Placement &placement)
        : layout(std::move(ofProgram)), metrics(layout.program(), placement),
          background(layout.program()) {}
    ExchangeCosts costs() const;
    ExchangeLayout layout;
    /// Assignment of keys to servers, by lookup of the program. `next`: keys
    /// that the next request pulls. `current`: keys of the gradients that the
    /// next request pushes.
    std::vector<KeyRouter> next, current;
    ExchangeMetrics metrics;
    BackgroundMetrics background;
  };

  ServerClient(const pdl_descriptor &descriptor, const Placement &placement,
               ServerGroup &servers, Model &mirror)
      : descriptor(descriptor), placement(placement), servers(servers),
        pullServers(&servers), mirror(mirror), clips(descriptor) {}

  Expected<Traffic *> trafficOf(int32_t program);
  Expected<RoundOutcome> exchangeRound(Traffic &traffic,
                                       RoundRequest roundRequest);
  Status pullRows(Traffic &traffic, bool allValues,
                  std::span<const RowRequest> requests,
                  std::span<uint8_t *const> unknown);
  void route(Traffic &traffic, std::span<const RowRequest> requests);
  std::vector<Message> payloadsOf(Traffic &traffic, const ExchangeHead &head,
                                  const PartialSum *sum,
                                  std::span<const double> norms, bool withKeys);
  Expected<std::vector<ExchangeMessage>> send(MessageKind kind,
                                              Traffic &traffic,
                                              std::vector<Message> payloads,
                                              ExchangeForm form);
  /// `begin` sends the requests, and `await` waits for the responses. `send`
  /// does both.
  void begin(MessageKind kind, Traffic &traffic, std::vector<Message> payloads);
  Expected<std::vector<ExchangeMessage>>
  await(MessageKind kind, Traffic &traffic, ExchangeForm form);
  ServerGroup &groupOf(MessageKind kind) const {
    return kind == MessageKind::Pull ? *pullServers : servers;
  }
  /// Returns the joint squared norm of each clip over all servers, by channel
  /// of the program.
  Expected<std::vector<double>>
  jointNorms(const Traffic &traffic, std::span<const ExchangeMessage> sums,
             std::span<const ObjectiveSums> objectives);
  Status applyOwnRules(const Traffic &traffic,
                       std::span<const ObjectiveSums> objectives,
                       std::span<const double> norms);
  void takeState(Traffic &traffic, std::span<const RowRequest> requests,
                 std::span<const ExchangeMessage> responses);

  const pdl_descriptor &descriptor;
  const Placement &placement;
  ServerGroup &servers;
  ServerGroup *pullServers;
  Model &mirror;
  bool requestsAllValues = false;
  KeyPacking keyPacking = KeyPacking::None;
  SumWriter sumWriter;
  /// Set by `sendEarly`; null: gradients are sent with their exchange.
  std::unique_ptr<EarlySender> earlySender;
  OwnClips clips;
  /// Set by `applyRules`; null: servers apply all optimizer rules.
  std::unique_ptr<OwnRules> ownRules;
  /// The program that is trained.
  Traffic *trained = nullptr;
  Stopwatch stopwatch;
  Stopwatch::Time pullBegan;
  /// State of each program that was used so far, by index of the program.
  std::map<int32_t, std::unique_ptr<Traffic>> traffics;
};

/// Replaces each number in `counts` and `sums` by its sum over all trainers of
/// the job, added in the order of ranks. All trainers must pass the same number
/// of elements.
Status sumOverTrainers(ServerGroup &servers, std::span<int64_t> counts,
                       std::span<double> sums);

} // namespace pdlrt

#endif // PDLRT_ENGINE_SERVERCLIENT_H
