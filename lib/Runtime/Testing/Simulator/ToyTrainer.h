//===- ToyTrainer.h - Trainer for simulations -------------------*- C++ -*-===//
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

/// The environment that the trainers of a simulated job share. It must outlive
/// them.
struct ToyWorld {
  const Scenario &scenario;
  Clock &clock;
  Transport &network;
  History &history;
  /// Number of servers that have ended.
  uint32_t &endedServers;

  static std::string addressOf(uint32_t server) {
    return "s" + std::to_string(server);
  }
};

/// One incarnation of a trainer: a sender for the process and one for each
/// worker. Each sender joins all servers and executes its program step by step:
/// it sends a request to all servers, and continues when all have answered. If
/// the servers have requests of a previous incarnation, it asks them for the
/// last response that all of them have, and repeats the later requests. The
/// process joins before its workers, and leaves when they have finished. It
/// does nothing after its destruction.
class ToyTrainer {
public:
  /// `start` counts the starts of its rank, from 1.
  ToyTrainer(const ToyWorld &in, uint32_t rank, uint64_t start);
  ~ToyTrainer();
  ToyTrainer(const ToyTrainer &) = delete;
  ToyTrainer &operator=(const ToyTrainer &) = delete;

  /// Reports its failure to the servers, and waits for no response.
  void sendLastMessages();
  /// Returns true if it has left, or has given up and reported it.
  bool isOver() const;
  /// Returns true if the first server has accepted it.
  bool hasJoined() const;
  /// Returns true if it has started to leave: a new incarnation would be
  /// rejected.
  bool isLeaving() const;

private:
  class Sender;
  struct Shared;
  std::shared_ptr<Shared> shared;
  std::vector<std::shared_ptr<Sender>> senders;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_TOYTRAINER_H
