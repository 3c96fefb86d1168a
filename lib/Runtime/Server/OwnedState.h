//===- OwnedState.h - State that a server owns ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_OWNEDSTATE_H
#define LIB_RUNTIME_SERVER_OWNEDSTATE_H

#include "Server/ServerMetrics.h"
#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Handshake.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Server/StateServer.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/RunningSum.h"

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace pdlrt {

/// The state that a server owns, with the objects that work on it. Not
/// thread-safe.
struct OwnedState {
  explicit OwnedState(const ServerSetup &setup);

  /// Prepares the layouts and updaters of all programs. Returns an error if the
  /// channels of a program are not valid.
  Status prepare();

  int32_t rank() const { return int32_t(handshake.serverRank); }
  /// Returns the server's name in messages: "server 1".
  std::string name() const { return placement.nameOf(rank()); }
  uint32_t trainers() const { return uint32_t(handshake.trainers); }
  /// Returns the error of a server that has run out of memory. `did`: what it
  /// did then, for the message.
  Status outOfMemory(const std::bad_alloc &error, const std::string &did) const;
  /// Completes the sum of a step's gradients, and passes it to the updater of
  /// the program if it is to be applied. Returns an error if a gradient is not
  /// finite. Throws std::bad_alloc.
  Expected<PartialSum> closeSum(RunningSum &sum, int32_t program);

  const pdl_descriptor &descriptor;
  const Placement &placement;
  Scheduler &scheduler;
  /// Handshake of this server.
  Handshake handshake;
  Model model;
  BufferPool pool;
  /// Indexed by program of the descriptor.
  std::vector<ExchangeLayout> layouts;
  std::vector<std::vector<GradientBlock>> blocks;
  std::vector<std::unique_ptr<Updater>> updaters;
  /// Metrics of steps. The stopwatch restarts with each request.
  ServerMetrics metrics;
  Stopwatch stopwatch;
};

/// Returns the index of the program's update of a symbol; -1 if there is none.
int32_t updateOf(const ExchangeLayout &layout, int32_t symbol);

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_OWNEDSTATE_H
