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

/// The environment that all trainers of a simulated job share. The objects that
/// it refers to must outlive the trainers.
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

/// One incarnation of a trainer. It has a sender for the process and one for
/// each worker. Each sender joins all servers and executes its program step by
/// step: it sends a request to all servers, and continues when all have
/// responded. If the servers have requests of a previous incarnation, the
/// sender requests the last response that all servers have, and repeats the
/// requests after it. The process joins before its workers, and leaves after
/// them. After its destruction it does nothing.
class ToyTrainer {
public:
  /// `start`: number of this start of the rank. The first start is 1.
  ToyTrainer(const ToyWorld &in, uint32_t rank, uint64_t start);
  ~ToyTrainer();
  ToyTrainer(const ToyTrainer &) = delete;
  ToyTrainer &operator=(const ToyTrainer &) = delete;

  /// Reports the failure of the trainer to the servers, without waiting for
  /// responses.
  void sendLastMessages();
  /// Returns true if the trainer has left, or has reported its failure.
  bool isOver() const;
  /// Returns true if the first server has admitted the trainer.
  bool hasJoined() const;
  /// Returns true if it has started to leave. Servers then refuse a new
  /// incarnation.
  bool isLeaving() const;

private:
  class Sender;
  struct Shared;
  std::shared_ptr<Shared> shared;
  std::vector<std::shared_ptr<Sender>> senders;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TESTING_SIMULATOR_TOYTRAINER_H
