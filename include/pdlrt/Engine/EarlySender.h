//===- EarlySender.h - Sends gradients during their step --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_EARLYSENDER_H
#define PDLRT_ENGINE_EARLYSENDER_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Engine/EarlyGradients.h"
#include "pdlrt/Engine/Overlap.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerGroup.h"

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pdlrt {

/// Sends dense gradients of a step to their owners while the step is computed,
/// as parts of its exchange. Several gradients for one owner are collected
/// until they fill a message. An incomplete part is sent with the exchange.
/// `take` is thread-safe; all other functions are called by the thread that
/// drives the steps.
class EarlySender final : public EarlyGradients {
public:
  using Time = std::chrono::steady_clock::time_point;

  /// `layout` and `servers` must outlive the object. `now`: clock for
  /// measurements; must be thread-safe.
  EarlySender(const ExchangeLayout &layout, ServerGroup &servers,
              const OverlapOptions &options,
              std::function<Time()> now = std::chrono::steady_clock::now);

  bool beginStep() override;
  void take(int32_t update, const void *sum) noexcept override;
  void letGo() noexcept override { servers.dropParts(); }

  /// Ends the collection of gradients, because the step is computed. Returns an
  /// error if some gradients could not be sent; the step then cannot be
  /// exchanged.
  Status endCompute();
  /// Returns the position of a section that was sent early, for
  /// `ExchangeWriter::addPart`; null if it was not sent. Call after
  /// `endCompute`.
  const PartPlace *placeOf(int32_t server, int32_t channel) const {
    const std::optional<PartPlace> &place = owners[server].places[channel];
    return place ? &*place : nullptr;
  }
  /// Records that the step was exchanged. `contributed`: it had gradients;
  /// `wait`: seconds spent waiting for responses.
  void endStep(bool contributed, double wait);

  EarlyCosts costs() const { return metrics.costs(); }

private:
  /// Parts for one owner.
  struct Owner {
    /// Indexed by channel.
    std::vector<std::optional<PartPlace>> places;
    /// The part that is being filled, and its channels.
    Message bytes;
    std::vector<int32_t> channels;
    /// Number of closed parts.
    uint64_t parts = 0;
    /// Number of gradients in all parts.
    uint64_t placed = 0;
  };
  /// A closed part.
  struct Closed {
    size_t owner;
    uint64_t number;
    Message bytes;
  };
  /// Transfer times of parts. Callbacks that report the arrival of a part keep
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
  /// Indexed by update of the program; -1 for a table's update.
  std::vector<int32_t> channelOf;
  /// False if the program's dense gradients can never fill a part; then nothing
  /// is tried.
  const bool isUseful;
  OverlapTrial trial;
  const std::function<Time()> now;

  Time began;
  /// True if gradients of this step are sent early.
  bool isEarly = false;
  Mutex mutex;
  std::vector<Owner> owners;
  /// Measurements of this step.
  int64_t parts = 0, bytes = 0;
  double handing = 0, window = 0;
  Time firstLeft;
  /// The error if sending failed.
  std::exception_ptr failure;
  const std::shared_ptr<Flight> flight;
  EarlyMetrics metrics;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYSENDER_H
