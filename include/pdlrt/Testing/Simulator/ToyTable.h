//===- ToyTable.h - Server application for simulations ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TESTING_SIMULATOR_TOYTABLE_H
#define PDLRT_TESTING_SIMULATOR_TOYTABLE_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Server/ServerApplication.h"
#include "pdlrt/Testing/Simulator/History.h"
#include "pdlrt/Testing/Simulator/Scenario.h"
#include "pdlrt/Testing/Simulator/Toy.h"
#include "pdlrt/Testing/Simulator/ToyCopies.h"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

/// The state of a server in a simulated job. It has counters by key, which
/// reveal lost or duplicated requests, and a dense block, which reveals the
/// order of additions. Records the requests that it takes. Sums the
/// contributions of a round as in mode sync: copies the first one, adds the
/// others, and skips absent ones.
class ToyTable final : public ServerApplication {
public:
  /// The arguments must outlive this object.
  ToyTable(const Scenario &within, uint32_t server, const Clock &by,
           History &into)
      : scenario(within), rank(server), clock(by), history(into),
        policy(within.mode == ToyMode::BoundedStaleness
                   ? createBoundedStaleness(within.staleness)
               : within.mode == ToyMode::Quorum
                   ? createQuorum(within.quorum, within.late)
                   : nullptr),
        news(within.trainers) {}

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) override;
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  Expected<StepFacts> check(const Envelope &request,
                            const Message &payload) override;
  const RoundPolicy &roundPolicy() const override {
    return policy                           ? *policy
           : scenario.mode == ToyMode::Sync ? roundsOfSteps()
                                            : roundsOfSums();
  }
  Expected<Message> handle(const Envelope &request, Message payload) override;
  Status take(const Envelope &request, Message payload, Turn turn) override;
  Status closeRound(MessageKind kind) override;
  Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) override;

  const ToyState &state() const { return values; }

private:
  /// Decodes a request, and records that it was taken.
  ToyRequest note(const Envelope &request, const Message &payload, Turn turn);
  ToyResponse read(const Envelope &request, const ToyRequest &asked) const;
  /// Records that a request is answered with `response`. Returns the payload of
  /// the response.
  Message tell(const Envelope &request, const ToyResponse &response);
  void finishDense(const ToyBlock &sum);

  const Scenario &scenario;
  const uint32_t rank;
  const Clock &clock;
  History &history;

  ToyState values;
  uint64_t rounds = 0;
  /// The sum of the contributions to a round.
  struct Sum {
    bool hasPart = false;
    ToyBlock dense{};
    std::map<int64_t, int64_t> counters;
  };
  /// `steps`: what trainers have added to the open round of steps. `sums`: what
  /// they have added to the open round that adds numbers (Reduce).
  Sum steps, sums;
  /// Last request of each (trainer, worker) that was taken.
  std::map<std::pair<uint32_t, uint32_t>, ToyRequest> requests;
  const std::unique_ptr<RoundPolicy> policy;
  /// Used in mode geo. `newsOf`: the response to the last exchange of each
  /// trainer.
  ToyNews news;
  std::map<uint32_t, ToyResponse> newsOf;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOYTABLE_H
