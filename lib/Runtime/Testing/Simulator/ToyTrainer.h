//===- ToyTrainer.h - A trainer that knows its gradients --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TESTING_SIMULATOR_TOYTRAINER_H
#define LIB_RUNTIME_TESTING_SIMULATOR_TOYTRAINER_H

#include "pdlrt/Protocol/ServerSession.h"
#include "pdlrt/Testing/Simulator/History.h"
#include "pdlrt/Testing/Simulator/Scenario.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// What trainers of a simulated job share. All of it outlives them.
struct ToyWorld {
  const Scenario &scenario;
  Clock &clock;
  Transport &network;
  History &history;
  /// How many servers have ended.
  uint32_t &endedServers;

  static std::string addressOf(uint32_t server) {
    return "s" + std::to_string(server);
  }
};

/// One start of a trainer: a sender for the process and one for each worker.
/// Each joins all servers and goes through its program, one step after the
/// other: it sends to all servers, and goes on when all have answered. A start
/// that finds requests of an earlier one at the servers asks them for the last
/// answer that all have, and sends again what came after. The process joins
/// before its workers, and leaves when they are done. It does nothing after its
/// destruction.
class ToyTrainer {
public:
  /// `start` counts the starts of its rank, from 1 on.
  ToyTrainer(const ToyWorld &in, uint32_t rank, uint64_t start);
  ~ToyTrainer();
  ToyTrainer(const ToyTrainer &) = delete;
  ToyTrainer &operator=(const ToyTrainer &) = delete;

  /// Tells the servers that it fails, and waits for no answer.
  void sayLastWords();
  /// It has left, or has given up and told the servers.
  bool isOver() const;
  /// The first server has let it in.
  bool hasJoined() const;
  /// It has begun to leave: a new start would not be let in.
  bool isLeaving() const;

private:
  class Sender;
  struct Shared;
  std::shared_ptr<Shared> shared;
  std::vector<std::shared_ptr<Sender>> senders;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_TOYTRAINER_H
