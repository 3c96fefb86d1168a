//===- ToyTable.h - A server of integers and four floats --------*- C++ -*-===//
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

#include <map>
#include <utility>
#include <vector>

namespace pdlrt {

/// A server's state in a simulated job: counters by key, which show what was
/// lost or doubled, and a dense block, which shows the order of sums. Writes
/// down what it takes. In a round, parts are summed as SEMANTICS of sync says:
/// the first one is copied, others are added, absent ones are not.
class ToyTable final : public ServerApplication {
public:
  /// All of these outlive it.
  ToyTable(const Scenario &within, uint32_t server, const Clock &by,
           History &into)
      : scenario(within), rank(server), clock(by), history(into),
        roundRequests(within.trainers) {}

  Expected<Message> greet(const Envelope &request,
                          const Message &payload) override;
  Expected<Message> join(const Envelope &request,
                         const Message &payload) override;
  Status check(const Envelope &request, const Message &payload) override;
  const RoundPolicy &roundPolicy() const override {
    return scenario.roundPolicy();
  }
  Expected<Message> handle(const Envelope &request, Message payload) override;
  void contribute(const Envelope &request, Message payload) override;
  Expected<std::vector<Message>> closeRound(MessageKind kind) override;

  const ToyState &state() const { return values; }

private:
  ToyRequest take(const Envelope &request, const Message &payload);
  ToyAnswer read(const Envelope &request, const ToyRequest &asked) const;
  void finishDense(const ToyBlock &sum);

  const Scenario &scenario;
  const uint32_t rank;
  const Clock &clock;
  History &history;

  ToyState values;
  uint64_t rounds = 0;
  bool hasSum = false;
  ToyBlock sum{};
  std::map<int64_t, int64_t> roundCounters;
  std::vector<std::pair<Envelope, ToyRequest>> roundRequests;
};

} // namespace pdlrt

#endif // PDLRT_TESTING_SIMULATOR_TOYTABLE_H
