//===- ServerClient.h - A trainer's state on servers ------------*- C++ -*-===//
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

/// Turns what a trainer asks into requests to all servers of its job, and their
/// answers into mirrors and rows. After a join.
class ServerClient final : public RemoteState {
public:
  /// All outlive the client. `mirror`: the trainer's copy of the parameters.
  /// `program`: index of the descriptor's program that is trained.
  static Expected<std::unique_ptr<ServerClient>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Model &mirror);

  /// From now on each answer to a step has all values: a trainer that died
  /// begins with what servers have answered last.
  void askForAllValues() { asksForAllValues = true; }
  /// How keys and gradients travel from now on; before the first step.
  void setPacking(KeyPacking ofKeys, GradientPacking ofGradients) {
    keyPacking = ofKeys;
    sumWriter.setPacking(ofGradients);
  }
  /// Dense gradients may leave early from now on; before the first step, in
  /// modes that allow it (`Mode::gradientsMayLeaveEarly`).
  void sendEarly(const OverlapOptions &options) {
    earlySender =
        std::make_unique<EarlySender>(trained->layout, servers, options);
  }
  EarlyGradients *early() override { return earlySender.get(); }
  /// From now on this trainer has all parameters, as all others have, and
  /// applies their rules; before the first step.
  void applyRules(std::unique_ptr<OwnRules> rules) {
    ownRules = std::move(rules);
  }
  /// Forgets what rounding took away from gradients so far.
  void forgetRemainders() { sumWriter.forgetRemainders(); }
  /// Pulls go over `group`, which outlives the client, from now on.
  void pullOver(ServerGroup &group) { pullServers = &group; }

  Expected<RoundOutcome> exchange(const RoundOffer &offer) override;
  Status beginPull(const RoundOffer &offer) override;
  Expected<RoundOutcome> endPull(const RoundOffer &offer) override;
  Status pull(const pdl_program &program, bool allValues,
              std::span<const RowRequest> requests,
              std::span<uint8_t *const> unknown) override;
  void giveUp() override { servers.giveUp(); }
  ExchangeCosts costsOf(const pdl_program &program) const override;

private:
  /// What is sent of one program, and whose keys belong to which server.
  struct Traffic {
    explicit Traffic(ExchangeLayout layout) : layout(std::move(layout)) {}
    ExchangeLayout layout;
    /// By lookup of the program, of the step that is pulled next, and of the
    /// step whose gradients are pushed next.
    std::vector<KeyRouter> next, current;
    ExchangeCosts costs;
  };

  ServerClient(const pdl_descriptor &descriptor, const Placement &placement,
               ServerGroup &servers, Model &mirror)
      : descriptor(descriptor), placement(placement), servers(servers),
        pullServers(&servers), mirror(mirror), clips(descriptor) {}

  Expected<Traffic *> trafficOf(int32_t program);
  Expected<RoundOutcome> exchangeRound(Traffic &traffic, RoundOffer offer);
  Status pullRows(Traffic &traffic, bool allValues,
                  std::span<const RowRequest> requests,
                  std::span<uint8_t *const> unknown);
  void route(Traffic &traffic, std::span<const RowRequest> requests);
  std::vector<Message> payloadsOf(Traffic &traffic, const ExchangeHead &head,
                                  const Contribution *sum,
                                  std::span<const double> norms, bool withKeys);
  Expected<std::vector<ExchangeMessage>> send(MessageKind kind,
                                              Traffic &traffic,
                                              std::vector<Message> payloads,
                                              ExchangeForm form);
  /// The same in two halves.
  void begin(MessageKind kind, Traffic &traffic, std::vector<Message> payloads);
  Expected<std::vector<ExchangeMessage>>
  await(MessageKind kind, Traffic &traffic, ExchangeForm form);
  ServerGroup &groupOf(MessageKind kind) const {
    return kind == MessageKind::Pull ? *pullServers : servers;
  }
  /// The joint squared norm of each clip that the program sends, by channel.
  Expected<std::vector<double>>
  jointNorms(const Traffic &traffic, std::span<const ExchangeMessage> sums,
             std::span<const ObjectiveSums> objectives);
  Status applyOwnRules(const Traffic &traffic,
                       std::span<const ObjectiveSums> objectives,
                       std::span<const double> norms);
  void takeState(Traffic &traffic, std::span<const RowRequest> requests,
                 std::span<const ExchangeMessage> answers);

  const pdl_descriptor &descriptor;
  const Placement &placement;
  ServerGroup &servers;
  ServerGroup *pullServers;
  Model &mirror;
  bool asksForAllValues = false;
  KeyPacking keyPacking = KeyPacking::None;
  SumWriter sumWriter;
  /// Null: gradients leave with their exchange.
  std::unique_ptr<EarlySender> earlySender;
  OwnClips clips;
  /// Null: owners apply all rules.
  std::unique_ptr<OwnRules> ownRules;
  /// The program that is trained.
  Traffic *trained = nullptr;
  Stopwatch stopwatch;
  Stopwatch::Time pullBegan;
  /// By index of the program.
  std::map<int32_t, std::unique_ptr<Traffic>> traffics;
};

/// Replaces the numbers by their sums over all trainers of the job, added in
/// the order of ranks. All trainers give as many.
Status sumOverTrainers(ServerGroup &servers, std::span<int64_t> counts,
                       std::span<double> sums);

} // namespace pdlrt

#endif // PDLRT_ENGINE_SERVERCLIENT_H
