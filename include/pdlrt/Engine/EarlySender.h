//===- EarlySender.h - Gradients leave before their step --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_EARLYSENDER_H
#define PDLRT_ENGINE_EARLYSENDER_H

#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/Overlap.h"
#include "pdlrt/Engine/StepCosts.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerGroup.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pdlrt {

/// Sends dense gradients of a step to their owners while it is computed, in
/// parts of its exchange: what one owner has of several gradients goes together
/// until it is enough for a message. What has not filled one goes with the
/// exchange. `take` by any thread; all else by the one that drives the steps.
class EarlySender final : public EarlyGradients {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// Both outlive it. `now`: tells how long things take; by any thread.
  EarlySender(const ExchangeLayout &layout, ServerGroup &servers,
              const OverlapOptions &options,
              std::function<Time()> now = std::chrono::steady_clock::now);

  bool beginStep() override;
  void take(int32_t update, const void *sum) noexcept override;
  void letGo() noexcept override { servers.dropParts(); }

  /// The step is computed: nothing more is taken of it. An error where not all
  /// that was taken could be sent: then the step cannot be exchanged.
  Status endCompute();
  /// Where that section went, for `ExchangeWriter::addPart`; null: it has not
  /// left. After `endCompute`.
  const PartPlace *placeOf(int32_t server, int32_t channel) const {
    const std::optional<PartPlace> &place = owners[server].places[channel];
    return place ? &*place : nullptr;
  }
  /// The step was exchanged. `contributed`: it brought gradients; `wait`:
  /// seconds of waiting for answers.
  void endStep(bool contributed, double wait);

  const EarlyCosts &costs() const { return ownCosts; }

private:
  /// What one owner gets.
  struct Owner {
    /// By channel.
    std::vector<std::optional<PartPlace>> places;
    /// The part that is being filled, and the channels in it.
    Message bytes;
    std::vector<int32_t> channels;
    /// Parts that are closed.
    uint64_t parts = 0;
    /// Gradients in all parts.
    uint64_t placed = 0;
  };
  /// A part that was closed.
  struct Closed {
    size_t owner;
    uint64_t number;
    Message bytes;
  };
  /// When parts are on their way; callbacks that say that one has arrived keep
  /// it alive.
  class Flight;

  bool mayFill() const;
  void forgetStep();
  std::vector<Closed> fill(int32_t channel, const void *sum);
  void send(int32_t channel, const void *sum);
  bool isOn() const;
  uint64_t stepNumber() const;

  const ExchangeLayout &layout;
  ServerGroup &servers;
  const OverlapOptions options;
  /// By update of the program; -1: a table's.
  std::vector<int32_t> channelOf;
  /// Of a program whose dense gradients never fill a part: nothing is tried.
  const bool isUseful;
  OverlapTrial trial;
  const std::function<Time()> now;

  Time began;
  /// Whether gradients of this step leave early.
  bool isEarly = false;
  std::mutex mutex;
  std::vector<Owner> owners;
  /// Of this step.
  int64_t parts = 0, bytes = 0;
  double handing = 0, window = 0;
  Time firstLeft;
  /// Why something could not be sent.
  std::exception_ptr failure;
  const std::shared_ptr<Flight> flight;
  EarlyCosts ownCosts;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYSENDER_H
